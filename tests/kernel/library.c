/*
 * libsbx on this kernel: how sandboxes are opened and end, and what is said when
 * one is refused.  library_commands.c has what happens in them, library_storm.c
 * many at a time and hostile neighbours.
 */
#include "tests/kernel/library.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- opening --------------------------------------------------------------- */

/* What sbxrun itself says of the same. */
static void
ask_sbxrun(const struct stage *stage, const char *words, char *text,
    size_t size)
{
	char command[512];
	FILE *stream;
	size_t len;

	snprintf(command, sizeof command, "'%s' %s -- true 2>&1", stage->sbxrun,
	    words);
	stream = popen(command, "r");
	len = stream == NULL ? 0 : fread(text, 1, size - 1, stream);
	if (stream != NULL)
		pclose(stream);
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static void
refused(struct stage *stage, const char *name, struct sbx_options options,
    int kind, const char *says)
{
	int before = open_descriptors();
	struct sbx_error error = { .kind = SBX_ERROR_NONE };
	struct sbx_sandbox *sandbox;
	bool held;

	if (options.size == 0)
		options.size = sizeof options;
	if (options.sbxrun == NULL)
		options.sbxrun = stage->sbxrun;
	errno = EDOM;
	sandbox = sbx_open(&options, &error);
	held = sandbox == NULL && error.kind == kind &&
	    strstr(error.text, says) != NULL && open_descriptors() == before &&
	    (kind != SBX_ERROR_ARGUMENT || error.code == 0) && errno == EDOM &&
	    waitpid(-1, NULL, __WALL) < 0;
	tap_ok(&stage->tap, held, "refused: %s: %d: %s", name, error.kind,
	    error.text);
	sbx_close(sandbox);
}

static void
test_options(struct stage *stage)
{
	static const char text[] = "sbx 1\n# A policy that was not compiled, "
				   "as long as the header of a blob.\n"
				   "profile text { allow env * }\n";
	static const char *const bare[] = { "DATA", NULL };
	struct sbx_options good = { .policy = stage->free_policy };
	struct {
		struct sbx_options options;
		char more;
	} newer = { good, 1 };
	struct sbx_options options;

	newer.options.size = sizeof newer;
	newer.options.sbxrun = stage->sbxrun;
	tap_ok(&stage->tap, sbx_open(NULL, NULL) == NULL, "no options");
	tap_ok(&stage->tap, sbx_open(&newer.options, NULL) == NULL,
	    "a field that this library does not know");
	newer.more = 0;
	memset((char *)&newer + sizeof options, 0,
	    sizeof newer - sizeof options);
	{
		struct sbx_sandbox *sandbox = sbx_open(&newer.options, NULL);

		tap_ok(&stage->tap, sandbox != NULL, "and one that is zero");
		sbx_close(sandbox);
	}
#define REFUSED(name, kind, says, ...) \
	do { \
		options = good; \
		__VA_ARGS__; \
		refused(stage, name, options, kind, says); \
	} while (0)
	REFUSED("an older structure", SBX_ERROR_ARGUMENT, "another version",
	    options.size = sizeof options - 8);
	REFUSED("a size of 1", SBX_ERROR_ARGUMENT, "another version",
	    options.size = 1);
	REFUSED("no policy", SBX_ERROR_ARGUMENT, "a policy is needed",
	    options.policy = NULL);
	REFUSED("two policies", SBX_ERROR_ARGUMENT, "a policy is needed",
	    options.blob = text);
	REFUSED("a flag", SBX_ERROR_ARGUMENT, "unknown flag",
	    options.flags = 1U << 30);
	REFUSED("a parameter without a path", SBX_ERROR_ARGUMENT, "NAME=PATH",
	    options.parameters = bare);
	REFUSED("no sbxrun", SBX_ERROR_SBXRUN, "/nonexistent/sbxrun: cannot be",
	    options.sbxrun = "/nonexistent/sbxrun");
	REFUSED("another program", SBX_ERROR_REFUSED, "",
	    options.sbxrun = "/bin/false");
	REFUSED("no such policy", SBX_ERROR_REFUSED, "No such file",
	    options.policy = "/nonexistent/policy.bin");
	REFUSED("no such profile", SBX_ERROR_REFUSED, "@nonexistent",
	    options.policy = "@nonexistent");
	REFUSED("a level", SBX_ERROR_REFUSED, "no such level",
	    options.level = "high");
	REFUSED("no such workspace", SBX_ERROR_REFUSED, "no such workspace",
	    options.workspace = "nonexistent");
	REFUSED("another digest", SBX_ERROR_REFUSED, "SHA-256",
	    options.expect = "sha256:00000000000000000000000000000000000000000"
			     "00000000000000000000000");
	REFUSED("text in place of bytes", SBX_ERROR_REFUSED, "it is text",
		options.policy = NULL;
		options.blob = text; options.blob_size = sizeof text - 1);
	REFUSED("no bytes", SBX_ERROR_REFUSED, "too short to hold",
		options.policy = NULL;
		options.blob = text; options.blob_size = 0);
	REFUSED("an option as a policy", SBX_ERROR_REFUSED, "--version",
	    options.policy = "--version");
#undef REFUSED
}

/* Who opens a policy that allows everything says so. */
static void
test_everything(struct stage *stage)
{
	const char *sbxc = getenv("SBXC"), *srcdir = getenv("srcdir");
	char path[128], command[1024];
	struct sbx_options options = {
		.size = sizeof options,
		.policy = path,
		.sbxrun = stage->sbxrun,
	};
	struct sbx_error error = { .text = "" };
	struct sbx_sandbox *sandbox;

	snprintf(path, sizeof path, "%s/everything.bin", stage->base);
	snprintf(command, sizeof command,
	    "'%s' '%s/profiles/full-access.sbx' -o '%s'",
	    sbxc != NULL ? sbxc : "sbxc", srcdir != NULL ? srcdir : ".", path);
	if (system(command) != 0)
		abort();
	refused(stage, "full access without a word", options, SBX_ERROR_REFUSED,
	    "--allow-full-access");
	options.flags = SBX_ALLOW_FULL_ACCESS;
	sandbox = sbx_open(&options, &error);
	tap_ok(&stage->tap, sandbox != NULL && shell(sandbox, "exit 8") == 8,
	    "and with it: %s", error.text);
	sbx_close(sandbox);
}

/* The same words as on a command line. */
static void
test_texts(struct stage *stage)
{
	char said[1024];
	struct sbx_options options = {
		.size = sizeof options,
		.policy = "/nonexistent/policy.bin",
		.sbxrun = stage->sbxrun,
	};
	struct sbx_error error;

	ask_sbxrun(stage, "/nonexistent/policy.bin", said, sizeof said);
	sbx_open(&options, &error);
	tap_ok(&stage->tap,
	    strncmp(said, "sbxrun: ", 8) == 0 &&
		strcmp(said + 8, error.text) == 0,
	    "the text is that of sbxrun: %s", error.text);
	options.policy = stage->free_policy;
	options.level = "warning: none";
	ask_sbxrun(stage, "-l 'warning: none' ../free.bin", said, sizeof said);
	sbx_open(&options, &error);
	tap_ok(&stage->tap,
	    strncmp(said, "sbxrun: 'warning: none': ", 25) == 0 &&
		strcmp(said + 8, error.text) == 0,
	    "also about what begins as a warning does: %s", error.text);
}

/* How many descriptors are policies in memory, and how many of them can never
 * be changed, by nobody. */
static void
count_policies(int *all, int *safe)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE;

	*all = *safe = 0;
	for (int fd = 0; fd < 1024; fd++) {
		char path[32], name[64];
		ssize_t len;

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		len = readlink(path, name, sizeof name - 1);
		name[len < 0 ? 0 : len] = '\0';
		if (strncmp(name, "/memfd:policy", 13) != 0)
			continue;
		++*all;
		*safe += (fcntl(fd, F_GET_SEALS) & seals) == seals;
	}
}

