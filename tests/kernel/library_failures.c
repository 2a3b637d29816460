/*
 * libsbx on this kernel: commands that cannot be, and what is said of them.
 */
#include "tests/kernel/library.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What each wrong number is called. */
static void
test_numbers(struct stage *stage, struct sbx_sandbox *sandbox)
{
	static const int numbers[] = { -1, 256, 257 };
	char name[] = "true";
	char *argv[] = { name, NULL };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sbx_descriptor descriptor = { 1, numbers[i] };
		struct sbx_command command = { .size = sizeof command,
			.argv = argv,
			.descriptors = &descriptor,
			.descriptor_count = 1 };
		struct sbx_error error = { .text = "" };

		tap_ok(&stage->tap,
		    sbx_spawn(sandbox, &command, &error) == -1 &&
			strstr(error.text, "between 0 and 255") != NULL,
		    "the number %d: %s", numbers[i], error.text);
	}
}

/* The text is what is said, which may begin with where the test is. */
static bool
is_said(const char *text, const char *says)
{
	const char *at = strstr(text, says);

	return at != NULL && at[strlen(says)] == '\0' &&
	    (at == text || strncmp(says, "/workspace", 10) == 0);
}

static void
fails(struct stage *stage, struct sbx_sandbox *sandbox, const char *name,
    const struct sbx_command *command, int kind, int code, const char *says)
{
	int before = open_descriptors(), pidfd;
	struct sbx_error error = { .kind = SBX_ERROR_NONE };
	bool held;

	errno = EDOM;
	pidfd = sbx_spawn(sandbox, command, &error);
	held = pidfd == -1 && errno == EDOM && error.kind == kind &&
	    error.code == code && is_said(error.text, says) &&
	    open_descriptors() == before &&
	    waitpid(-1, NULL, WNOHANG | __WALL) < 0;
	tap_ok(&stage->tap, held, "fails: %s: %d, %d: %s", name, error.kind,
	    error.code, error.text);
	tap_ok(&stage->tap, sbx_spawn(sandbox, command, NULL) == -1,
	    "fails: %s: without an error to fill", name);
}

#define NO_DIRECTORY \
	"the sandbox does not have this directory: No such file or directory"
#define NOT_IN_VIEW \
	"the sandbox does not have this file, so that it cannot be opened " \
	"for reading alone; a pipe will do: No such file or directory"
#define A_DIRECTORY \
	"a directory, by which the command would reach what is below it"
#define BY_PATH "opened with O_PATH, to be reached and not to be read"
#define TO_BE_READ \
	"a file that is open for reading alone, which the command could open " \
	"again for writing; standard input or a pipe will do"

static void
test_arguments(struct stage *stage, struct sbx_sandbox *sandbox)
{
	static const char version[] =
	    "the command is of another version of the library";
	char name[64] = "true";
	char *argv[] = { name, NULL }, *none[] = { NULL };
	struct {
		struct sbx_command command;
		char more;
	} newer;
	struct sbx_command good = { .size = sizeof good, .argv = argv },
			   command;
	int tree = -1;

	fails(stage, sandbox, "no command", NULL, SBX_ERROR_ARGUMENT, 0,
	    version);
	fails(stage, NULL, "no sandbox", &good, SBX_ERROR_ARGUMENT, 0,
	    "there is no sandbox");
	command = good;
	command.size = 8;
	fails(stage, sandbox, "an older structure", &command,
	    SBX_ERROR_ARGUMENT, 0, version);
	command.size = sizeof command - 1;
	fails(stage, sandbox, "one that is a byte shorter", &command,
	    SBX_ERROR_ARGUMENT, 0, version);
	memset(&newer, 0, sizeof newer);
	newer.command = good;
	newer.command.size = sizeof newer;
	newer.more = 1;
	fails(stage, sandbox, "a field that this library does not know",
	    &newer.command, SBX_ERROR_ARGUMENT, 0, version);
	command = good;
	command.argv = NULL;
	fails(stage, sandbox, "no argv", &command, SBX_ERROR_ARGUMENT, 0,
	    "there is no command");
	command.argv = none;
	fails(stage, sandbox, "an empty argv", &command, SBX_ERROR_ARGUMENT, 0,
	    "there is no command");
	command = good;
	command.flags = SBX_EXPLAIN << 1;
	fails(stage, sandbox, "a flag", &command, SBX_ERROR_ARGUMENT, 0,
	    "an unknown flag");
	command = good;
	command.directory = "nonexistent";
	fails(stage, sandbox, "a directory that is not there", &command,
	    SBX_ERROR_DIRECTORY, ENOENT,
	    "/workspace/nonexistent: " NO_DIRECTORY);
	command.tree = &tree;
	fails(stage, sandbox, "the same, with a mark for its processes",
	    &command, SBX_ERROR_DIRECTORY, ENOENT,
	    "/workspace/nonexistent: " NO_DIRECTORY);
	command = good;
	command.directory = "/root/../var/lib/nonexistent";
	fails(stage, sandbox, "a directory outside", &command,
	    SBX_ERROR_DIRECTORY, ENOENT,
	    "/root/../var/lib/nonexistent: " NO_DIRECTORY);
}

