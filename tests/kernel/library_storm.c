/*
 * libsbx with many threads, and beside commands that want to harm the caller: a
 * command's process has the caller's memory until it executes, and is in the
 * sight of the commands that are there.
 */
#include "tests/kernel/library.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, COMMANDS = 10000 };

struct storm {
	struct sbx_sandbox *sandbox;
	unsigned commands;
	unsigned failed; /* not started */
	unsigned killed; /* SBX_ERROR_KILLED */
	unsigned wrong;  /* another status */
	char text[SBX_ERROR_TEXT];
};

static void *
run_many(void *argument)
{
	struct storm *storm = argument;
	char name[] = "true";
	char *argv[] = { name, NULL };
	struct sbx_command command = { .size = sizeof command, .argv = argv };
	struct sbx_error error;

	for (unsigned i = 0; i < storm->commands; i++) {
		int pidfd = sbx_spawn(storm->sandbox, &command, &error);

		if (pidfd >= 0)
			storm->wrong += status_of(pidfd) != 0;
		else if (error.kind == SBX_ERROR_KILLED)
			storm->killed++;
		else if (storm->failed++ == 0)
			memcpy(storm->text, error.text, sizeof storm->text);
	}
	return NULL;
}

/* All threads together; the sums. */
static struct storm
run_storm(struct sbx_sandbox *sandbox, unsigned commands)
{
	struct storm storms[THREADS], sum = { .sandbox = sandbox };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		storms[i] = (struct storm){ .sandbox = sandbox,
			.commands = commands / THREADS + 1 };
		if (pthread_create(&threads[i], NULL, run_many, &storms[i]) !=
		    0)
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum.failed += storms[i].failed;
		sum.killed += storms[i].killed;
		sum.wrong += storms[i].wrong;
		if (storms[i].failed > 0)
			memcpy(sum.text, storms[i].text, sizeof sum.text);
	}
	return sum;
}

static void
test_storm(struct stage *stage, const char *level, const char *policy,
    unsigned commands)
{
	struct sbx_sandbox *sandbox = stage_open(stage, policy, level);
	int before = open_descriptors();
	struct storm sum = run_storm(sandbox, tap_rounds(commands));

	tap_ok(&stage->tap, sum.failed + sum.killed + sum.wrong == 0,
	    "%s: 16 threads: %u not started, %u killed, %u wrong: %s", level,
	    sum.failed, sum.killed, sum.wrong, sum.text);
	tap_ok(&stage->tap,
	    open_descriptors() == before &&
		waitpid(-1, NULL, WNOHANG | __WALL) < 0,
	    "%s: no descriptor and no process is left", level);
	sbx_close(sandbox);
}

/* Two sandboxes that are opened and closed by many. */
static void *
open_many(void *argument)
{
	struct stage *stage = argument;
	uintptr_t failed = 0;

	for (unsigned i = tap_rounds(20); i > 0; i--) {
		struct sbx_sandbox *sandbox = stage_open(stage,
		    stage->free_policy, "full");

		failed += shell(sandbox, "test ! -e /tmp/mark$$ && exit 9") !=
		    9;
		sbx_close(sandbox);
	}
	return (void *)failed;
}

static void
test_openings(struct stage *stage)
{
	int before = open_descriptors();
	pthread_t threads[4];
	uintptr_t failed = 0;
	void *result;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, open_many, stage);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		failed += (uintptr_t)result;
	}
	tap_ok(&stage->tap,
	    failed == 0 && open_descriptors() == before &&
		await_processes("--keep=3", 0),
	    "four threads open sandboxes and close them");
}

/* --- hostile commands -------------------------------------------------------- */

/* Tries each way into each process that it sees, and writes what it got. */
static const char spy[] =
    "while :; do for p in /proc/[0-9]*; do "
    "[ $p = /proc/$$ ] || for f in environ mem maps auxv syscall stack "
    "personality; do "
    "head -c 4096 $p/$f 2>/dev/null | tr '\\0' '\\n' | "
    "grep -a . | grep -qav ^0*$ && echo \"$p/$f\" >>/tmp/found; "
    "done; ls $p/fd $p/root $p/cwd >/dev/null 2>&1 && "
    "[ $p != /proc/$$ ] && echo $p >>/tmp/entered; done; done";

static void
test_spies(struct stage *stage)
{
	struct sbx_sandbox *sandbox = stage_open(stage, stage->free_policy,
	    "full");
	struct storm sum;
	char text[1024];

	setenv("LIBRARY_API_KEY", "the-secret", 1);
	shell(sandbox, "touch /tmp/found /tmp/entered");
	for (int i = 0; i < 2; i++)
		close(shell_start(sandbox, spy, NULL));
	sum = run_storm(sandbox, tap_rounds(COMMANDS / 4));
	tap_ok(&stage->tap, sum.failed + sum.killed + sum.wrong == 0,
	    "beside spies: %u, %u, %u: %s", sum.failed, sum.killed, sum.wrong,
	    sum.text);
	/* Each sees its own children. */
	shell_says(sandbox,
	    "sort -u /tmp/found | head -n 3; "
	    "grep -c . /tmp/entered",
	    text, sizeof text);
	tap_ok(&stage->tap, strstr(text, "environ") == NULL,
	    "no spy reads a process before it is restricted: %s", text);
	sbx_close(sandbox);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Stops, or ends, everything but itself, again and again. */
static void
test_stoppers(struct stage *stage, const char *signal)
{
	struct sbx_sandbox *sandbox = stage_open(stage, stage->free_policy,
	    "full");
	char script[128];
	struct storm sum;

	snprintf(script, sizeof script,
	    "while :; do kill -%s -1; done 2>/dev/null", signal);
	for (int i = 0; i < 2; i++)
		close(shell_start(sandbox, script, NULL));
	alarm(120);
	if (strcmp(signal, "STOP") != 0) {
		sum = run_storm(sandbox, tap_rounds(COMMANDS / 10));
		tap_ok(&stage->tap, sum.failed == 0,
		    "a neighbour that ends all: %u killed, %u ended, %u not "
		    "started: %s",
		    sum.killed, sum.wrong, sum.failed, sum.text);
	} else {
		struct sbx_error error = { .kind = 0 };
		unsigned started = 0, killed = 0;

		/* What is started and then stopped has to be ended. */
		for (unsigned i = tap_rounds(100); i > 0; i--) {
			int pidfd = shell_start(sandbox, "exit 0", &error);

			started += pidfd >= 0;
			killed += error.kind == SBX_ERROR_KILLED;
			if (pidfd >= 0)
				close(pidfd);
		}
		tap_ok(&stage->tap, true,
		    "a neighbour that stops all: %u started, %u stopped "
		    "before",
		    started, killed);
	}
	alarm(0);
	sbx_close(sandbox);
	while (waitpid(-1, NULL, 0) > 0)
		;
	tap_ok(&stage->tap, await_processes("--keep=3", 0),
	    "and nothing is left");
}

int
main(void)
{
	struct stage stage;

	stage_begin(&stage);
	test_storm(&stage, "standard", stage.free_policy, COMMANDS);
	if (!tap_has_full(&stage.tap))
		return stage_end(&stage);
	test_storm(&stage, "full", stage.free_policy, COMMANDS);
	/* Here each command gets a connection from the keeper first. */
	test_storm(&stage, "full", stage.long_policy, COMMANDS / 10);
	test_openings(&stage);
	test_spies(&stage);
	test_stoppers(&stage, "KILL");
	test_stoppers(&stage, "STOP");
	return stage_end(&stage);
}