/* What was looked at when it was opened holds for each command. */
static void
test_changed(struct stage *stage)
{
	char path[128], command[512];
	struct sbx_sandbox *sandbox;
	int status;

	snprintf(path, sizeof path, "%s/changed.bin", stage->base);
	snprintf(command, sizeof command, "cp '%s' '%s'", stage->free_policy,
	    path);
	if (system(command) != 0)
		abort();
	sandbox = stage_open(stage, path, "standard");
	tap_ok(&stage->tap, shell(sandbox, "exit 3") == 3, "a policy");
	snprintf(command, sizeof command, "cp '%s' '%s'", stage->bound_policy,
	    path);
	if (system(command) != 0)
		abort();
	status = shell(sandbox, "exit 3");
	tap_ok(&stage->tap, status == 125,
	    "no command has another one that has its path now: %d", status);
	sbx_close(sandbox);
}

/* In the state of this user, who has a home. */
static void
test_staged(struct stage *stage)
{
	char name[32], command[512];
	struct sbx_options options = {
		.size = sizeof options,
		.policy = stage->free_policy,
		.workspace = stage->workspace,
		.sbxrun = stage->sbxrun,
		.stage = name,
	};
	struct sbx_error error;
	struct sbx_sandbox *sandbox;

	snprintf(name, sizeof name, "libsbx-%d", (int)getpid());
	sandbox = sbx_open(&options, &error);
	if (sandbox == NULL && strstr(error.text, "no overlay") != NULL) {
		tap_skip(&stage->tap, error.text, "a stage");
		return;
	}
	/* Such as nobody's, which is /nonexistent. */
	if (access(getpwuid(geteuid())->pw_dir, W_OK) != 0) {
		tap_ok(&stage->tap,
		    sandbox == NULL &&
			strstr(error.text, "cannot make the stage in ~"),
		    "without a home there is no stage: %s", error.text);
		sbx_close(sandbox);
		return;
	}
	tap_ok(&stage->tap,
	    sandbox != NULL && shell(sandbox, "echo x >staged") == 0 &&
		shell(sandbox, "test -e staged") == 0 &&
		access("staged", F_OK) != 0,
	    "a stage: %s", sandbox != NULL ? "" : error.text);
	sbx_close(sandbox);
	/* The session is ending. */
	snprintf(command, sizeof command,
	    "for i in 1 2 3 4 5 6 7 8 9; do '%s' --staged=%s discard "
	    ">/dev/null 2>&1 && exit; sleep 0.2; done; exit 1",
	    stage->sbxrun, name);
	tap_ok(&stage->tap, system(command) == 0, "and it is free at the end");
}