/* Of several descriptors, the one that is wrong is named. */
static void
test_wrong_descriptors(struct stage *stage, struct sbx_sandbox *sandbox)
{
	static const struct {
		const char *what;
		enum {
			OUTPUT,
			CLOSED,
			DIRECTORY,
			PATH,
			READ,
			OUTSIDE,
			BOTH
		} is;
		int to, kind, code;
		const char *says;
	} cases[] = {
		{ "a number above 255", OUTPUT, 256, SBX_ERROR_ARGUMENT, 0,
		    "descriptors: the command's number is not between 0 and "
		    "255" },
		{ "one that another has", OUTPUT, 7, SBX_ERROR_ARGUMENT, 0,
		    "descriptors: two descriptors get one number" },
		{ "a closed descriptor", CLOSED, 3, SBX_ERROR_ARGUMENT, 0,
		    "descriptors: this descriptor is not open" },
		{ "a directory as the last one", DIRECTORY, 255,
		    SBX_ERROR_DESCRIPTOR, 0, "descriptor 255: " A_DIRECTORY },
		{ "a directory as the first one", DIRECTORY, 3,
		    SBX_ERROR_DESCRIPTOR, 0, "descriptor 003: " A_DIRECTORY },
		{ "a directory as standard input", DIRECTORY, 0,
		    SBX_ERROR_DESCRIPTOR, 0, "standard input: " A_DIRECTORY },
		{ "a directory as standard output", DIRECTORY, 1,
		    SBX_ERROR_DESCRIPTOR, 0, "standard output: " A_DIRECTORY },
		{ "a directory as standard error", DIRECTORY, 2,
		    SBX_ERROR_DESCRIPTOR, 0, "standard error: " A_DIRECTORY },
		{ "a path as a descriptor", PATH, 64, SBX_ERROR_DESCRIPTOR, 0,
		    "descriptor 064: " BY_PATH },
		{ "a path as standard input", PATH, 0, SBX_ERROR_DESCRIPTOR, 0,
		    "standard input: " BY_PATH },
		{ "a file to be read, above 2", READ, 3, SBX_ERROR_DESCRIPTOR,
		    0, "descriptor 003: " TO_BE_READ },
		{ "standard input that the view has not", OUTSIDE, 0,
		    SBX_ERROR_DESCRIPTOR, ENOENT,
		    "standard input: " NOT_IN_VIEW },
		{ "standard error that the view has not", OUTSIDE, 2,
		    SBX_ERROR_DESCRIPTOR, ENOENT,
		    "standard error: " NOT_IN_VIEW },
		{ "which could be written to", BOTH, 0, SBX_ERROR_DESCRIPTOR,
		    ENOENT, "standard input: " NOT_IN_VIEW },
	};
	const int opened[] = {
		1,
		-1,
		open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		open("/dev/zero", O_PATH | O_CLOEXEC),
		open("data", O_RDONLY | O_CLOEXEC),
		open("../outside", O_RDONLY | O_CLOEXEC),
		open("../outside", O_RDWR | O_CLOEXEC),
	};
	char name[] = "true";
	char *argv[] = { name, NULL };
	struct sbx_descriptor wanted[SBX_MAX_DESCRIPTORS + 1] = { { 1, 7 },
		{ 1, 8 }, { 1, 9 } };
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.descriptors = wanted,
		.descriptor_count = 3 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wanted[1] = (struct sbx_descriptor){ opened[cases[i].is],
			cases[i].to };
		fails(stage, sandbox, cases[i].what, &command, cases[i].kind,
		    cases[i].code, cases[i].says);
	}
	command.descriptor_count = SBX_MAX_DESCRIPTORS + 1;
	fails(stage, sandbox, "more of them than there are numbers", &command,
	    SBX_ERROR_ARGUMENT, 0,
	    "descriptors: there are too many of them, or none");
	command.descriptors = NULL;
	command.descriptor_count = 1;
	fails(stage, sandbox, "one, and none is there", &command,
	    SBX_ERROR_ARGUMENT, 0,
	    "descriptors: there are too many of them, or none");
	for (size_t i = DIRECTORY; i < sizeof opened / sizeof *opened; i++)
		close(opened[i]);
}

void
test_failures(struct stage *stage, struct sbx_sandbox *sandbox)
{
	static const struct {
		const char *command, *says;
		int kind, code;
	} cases[] = {
		{ "nonexistent-command",
		    "nonexistent-command: command not found",
		    SBX_ERROR_NOT_FOUND, ENOENT },
		{ "./nonexistent", "./nonexistent: no such file in the sandbox",
		    SBX_ERROR_NOT_FOUND, ENOENT },
		{ "", ": command not found", SBX_ERROR_NOT_FOUND, ENOENT },
		{ "./lost",
		    "./lost: the program that runs this file is missing",
		    SBX_ERROR_NOT_FOUND, ENOENT },
		{ "./data",
		    "./data: cannot execute the command: Permission denied",
		    SBX_ERROR_NOT_EXECUTED, EACCES },
		{ "/usr", "/usr: cannot execute the command: Permission denied",
		    SBX_ERROR_NOT_EXECUTED, EACCES },
	};
	char name[64];
	char *argv[] = { name, NULL };
	const struct sbx_command command = { .size = sizeof command,
		.argv = argv };

	make_file("data", "text\n", 0644);
	make_file("../outside", "text\n", 0644);
	make_file("lost", "#!/nonexistent/interpreter\n", 0755);
	mkdir("hidden", 0755);
	test_numbers(stage, sandbox);
	test_arguments(stage, sandbox);
	test_wrong_descriptors(stage, sandbox);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		strcpy(name, cases[i].command);
		fails(stage, sandbox, name, &command, cases[i].kind,
		    cases[i].code, cases[i].says);
	}
}
