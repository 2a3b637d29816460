/*
 * libsbx on this kernel: commands in a sandbox, what they have and share.
 */
#include "tests/kernel/library.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- commands --------------------------------------------------------------- */

struct trial {
	const char *name, *script, *says;
};

static const struct trial trials[] = {
	{ "its output", "echo one; echo two >&2", "one\ntwo\n" },
	{ "a variable is set", "echo ${LIBRARY##*/}", "x\n" },
	{ "and a place that is below none", "echo $ROOTED", "/x/y\n" },
	{ "a secret is not handed on", "echo ${X_TOKEN-none}", "none\n" },
	{ "another one is", "echo $LIBRARY_TEST", "given\n" },
	{ "descriptors above 2 are closed", "ls /proc/self/fd",
	    "0\n1\n2\n3\n" },
	{ "what is denied", "cat hidden 2>/dev/null || echo no", "no\n" },
	{ "it keeps no right to more",
	    "cat /proc/self/status | grep -E "
	    "'^(CapEff|NoNewPrivs|Seccomp):'",
	    "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n" },
};

void
test_commands(struct stage *stage, struct sbx_sandbox *sandbox)
{
	bool full = strcmp(sbx_level(sandbox), "full") == 0;
	char text[4096];

	setenv("X_TOKEN", "secret", 1);
	setenv("LIBRARY_TEST", "given", 1);
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		const struct trial *trial = &trials[i];

		/* Root keeps some capabilities below level full. */
		if (!full && strstr(trial->says, "CapEff") != NULL)
			continue;
		shell_says(sandbox, trial->script, text, sizeof text);
		tap_ok(&stage->tap, strcmp(text, trial->says) == 0,
		    "%s: %s: %s", sbx_level(sandbox), trial->name,
		    strcmp(text, trial->says) == 0 ? "" : text);
	}
	tap_ok(&stage->tap, shell(sandbox, "exit 7") == 7, "%s: its status",
	    sbx_level(sandbox));
	tap_ok(&stage->tap, shell(sandbox, "kill -9 $$") == 128 + 9,
	    "%s: its signal", sbx_level(sandbox));
}

/* --- what commands share, and what they have for themselves ------------------ */

static void
test_shared(struct stage *stage, struct sbx_sandbox *sandbox)
{
	struct tap *tap = &stage->tap;
	char text[256];
	int pidfd;

	tap_ok(tap,
	    shell(sandbox, "echo kept >/tmp/kept") == 0 &&
		shell(sandbox, "test \"$(cat /tmp/kept)\" = kept") == 0,
	    "commands share /tmp");
	tap_ok(tap,
	    shell(sandbox, "sleep 1234.5 & echo $! >/tmp/pid") == 0 &&
		await_processes("1234.5", 1),
	    "what a command leaves behind goes on");
	tap_ok(tap,
	    shell(sandbox, "kill $(cat /tmp/pid)") == 0 &&
		await_processes("1234.5", 0),
	    "and the next one can end it");
	pidfd = shell_start(sandbox, "exec sleep 1234.5", NULL);
	/* It has the name of sbxrun until it executes. */
	shell_says(sandbox,
	    "for i in $(seq 1200); do n=$(cat /proc/[0-9]*/comm | grep -c "
	    "sleep); "
	    "[ $n = 0 ] || break; sleep 0.05; done; echo $n",
	    text, sizeof text);
	tap_ok(tap, strcmp(text, "1\n") == 0, "commands see each other: %s",
	    text);
	shell_says(sandbox,
	    "for p in $(pgrep -x sleep); do cat /proc/$p/environ || echo no; "
	    "done 2>/dev/null",
	    text, sizeof text);
	tap_ok(tap, strcmp(text, "no\n") == 0,
	    "and not into each other's memory");
	shell(sandbox, "pkill -x sleep");
	tap_ok(tap, status_of(pidfd) == 128 + SIGTERM,
	    "and can end each other");
}

static void
test_groups(struct stage *stage, struct sbx_sandbox *sandbox)
{
	char name[] = "sh", flag[] = "-c", script[] = "kill -TERM 0; echo $?";
	char pair[] = "ps -o pid=,pgid=,sid= -p $$ | "
		      "awk '{ print ($1 == $2) ($1 == $3) }'";
	char *argv[] = { name, flag, script, NULL };
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.flags = SBX_SAME_GROUP };
	struct sbx_descriptor out = { -1, 1 };
	struct tap *tap = &stage->tap;
	char text[64];
	int ends[2], pidfd;

	tap_ok(tap, shell(sandbox, "kill -TERM 0") == 128 + SIGTERM,
	    "a command has a process group of its own");
	pidfd = sbx_spawn(sandbox, &command, NULL);
	tap_ok(tap, status_of(pidfd) == 0,
	    "one in ours cannot send signals to it, and we are still here");
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	argv[2] = pair;
	out.from = ends[1];
	command.flags = SBX_NEW_SESSION;
	command.descriptors = &out;
	command.descriptor_count = 1;
	pidfd = sbx_spawn(sandbox, &command, NULL);
	close(ends[1]);
	memset(text, 0, sizeof text);
	if (read(ends[0], text, sizeof text - 1) < 0)
		text[0] = '\0';
	close(ends[0]);
	tap_ok(tap, status_of(pidfd) == 0 && strcmp(text, "11\n") == 0,
	    "a session: %s", text);
}