static void
test_bytes(struct stage *stage)
{
	int policies, safe;
	static char bytes[1 << 20];
	FILE *file = fopen(stage->free_policy, "r");
	struct sbx_options options = {
		.size = sizeof options,
		.blob = bytes,
		.workspace = "../workspace",
		.sbxrun = stage->sbxrun,
	};
	struct sbx_error error = { .kind = SBX_ERROR_NONE };
	struct sbx_sandbox *sandbox;

	options.blob_size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	for (int full = 0; full < 2; full++) {
		options.level = full ? "full" : "standard";
		sandbox = sbx_open(&options, &error);
		tap_ok(&stage->tap,
		    sandbox != NULL &&
			shell(sandbox,
			    "test $PWD = ${LIBRARY%"
			    "/x}") == 0,
		    "%s: bytes, and a relative workspace: %s", options.level,
		    sandbox != NULL ? "" : error.text);
		count_policies(&policies, &safe);
		tap_ok(&stage->tap, policies == 1 && safe == 1,
		    "%s: nobody can change the policy in memory: %d of %d",
		    options.level, safe, policies);
		sbx_close(sandbox);
	}
}

/* --- the end ----------------------------------------------------------------- */

/* The process of a pidfd. */
static pid_t
number_of(int pidfd)
{
	char path[64], line[128];
	int number = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		sscanf(line, "Pid: %d", &number);
	if (file == NULL || number <= 1)
		abort();
	fclose(file);
	return number;
}

