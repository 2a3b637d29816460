/*
 * What sbx-trial answers where nothing is denied, kind by kind, what it leaves
 * behind, and which files it does not take.
 */
#include "format/protocol.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { SIZE = 16384, NO_PORT = 1 };

static struct tap tap;
static char program[4096], top[] = "/var/tmp/sbx-trial-XXXXXX";
static uint32_t server_port;

/* A file of trials, which is filled one by one. */
struct sheet {
	int fd;
	char *bytes;
	struct sbx_trials *head;
	struct sbx_trial *trials;
	uint32_t used; /* of the strings, from the middle on */
};

static void
sheet_make(struct sheet *sheet)
{
	sheet->fd = memfd_create("trials", MFD_CLOEXEC);
	tap_must(sheet->fd >= 0 && ftruncate(sheet->fd, SIZE) == 0, "memfd");
	sheet->bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
	    sheet->fd, 0);
	tap_must(sheet->bytes != MAP_FAILED, "mmap");
	sheet->head = (void *)sheet->bytes;
	sheet->trials = (void *)(sheet->head + 1);
	sheet->used = SIZE / 2;
	*sheet->head = (struct sbx_trials){ .magic = SBX_TRIAL_MAGIC,
		.size = SIZE };
}

static void
sheet_free(struct sheet *sheet)
{
	munmap(sheet->bytes, SIZE);
	close(sheet->fd);
}

static struct sbx_trial *
sheet_add(struct sheet *sheet, uint32_t kind, const char *text, uint32_t number)
{
	struct sbx_trial *trial = &sheet->trials[sheet->head->count++];

	*trial = (struct sbx_trial){ .kind = kind,
		.text = sheet->used,
		.number = number,
		.answer = SBX_TRIAL_NONE };
	sheet->used +=
	    (uint32_t)sprintf(sheet->bytes + sheet->used, "%s", text) + 1;
	return trial;
}