static void
test_terminal(struct stage *stage, struct sbx_sandbox *sandbox)
{
	char name[] = "sh", flag[] = "-c",
	     script[] = "exec <>/dev/tty && test -t 0 && kill -INT $$";
	char *argv[] = { name, flag, script, NULL };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	struct sbx_descriptor streams[3];
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.descriptors = streams,
		.descriptor_count = 3,
		.flags = SBX_TERMINAL };
	struct sbx_error error = { .text = "" };
	int pidfd = -1;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
	    (slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC)) <
		0) {
		tap_skip(&stage->tap, "no pseudo-terminals", "a terminal");
		return;
	}
	for (int i = 0; i < 3; i++)
		streams[i] = (struct sbx_descriptor){ slave, i };
	pidfd = sbx_spawn(sandbox, &command, &error);
	tap_ok(&stage->tap, pidfd >= 0, "a terminal: %s", error.text);
	if (pidfd >= 0) {
		int status = status_of(pidfd);

		tap_ok(&stage->tap, status == 128 + SIGINT,
		    "which is its own: %d", status);
	}
	close(slave);
	close(master);
}

/* Opens (or closes) what the command must not have: all other low numbers, and
 * without a flag that would close them. */
static void
litter(bool opens, int fds[256])
{
	for (int fd = 3; fd < 256; fd++) {
		if (opens)
			fds[fd] = fcntl(fd, F_GETFD) < 0 ? dup2(2, fd) : -1;
		else if (fds[fd] >= 0)
			close(fd);
	}
}

static void
test_descriptors(struct stage *stage, struct sbx_sandbox *sandbox)
{
	char name[] = "sh", flag[] = "-c",
	     script[] = "echo nine >&9; cat <&4 >&5; ls /proc/self/fd | "
			"tr -d '\\n' >&5";
	char *argv[] = { name, flag, script, NULL };
	int in[2], out[2], pidfd, others[256];
	struct sbx_descriptor wanted[3];
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.descriptors = wanted,
		.descriptor_count = 3 };
	char text[128] = "";
	ssize_t len = 0, got;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
	    write(in[1], "four\n", 5) != 5)
		return;
	close(in[1]);
	wanted[0] = (struct sbx_descriptor){ in[0], 4 };
	wanted[1] = (struct sbx_descriptor){ out[1], 5 };
	wanted[2] = (struct sbx_descriptor){ out[1], 9 };
	litter(true, others);
	pidfd = sbx_spawn(sandbox, &command, NULL);
	litter(false, others);
	close(in[0]);
	close(out[1]);
	while (
	    (got = read(out[0], text + len, sizeof text - 1 - (size_t)len)) > 0)
		len += got;
	close(out[0]);
	tap_ok(&stage->tap,
	    status_of(pidfd) == 0 && strcmp(text, "nine\nfour\n0123459") == 0,
	    "descriptors: %s", text);
}

/* Nobody can open again what has no name any more. */
static void
test_unlinked(struct stage *stage, struct sbx_sandbox *sandbox)
{
	char name[] = "grep", word[] = "text", file[] = "/dev/fd/3";
	char *argv[] = { name, word, file, NULL };
	struct sbx_descriptor wanted = { -1, 3 };
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.descriptors = &wanted,
		.descriptor_count = 1 };
	struct sbx_error error = { .text = "" };
	int pidfd;

	make_file("removed", "text\n", 0644);
	wanted.from = open("removed", O_RDONLY | O_CLOEXEC);
	unlink("removed");
	pidfd = sbx_spawn(sandbox, &command, &error);
	tap_ok(&stage->tap, pidfd >= 0, "a file without a name, above 2: %s",
	    error.text);
	if (pidfd >= 0)
		status_of(pidfd);
	close(wanted.from);
}