static void
test_end(struct stage *stage)
{
	int before = open_descriptors();
	struct sbx_sandbox *sandbox = stage_open(stage, stage->free_policy,
	    "full");
	struct pollfd polled = { .fd = sbx_pollable(sandbox),
		.events = POLLIN };
	struct sbx_error error = { .text = "" };
	pid_t child;
	int status;

	shell(sandbox, "setsid sleep 4567.5 &");
	tap_ok(&stage->tap,
	    poll(&polled, 1, 0) == 0 && await_processes("4567.5", 1),
	    "a sandbox is there");
	child = fork();
	if (child == 0) {
		int ran = shell(sandbox, "exit 5");

		sbx_close(sandbox);
		_exit(ran);
	}
	tap_ok(&stage->tap,
	    waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5 &&
		shell(sandbox, "exit 6") == 6 && poll(&polled, 1, 0) == 0,
	    "a forked child can use it, and does not end it");
	sbx_close(sandbox);
	tap_ok(&stage->tap,
	    count_processes("4567.5") == 0 &&
		count_processes("--keep=3") == 0 &&
		open_descriptors() == before,
	    "nothing is left when it is closed");

	sandbox = stage_open(stage, stage->free_policy, "full");
	shell(sandbox, "sleep 4567.5 &");
	kill(number_of(sbx_pollable(sandbox)), SIGKILL);
	polled.fd = sbx_pollable(sandbox);
	tap_ok(&stage->tap,
	    poll(&polled, 1, 60000) == 1 && await_processes("4567.5", 0),
	    "when the keeper is killed, everything in it ends");
	tap_ok(&stage->tap,
	    shell_start(sandbox, "true", &error) == -1 &&
		error.kind == SBX_ERROR_ENDED,
	    "and a command is an error: %s", error.text);
	sbx_close(sandbox);
	sbx_close(NULL);
	tap_ok(&stage->tap, open_descriptors() == before,
	    "no descriptor is left");
}

__attribute__((noreturn)) static void
be_killed(const struct stage *stage, int alive)
{
	struct sbx_sandbox *sandbox = stage_open(stage, stage->free_policy,
	    "full");
	char byte;

	shell(sandbox, "setsid sleep 5678.5 &");
	shell_start(sandbox, "exec sleep 5678.5", NULL);
	/* A child that lives on has copies of all descriptors. */
	if (fork() == 0) {
		while (read(alive, &byte, 1) < 0)
			;
		_exit(0);
	}
	for (;;)
		pause();
}

/* The caller dies: nobody closes anything. */
static void
test_killed(struct stage *stage)
{
	int alive[2];
	pid_t child;

	if (pipe(alive) != 0)
		return;
	child = fork();
	if (child == 0) {
		close(alive[1]);
		be_killed(stage, alive[0]);
	}
	tap_ok(&stage->tap, await_processes("5678.5", 2), "two commands run");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tap_ok(&stage->tap,
	    await_processes("5678.5", 0) && await_processes("--keep=3", 0),
	    "nothing is left of a caller that was killed");
	close(alive[0]);
	close(alive[1]);
}

/* --- under a supervisor ------------------------------------------------------ */