/* Its status, or minus the signal that killed it. */
static int
sheet_run(const struct sheet *sheet, char *argument)
{
	static char name[] = "sbx-trial", variable[] = "SET=1";
	char *arguments[] = { name, argument, NULL };
	char *environment[] = { variable, NULL };
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		dup2(sheet->fd, STDIN_FILENO);
		if (chdir(top) == 0)
			execve(program, arguments, environment);
		_exit(99);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* --- what is answered ----------------------------------------------------- */

static const char *
inside(const char *name)
{
	static char text[2][256];
	static unsigned turn;
	char *path = text[turn++ % 2];

	snprintf(path, sizeof *text, "%s/%s", top, name);
	return path;
}

static void
make_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(inside(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	tap_must(fd >= 0 &&
		write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		fchmod(fd, mode) == 0 && close(fd) == 0,
	    name);
}

/* A server of that address. */
static int
serve(const void *address, socklen_t size)
{
	const struct sockaddr *any = address;
	int fd = socket(any->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	tap_must(fd >= 0 && bind(fd, any, size) == 0 && listen(fd, 8) == 0,
	    "listen");
	return fd;
}

static int
serve_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	int fd = serve(&address, sizeof address);

	tap_must(getsockname(fd, (struct sockaddr *)&address, &size) == 0,
	    "getsockname");
	server_port = ntohs(address.sin_port);
	return fd;
}

static int
serve_path(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof address.sun_path, "%s", inside(name));
	return serve(&address, sizeof address);
}

/* All in one run, so that each is tried, and none disturbs the next one; twice,
 * so that nothing is left of what is made. */
static void
answers(void)
{
	static const struct {
		const char *name;
		uint32_t kind;
		const char *text; /* with a dot first: a name of the test's */
		int answer;
	} cases[] = {
		{ "read", SBX_TRY_READ, "./file", 0 },
		{ "read a directory", SBX_TRY_READ, "./", 0 },
		{ "read nothing", SBX_TRY_READ, "./none", ENOENT },
		{ "write", SBX_TRY_WRITE, "./file", 0 },
		{ "write nothing", SBX_TRY_WRITE, "./none", ENOENT },
		{ "write to a directory", SBX_TRY_WRITE, "./", EISDIR },
		{ "write to a pipe without a reader", SBX_TRY_WRITE, "./pipe",
		    ENXIO },
		{ "read from it", SBX_TRY_READ, "./pipe", 0 },
		{ "create", SBX_TRY_CREATE, "./new", 0 },
		{ "create it once more", SBX_TRY_CREATE, "./new", 0 },
		{ "create what is there", SBX_TRY_CREATE, "./file", EEXIST },
		{ "create nowhere", SBX_TRY_CREATE, "./none/new", ENOENT },
		{ "run a copy", SBX_TRY_RUN, "", 0 },
		{ "run what is no program", SBX_TRY_RUN, "./file", EACCES },
		{ "run nothing", SBX_TRY_RUN, "./none", ENOENT },
		{ "run something empty", SBX_TRY_RUN, "./empty", ENOEXEC },
		{ "execute", SBX_TRY_EXEC, "/bin/sh", 0 },
		{ "execute a file", SBX_TRY_EXEC, "./file", EACCES },
		{ "execute nothing", SBX_TRY_EXEC, "./none", ENOENT },
		{ "a variable", SBX_TRY_ENV, "SET", 0 },
		{ "none", SBX_TRY_ENV, "UNSET", SBX_TRIAL_ABSENT },
		{ "none of its beginning", SBX_TRY_ENV, "SE",
		    SBX_TRIAL_ABSENT },
		{ "a socket", SBX_TRY_SOCKET, "./socket", 0 },
		{ "no socket", SBX_TRY_SOCKET, "./file", ECONNREFUSED },
		{ "nothing", SBX_TRY_SOCKET, "./none", ENOENT },
		{ "one of its own", SBX_TRY_OWN_SOCKET, "./own", 0 },
		{ "the same once more", SBX_TRY_OWN_SOCKET, "./own", 0 },
		{ "where it cannot be made", SBX_TRY_OWN_SOCKET, "./none/own",
		    SBX_TRIAL_UNABLE },
		{ "a process", SBX_TRY_SPAWN, "", 0 },
		{ "no address", SBX_TRY_ADDRESS, "10.0.0", SBX_TRIAL_UNABLE },
		{ "no kind", SBX_TRY_SPAWN + 1, "", SBX_TRIAL_NONE },
	};
	struct sheet sheet;
	int status;

	for (int round = 0; round < 2; round++) {
		sheet_make(&sheet);
		for (size_t i = 0; i < countof(cases); i++)
			sheet_add(&sheet, cases[i].kind,
			    cases[i].kind == SBX_TRY_RUN && !*cases[i].text ?
				program :
				*cases[i].text == '.' ?
				inside(cases[i].text + 2) :
				cases[i].text,
			    0);
		status = sheet_run(&sheet, NULL);
		tap_ok(&tap, status == 0, "it ends well");
		for (size_t i = 0; i < countof(cases); i++) {
			const struct sbx_trial *trial = &sheet.trials[i];

			if (!tap_ok(&tap,
				trial->answer == cases[i].answer &&
				    trial->socket == 0,
				"%s", cases[i].name))
				printf("# %d, not %d\n", trial->answer,
				    cases[i].answer);
		}
		sheet_free(&sheet);
	}
	tap_ok(&tap,
	    access(inside("new"), F_OK) != 0 &&
		access(inside("own"), F_OK) != 0,
	    "nothing is left of what was made");
}

static void
is(const char *name, const struct sbx_trial *trial, int answer)
{
	if (!tap_ok(&tap, trial->answer == answer, "%s", name))
		printf("# %d, not %d\n", trial->answer, answer);
}

static void
ports(void)
{
	struct sheet sheet;
	int server = serve_port();

	sheet_make(&sheet);
	sheet_add(&sheet, SBX_TRY_CONNECT, "", server_port);
	sheet_add(&sheet, SBX_TRY_CONNECT, "", NO_PORT);
	sheet_add(&sheet, SBX_TRY_LISTEN, "", server_port);
	sheet_add(&sheet, SBX_TRY_LISTEN, "", 0);
	sheet_add(&sheet, SBX_TRY_ADDRESS, "127.0.0.1", NO_PORT);
	tap_ok(&tap, sheet_run(&sheet, NULL) == 0, "ports are tried");
	is("a port where somebody listens", &sheet.trials[0], 0);
	is("one where nobody does", &sheet.trials[1], ECONNREFUSED);
	is("to listen where somebody does", &sheet.trials[2], EADDRINUSE);
	is("at any port", &sheet.trials[3], 0);
	is("an address where nobody does", &sheet.trials[4], ECONNREFUSED);
	close(server);
	sheet_free(&sheet);
}

static void
calls(void)
{
	static const struct {
		const char *name;
		long number;
		uint64_t args[6];
		int answer;
	} cases[] = {
		{ "a call", SYS_getpid, { 0 }, 0 },
		{ "one that fails", SYS_close, { 9999 }, EBADF },
		{ "one of three arguments", SYS_fcntl, { 0, F_GETFL, 0 }, 0 },
		{ "whose second one counts", SYS_fcntl, { 0, 9999, 0 },
		    EINVAL },
		{ "whose last one counts", SYS_mmap,
		    { 0, 4096, PROT_READ, MAP_PRIVATE, 0, 1 }, EINVAL },
		{ "and does not here", SYS_mmap,
		    { 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			UINT64_MAX, 0 },
		    0 },
		{ "one that ends the child", SYS_exit_group, { 7 }, 0 },
	};
	struct sheet sheet;

	sheet_make(&sheet);
	for (size_t i = 0; i < countof(cases); i++) {
		struct sbx_trial *trial = sheet_add(&sheet, SBX_TRY_CALL, "",
		    (uint32_t)cases[i].number);

		memcpy(trial->args, cases[i].args, sizeof trial->args);
	}
	tap_ok(&tap, sheet_run(&sheet, NULL) == 0, "calls are tried");
	for (size_t i = 0; i < countof(cases); i++)
		is(cases[i].name, &sheet.trials[i], cases[i].answer);
	sheet_free(&sheet);
}

/* --- what is taken -------------------------------------------------------- */

static void
files(void)
{
	static const struct {
		const char *name;
		uint32_t magic, count, size, text;
		off_t length;
		int status, answer;
	} cases[] = {
		{ "a good one", SBX_TRIAL_MAGIC, 1, SIZE, 100, SIZE, 0, 0 },
		{ "another kind", SBX_TRIAL_MAGIC + 1, 1, SIZE, 100, SIZE, 2,
		    SBX_TRIAL_NONE },
		{ "a size that is not its own", SBX_TRIAL_MAGIC, 1, SIZE - 1,
		    100, SIZE, 2, SBX_TRIAL_NONE },
		{ "more than it holds", SBX_TRIAL_MAGIC,
		    SIZE / sizeof(struct sbx_trial) + 1, SIZE, 100, SIZE, 2,
		    SBX_TRIAL_NONE },
		{ "a text behind its end", SBX_TRIAL_MAGIC, 1, SIZE, SIZE, SIZE,
		    0, SBX_TRIAL_NONE },
		{ "one of no length", SBX_TRIAL_MAGIC, 1, 0, 100, 0, 2,
		    SBX_TRIAL_NONE },
	};
	static char argument[] = "nothing";
	struct sheet sheet;

	for (size_t i = 0; i < countof(cases); i++) {
		int32_t answer;

		sheet_make(&sheet);
		sheet_add(&sheet, SBX_TRY_SPAWN, "", 0);
		sheet.head->magic = cases[i].magic;
		sheet.head->count = cases[i].count;
		sheet.head->size = cases[i].size;
		sheet.trials[0].text = cases[i].text;
		for (uint32_t j = 1; j < cases[i].count; j++)
			sheet.trials[j].answer = 0;
		tap_must(ftruncate(sheet.fd, cases[i].length) == 0, "truncate");
		tap_ok(&tap, sheet_run(&sheet, NULL) == cases[i].status,
		    "the file: %s", cases[i].name);
		answer = cases[i].length == 0 ? SBX_TRIAL_NONE :
						sheet.trials[0].answer;
		tap_ok(&tap, answer == cases[i].answer, "and its trial");
		sheet_free(&sheet);
	}
	sheet_make(&sheet);
	sheet_add(&sheet, SBX_TRY_SPAWN, "", 0);
	sheet_add(&sheet, SBX_TRY_SPAWN, "", 0)->answer = SBX_TRIAL_UNWANTED;
	tap_ok(&tap,
	    sheet_run(&sheet, argument) == 0 &&
		sheet.trials[0].answer == SBX_TRIAL_NONE,
	    "a copy tries nothing");
	tap_ok(&tap,
	    sheet_run(&sheet, NULL) == 0 && sheet.trials[0].answer == 0 &&
		sheet.trials[1].answer == SBX_TRIAL_UNWANTED,
	    "nor is tried what nobody wants");
	sheet_free(&sheet);
}

int
main(void)
{
	static const char *const made[] = { "file", "empty", "pipe", "socket" };
	const char *build = getenv("builddir");
	char given[4096];
	int server;

	snprintf(given, sizeof given, "%s/sbx-trial",
	    build != NULL ? build : ".");
	tap_must(realpath(given, program) != NULL, given);
	tap_must(mkdtemp(top) != NULL, top);
	make_file("file", "text", 0600);
	make_file("empty", "", 0700);
	tap_must(mkfifo(inside("pipe"), 0600) == 0, "mkfifo");
	server = serve_path("socket");
	answers();
	ports();
	calls();
	files();
	close(server);
	for (size_t i = 0; i < countof(made); i++)
		unlink(inside(made[i]));
	rmdir(top);
	return tap_done(&tap);
}
