/*
 * How a command is found (runtime/apply/execute.c), what is said where it is not,
 * and where it would be found outside (elsewhere.c).
 */
#include "runtime/apply/apply.h"

#include "runtime/apply/mounts.h"
#include "runtime/base/out.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))
#define LONG \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

enum { SAID_MAX = 512, STRANGER = 23972 };

static struct tap tap;
static char top[64] = "/var/tmp/sbx-execute-XXXXXX";

/* A text in which "@" stands for the directory of the test. */
static char *
whole(const char *text)
{
	static char made[4][4 * SBX_MAX_PATH];
	static unsigned turn;
	char *to = made[turn++ % 4], *at = to;

	for (; *text != '\0'; text++)
		at += *text == '@' ? sprintf(at, "%s", top) :
				     sprintf(at, "%c", *text);
	*at = '\0';
	return to;
}

static void
make_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(whole(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	tap_must(fd >= 0 &&
		write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		fchmod(fd, mode) == 0 && close(fd) == 0,
	    name);
}

static void
make_directory(const char *name)
{
	tap_must(mkdir(whole(name), 0700) == 0, name);
}

/* What a child says on its streams, and the end of the line without. */
static const char *
said(void (*act)(const char *const *), const char *const *with, int *status)
{
	static char text[SAID_MAX];
	size_t used = 0;
	ssize_t len;
	int ends[2];
	pid_t child;

	tap_must(pipe(ends) == 0, "pipe");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		tap_must(chdir(whole("@/here")) == 0, "chdir");
		act(with);
		_exit(0);
	}
	close(ends[1]);
	while (used < sizeof text - 1 &&
	    (len = read(ends[0], text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)len;
	text[used] = '\0';
	text[strcspn(text, "\n")] = '\0';
	close(ends[0]);
	waitpid(child, status, 0);
	*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
	return text;
}

static void
is(const char *what, const char *got, const char *wanted)
{
	if (!tap_ok(&tap, strcmp(got, wanted) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

/* With a name, a PATH and an argument; the errno is the status. */
static void
try(const char *const *with)
{
	char variable[] = "SET=1", *variables[] = { variable, NULL };
	char *words[] = { NULL, whole(with[0]), whole("x y"), NULL };

	_exit(execute_try(words + 1, variables,
	    with[1] == NULL ? NULL : whole(with[1])));
}

static void
found(void)
{
	static const struct {
		const char *name, *path, *says;
		int status;
	} cases[] = {
		{ "tool", "@/a", "a x y", 0 },
		{ "tool", "@/none:@/a", "a x y", 0 },
		{ "tool", "@/b:@/a", "b x y", 0 },
		{ "tool", "@/a:@/b", "a x y", 0 },
		{ "tool", "@/file:@/a", "a x y", 0 },
		{ "tool", "@/shut:@/a", "a x y", 0 },
		{ "tool", "@/plain:@/a", "a x y", 0 },
		{ "tool", "@/" LONG ":@/a", "a x y", 0 },
		{ "tool", ":@/a", "here x y", 0 },
		{ "tool", "@/none:", "here x y", 0 },
		{ "tool", "@/none::@/a", "here x y", 0 },
		{ "tool", "../a", "a x y", 0 },
		{ "./tool", "@/a", "here x y", 0 },
		{ "@/a/tool", "@/b", "a x y", 0 },
		{ "script", "@/a", "a/script x y", 0 },
		{ "./script", "", "here/script x y", 0 },
		{ "tool", "", "here x y", 0 },
		{ "tool", NULL, "", ENOENT },
		{ "true", NULL, "", 0 },
		{ "none", "@/a", "", ENOENT },
		{ "none", "@/a:@/shut", "", ENOENT },
		{ "plain", "@/plain:@/a", "", EACCES },
		{ "@/none", "@/a", "", ENOENT },
		{ "@/plain/plain", "@/a", "", EACCES },
		{ "@/file/tool", "@/a", "", ENOTDIR },
		{ "@/a", "@/a", "", EACCES },
		{ "", "@/a", "", ENOENT },
		{ LONG, "@/a", "", ENOENT },
	};
	int status;

	for (size_t i = 0; i < countof(cases); i++) {
		const char *with[] = { cases[i].name, cases[i].path };
		const char *got = said(try, with, &status);

		if (!tap_ok(&tap,
			strcmp(got, cases[i].says) == 0 &&
			    status == cases[i].status,
			"'%.20s' by '%.20s'", cases[i].name,
			cases[i].path == NULL ? "no PATH" : cases[i].path))
			printf("# '%s', %d\n", got, status);
	}
}

/* As long as a path may be, and a byte longer; slashes make it that. */
static void
long_paths(void)
{
	static const char tool[] = "/tool";

	for (size_t len = SBX_MAX_PATH; len <= SBX_MAX_PATH + 1; len++) {
		char path[SBX_MAX_PATH + 1];
		const char *with[] = { "tool", path };
		size_t begin = strlen(strcpy(path, whole("@/a")));
		int status;

		memset(path + begin, '/', len - begin);
		path[len - (sizeof tool - 1)] = '\0';
		is(len > SBX_MAX_PATH ? "too long a path" : "the longest path",
		    said(try, with, &status),
		    len > SBX_MAX_PATH ? "" : "a x y");
	}
}

/* --- where there is none -------------------------------------------------- */

static void
end(const char *const *with)
{
	struct environment environment = { 0 };
	char *variables[] = { whole("PATH=@/a"), NULL };
	char *words[] = { NULL, whole(with[0]), NULL };

	environment.variables = variables;
	environment.count = 1;
	execute(words + 1, &environment, 0, with[1]);
}

static void
not_found(void)
{
	static const struct {
		const char *name, *elsewhere, *says;
		int status;
	} cases[] = {
		{ "none", NULL, "sbxrun: none: command not found", 127 },
		{ "none", "/out/none",
		    "sbxrun: none: command not found; outside it is /out/none, "
		    "which the policy does not show: 'allow exec /out/none' "
		    "would, unless something denies it",
		    127 },
		{ "./none", NULL, "sbxrun: ./none: no such file in the sandbox",
		    127 },
		{ "./none", "/out/none",
		    "sbxrun: ./none: no such file in the sandbox; outside it "
		    "is /out/none, which the policy does not show: 'allow exec "
		    "/out/none' would, unless something denies it",
		    127 },
		{ "./broken", "/out/broken",
		    "sbxrun: ./broken: the program that runs this file is "
		    "missing: /none/sh",
		    127 },
		{ "./spaced", NULL,
		    "sbxrun: ./spaced: the program that runs this file is "
		    "missing: /none/perl",
		    127 },
		{ "./file", NULL,
		    "sbxrun: ./file: cannot execute the command: Permission "
		    "denied",
		    126 },
		{ "plain", NULL, "sbxrun: plain: command not found", 127 },
		{ "data", NULL,
		    "sbxrun: data: cannot execute the command: Permission "
		    "denied",
		    126 },
	};
	int status;

	for (size_t i = 0; i < countof(cases); i++) {
		const char *with[] = { cases[i].name, cases[i].elsewhere };

		is("what is said", said(end, with, &status), cases[i].says);
		tap_ok(&tap, status == cases[i].status, "and the status");
	}
}

static void
elsewhere(void)
{
	static const struct {
		const char *name, *path, *found;
	} cases[] = {
		{ "tool", "PATH=@/a", "@/a/tool" },
		{ "tool", "PATH=@/b:@/a", "@/b/tool" },
		{ "tool", "PATH=@/plain:@/a", "@/a/tool" },
		{ "tool", "PATH=:@/a", "@/a/tool" },
		{ "tool", "PATH=../a", NULL },
		{ "tool", "PATH=@/" LONG ":@/b:", "@/b/tool" },
		{ "tool", "PATH=", NULL },
		{ "tool", "PATHS=@/a", NULL },
		{ "none", "PATH=@/a", NULL },
		{ "", "PATH=@/a", NULL },
		{ "@/a/tool", "PATH=@/b", "@/a/tool" },
		{ "@/a/none", "PATH=@/b", NULL },
		{ "@/plain/plain", "PATH=@/b", NULL },
		{ "a/tool", "PATH=@", NULL },
		{ "./tool", "PATH=@/a", NULL },
	};
	static struct arena arena;

	for (size_t i = 0; i < countof(cases); i++) {
		char other[] = "OTHER=1",
		     *variables[] = { other, whole(cases[i].path), NULL };
		const char *got = elsewhere_find(&arena, whole(cases[i].name),
		    variables);

		is("outside", got != NULL ? got : "no",
		    cases[i].found != NULL ? whole(cases[i].found) : "no");
	}
}

static void
make_places(void)
{
	make_directory("@/a");
	make_directory("@/b");
	make_directory("@/here");
	make_directory("@/plain");
	make_directory("@/shut");
	make_file("@/file", "", 0600);
	make_file("@/a/tool", "#!/bin/sh\necho a \"$@\"\n", 0700);
	make_file("@/b/tool", "#!/bin/sh\necho b \"$@\"\n", 0700);
	make_file("@/shut/tool", "#!/bin/sh\necho shut \"$@\"\n", 0700);
	make_file("@/here/tool", "#!/bin/sh\necho here \"$@\"\n", 0700);
	make_file("@/plain/tool", "#!/bin/sh\necho plain \"$@\"\n", 0600);
	make_file("@/plain/plain", "text", 0600);
	make_file("@/a/script", "echo a/${0##*/} \"$@\"\n", 0700);
	make_file("@/a/data", "text", 0600);
	make_file("@/here/script", "echo here/${0##*/} \"$@\"\n", 0700);
	make_file("@/here/file", "text", 0600);
	make_file("@/here/broken", "#!/none/sh\n", 0700);
	make_file("@/here/spaced", "#! \t/none/perl -w\n", 0700);
	tap_must(chmod(whole("@/shut"), 0) == 0, "chmod");
}

static void
remove_places(void)
{
	static const char *const made[] = { "@/file", "@/a/tool", "@/b/tool",
		"@/shut/tool", "@/here/tool", "@/plain/tool", "@/plain/plain",
		"@/a/script", "@/a/data", "@/here/script", "@/here/file",
		"@/here/broken", "@/here/spaced", "@/a", "@/b", "@/here",
		"@/plain", "@/shut", "@" };

	chmod(whole("@/shut"), 0700);
	for (size_t i = 0; i < countof(made); i++)
		remove(whole(made[i]));
}

int
main(void)
{
	/* To root nothing is shut. */
	if (geteuid() == 0)
		tap_must(setgid(STRANGER) == 0 && setuid(STRANGER) == 0,
		    "setuid");
	tap_must(mkdtemp(top) != NULL, top);
	make_places();
	found();
	long_paths();
	not_found();
	elsewhere();
	remove_places();
	return tap_done(&tap);
}