static void
test_supervised(struct stage *stage, const char *level)
{
	int before = open_descriptors();
	struct sbx_sandbox *sandbox = stage_open(stage, stage->bound_policy,
	    level);
	char name[] = "sh", flag[] = "-c", script[] = "sleep 1.5; exit 3";
	char wants[] = "cat ../bound.sbx; exit 3";
	char *argv[] = { name, flag, script, NULL };
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.flags = SBX_UNSUPERVISED };
	struct sbx_descriptor third = { 1, 3 };
	struct sbx_error error = { .text = "" };
	char text[64 << 10] = "";
	int tree, pidfd, record[2];
	size_t used = 0;
	ssize_t len;

	tap_ok(&stage->tap, shell(sandbox, "exit 4") == 4,
	    "%s: a command under a supervisor", level);
	shell_says(sandbox, "setsid sleep 6789.5 & sleep 6789.5", text,
	    sizeof text);
	tap_ok(&stage->tap,
	    strstr(text, "limit timeout") != NULL &&
		await_processes("6789.5", 0),
	    "%s: which ends it in time", level);
	tap_ok(&stage->tap, shell(sandbox, "nonexistent-command") == 127,
	    "%s: no such command", level);
	command.flags = 0;
	command.tree = &tree;
	tap_ok(&stage->tap,
	    sbx_spawn(sandbox, &command, &error) == -1 &&
		error.kind == SBX_ERROR_ARGUMENT,
	    "%s: its processes are the supervisor's", level);
	command.tree = NULL;
	command.descriptors = &third;
	command.descriptor_count = 1;
	error.kind = SBX_ERROR_NONE;
	tap_ok(&stage->tap,
	    sbx_spawn(sandbox, &command, &error) == -1 &&
		error.kind == SBX_ERROR_ARGUMENT,
	    "%s: descriptor 3 is not for it: %s", level, error.text);
	command.descriptor_count = 0;
	if (pipe(record) != 0)
		return;
	command.record = record[1];
	command.flags = SBX_EXPLAIN;
	argv[2] = wants;
	pidfd = sbx_spawn(sandbox, &command, &error);
	argv[2] = script;
	close(record[1]);
	while (used < sizeof text - 1 &&
	    (len = read(record[0], text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)len;
	close(record[0]);
	tap_ok(&stage->tap,
	    pidfd >= 0 && status_of(pidfd) == 3 &&
		strstr(text,
		    "\"command\":[\"sh\",\"-c\",\"cat ../bound.sbx; exit "
		    "3\"]") != NULL,
	    "%s: its record comes to the caller", level);
	tap_ok(&stage->tap,
	    strstr(text, "\"event\":\"denied\"") != NULL &&
		strstr(text, "/bound.sbx\"") != NULL,
	    "%s: with what was denied", level);
	command.flags = SBX_UNSUPERVISED;
	tap_ok(&stage->tap, sbx_spawn(sandbox, &command, &error) == -1,
	    "%s: without a supervisor there is none: %s", level, error.text);
	command.flags = command.record = 0;
	if (strcmp(level, "full") == 0) {
		command.flags = SBX_UNSUPERVISED;
		pidfd = sbx_spawn(sandbox, &command, &error);
		tap_ok(&stage->tap, pidfd >= 0 && status_of(pidfd) == 3,
		    "without one its time is the caller's matter");
	}
	sbx_close(sandbox);
	tap_ok(&stage->tap, open_descriptors() == before,
	    "%s: no descriptor was left open", level);
}

/* --- a session of sbxrun's --------------------------------------------------- */

static void
test_session(struct stage *stage)
{
	int before = open_descriptors();
	struct sbx_error error = { .text = "" };
	struct sbx_sandbox *sandbox;
	char name[64], command[512];

	snprintf(name, sizeof name, "library-%d", (int)getpid());
	sandbox = sbx_join(name, stage->sbxrun, &error);
	tap_ok(&stage->tap,
	    sandbox == NULL && error.kind == SBX_ERROR_ENDED &&
		open_descriptors() == before,
	    "no such session: %s", error.text);
	tap_ok(&stage->tap,
	    sbx_join("../x", stage->sbxrun, &error) == NULL &&
		error.kind == SBX_ERROR_REFUSED &&
		sbx_join(NULL, NULL, NULL) == NULL,
	    "no name of one: %s", error.text);
	snprintf(command, sizeof command,
	    "'%s' --session %s '%s' -- sh -c 'echo kept >/tmp/session'",
	    stage->sbxrun, name, stage->free_policy);
	if (system(command) != 0)
		return;
	sandbox = sbx_join(name, stage->sbxrun, &error);
	tap_ok(&stage->tap,
	    sandbox != NULL && shell(sandbox, "grep -q kept /tmp/session") == 0,
	    "a session is joined: %s", error.text);
	sbx_close(sandbox);
	snprintf(command, sizeof command,
	    "'%s' --session %s --check >/dev/null && "
	    "'%s' --session %s --end >/dev/null",
	    stage->sbxrun, name, stage->sbxrun, name);
	tap_ok(&stage->tap,
	    system(command) == 0 && open_descriptors() == before,
	    "and goes on when it is closed");
}

/* What a thread does that was cancelled before, as far as it comes. */
struct cancelled {
	struct stage *stage;
	int pidfd, tree, done;
};

static void *
use_cancelled(void *argument)
{
	struct cancelled *cancelled = argument;
	static char sleeps[] = "sleep", time[] = "2345.6";
	char *argv[] = { sleeps, time, NULL };
	const struct sbx_options options = {
		.size = sizeof options,
		.policy = cancelled->stage->free_policy,
		.workspace = cancelled->stage->workspace,
		.sbxrun = cancelled->stage->sbxrun,
		.level = "full",
	};
	const struct sbx_command command = {
		.size = sizeof command,
		.argv = argv,
		.tree = &cancelled->tree,
	};
	struct sbx_sandbox *sandbox;

	pthread_cancel(pthread_self());
	sandbox = sbx_open(&options, NULL);
	cancelled->done += sandbox != NULL;
	cancelled->pidfd = sbx_spawn(sandbox, &command, NULL);
	cancelled->done += cancelled->pidfd >= 0;
	cancelled->done += sbx_kill_tree(cancelled->tree, SIGKILL, NULL) >= 1;
	cancelled->done += sbx_join("none-of-these", cancelled->stage->sbxrun,
			       NULL) == NULL;
	sbx_close(sandbox);
	cancelled->done++;
	return NULL;
}

/* No call ends half way, and leaves what it has opened. */
static void
test_cancelled(struct stage *stage)
{
	struct cancelled cancelled = { stage, -1, -1, 0 };
	pthread_t thread;

	pthread_create(&thread, NULL, use_cancelled, &cancelled);
	pthread_join(thread, NULL);
	tap_ok(&stage->tap, cancelled.done == 5,
	    "a thread that is cancelled ends behind each call: %d",
	    cancelled.done);
	if (cancelled.pidfd >= 0)
		status_of(cancelled.pidfd);
	if (cancelled.tree >= 0)
		close(cancelled.tree);
}

int
main(void)
{
	struct stage stage;
	struct sbx_sandbox *sandbox;
	int before;

	stage_begin(&stage);
	test_options(&stage);
	test_everything(&stage);
	test_texts(&stage);
	sandbox = stage_open(&stage, stage.free_policy, "standard");
	tap_ok(&stage.tap,
	    sbx_pollable(sandbox) == -1 &&
		strcmp(sbx_level(sandbox), "standard") == 0,
	    "level standard");
	test_commands(&stage, sandbox);
	sbx_close(sandbox);
	test_changed(&stage);
	test_supervised(&stage, "standard");
	if (!tap_has_full(&stage.tap))
		return stage_end(&stage);
	test_bytes(&stage);
	test_staged(&stage);
	sandbox = stage_open(&stage, stage.free_policy, "full");
	tap_ok(&stage.tap, sbx_warnings(sandbox)[0] == '\0', "no warnings: %s",
	    sbx_warnings(sandbox));
	before = open_descriptors();
	test_commands(&stage, sandbox);
	test_inside(&stage, sandbox);
	tap_ok(&stage.tap, open_descriptors() == before,
	    "no descriptor was left open");
	sbx_close(sandbox);
	test_cancelled(&stage);
	test_end(&stage);
	test_killed(&stage);
	test_supervised(&stage, "full");
	test_needs(&stage);
	test_session(&stage);
	return stage_end(&stage);
}