/* What the user could change is open for reading alone. */
static void
test_input(struct stage *stage, struct sbx_sandbox *sandbox)
{
	char name[] = "sh", flag[] = "-c",
	     script[] = "read -r line; echo more >>/proc/self/fd/0; "
			"chmod 600 /proc/self/fd/0; test \"$line\" = text";
	char *argv[] = { name, flag, script, NULL };
	struct sbx_descriptor wanted = { -1, 0 };
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.descriptors = &wanted,
		.descriptor_count = 1 };
	struct sbx_error error = { .text = "" };
	struct stat status;
	int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC), pidfd;

	wanted.from = file;
	argv[2] = (char *)(uintptr_t) "grep -q ^root:";
	pidfd = sbx_spawn(sandbox, &command, &error);
	tap_ok(&stage->tap, pidfd >= 0 && status_of(pidfd) == 0,
	    "a file as standard input: %s", error.text);
	close(file);
	argv[2] = script;
	file = open("data", O_RDWR | O_CLOEXEC);
	wanted.from = file;
	pidfd = sbx_spawn(sandbox, &command, &error);
	tap_ok(&stage->tap,
	    pidfd >= 0 && status_of(pidfd) == 0 && fstat(file, &status) == 0,
	    "a file of the workspace: %s", error.text);
	close(file);
}

static void
test_tree(struct stage *stage, struct sbx_sandbox *sandbox)
{
	char name[] = "sh", flag[] = "-c",
	     script[] = "for i in 1 2 3 4 5; do setsid sleep 2345.5 & done; "
			"(trap '' TERM; sleep 2345.5) & exit 0";
	char *argv[] = { name, flag, script, NULL };
	int tree = -1, other, other_namespace, count, pidfd;
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.tree = &tree };
	struct sbx_error error = { .text = "" };
	pid_t pid = -1;

	command.pid = &pid;
	other = shell_start(sandbox, "exec sleep 3456.5", NULL);
	pidfd = sbx_spawn(sandbox, &command, &error);
	tap_ok(&stage->tap, pidfd >= 0 && tree >= 0 && pid > 0,
	    "a command whose processes are known: %s", error.text);
	if (pidfd < 0)
		return;
	status_of(pidfd);
	await_processes("2345.5", 6);
	count = sbx_kill_tree(tree, 0, &error);
	tap_ok(&stage->tap, count >= 6, "which are %d", count);
	tap_ok(&stage->tap,
	    sbx_kill_tree(tree, 999, &error) == -1 &&
		error.kind == SBX_ERROR_SYSTEM && error.code == EINVAL,
	    "there is no such signal: %s", error.text);
	tap_ok(&stage->tap,
	    sbx_kill_tree(tree, SIGKILL, &error) >= 6 &&
		await_processes("2345.5", 0),
	    "and can be ended");
	tap_ok(&stage->tap, count_processes("3456.5") == 1,
	    "those of another command go on");
	tap_ok(&stage->tap, sbx_kill_tree(tree, SIGKILL, &error) == 0,
	    "nothing is left");
	close(tree);
	other_namespace = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	tap_ok(&stage->tap,
	    sbx_kill_tree(other_namespace, 0, &error) == -1 &&
		error.kind == SBX_ERROR_ARGUMENT,
	    "so is another namespace: %s", error.text);
	close(other_namespace);
	tap_ok(&stage->tap,
	    sbx_kill_tree(-1, SIGTERM, &error) == -1 &&
		error.kind == SBX_ERROR_ARGUMENT &&
		sbx_kill_tree(other, SIGTERM, &error) == -1 &&
		sbx_kill_tree(0, SIGTERM, NULL) == -1,
	    "another descriptor is an error: %s", error.text);
	shell(sandbox, "pkill -x sleep");
	status_of(other);
}

void
test_needs(struct stage *stage)
{
	char name[] = "true";
	char *argv[] = { name, NULL };
	const char *const policies[] = { stage->free_policy,
		stage->bound_policy, stage->output_policy,
		stage->watch_policy };

	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		struct sbx_sandbox *sandbox = stage_open(stage, policies[i],
		    "full");
		int tree = -1, pidfd;
		struct sbx_command command = { .size = sizeof command,
			.argv = argv,
			.tree = &tree };
		struct sbx_error error = { .kind = SBX_ERROR_NONE };

		pidfd = sbx_spawn(sandbox, &command, &error);
		if (pidfd >= 0) {
			status_of(pidfd);
			close(tree);
		}
		tap_ok(&stage->tap,
		    (pidfd >= 0) == (i == 0) &&
			error.kind ==
			    (i == 0 ? SBX_ERROR_NONE : SBX_ERROR_ARGUMENT),
		    "whether a supervisor is needed: policy %zu: %s", i,
		    error.text);
		sbx_close(sandbox);
	}
}

void
test_inside(struct stage *stage, struct sbx_sandbox *sandbox)
{
	test_failures(stage, sandbox);
	test_shared(stage, sandbox);
	test_groups(stage, sandbox);
	test_terminal(stage, sandbox);
	test_descriptors(stage, sandbox);
	test_unlinked(stage, sandbox);
	test_input(stage, sandbox);
	test_tree(stage, sandbox);
}
