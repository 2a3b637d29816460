/*
 * Processes that share the memory of this one until they are a command: what
 * they leave behind here is nothing, whatever becomes of them.
 */
#include "runtime/library/library.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_PIDFD = 3 }; /* P_PIDFD */

extern char **environ;

struct trial {
	struct launch launch;
	char **argv;
	const char *enter_fault;
	int wait_for; /* a descriptor to read from before execve(2), or -1 */
	bool keep;    /* the signals */
	bool killed_by_itself;
	pid_t self; /* of the second process */
};

static volatile sig_atomic_t children;

static void
count_child(int signal)
{
	(void)signal;
	children++;
}

static const char *
enter(void *plan)
{
	struct trial *trial = plan;

	errno = trial->enter_fault != NULL ? EXDEV : 0;
	return trial->enter_fault;
}

static const char *
become(void *plan)
{
	struct trial *trial = plan;
	char byte;

	trial->self = getpid();
	if (trial->killed_by_itself)
		kill(getpid(), SIGKILL);
	while (trial->wait_for >= 0 && read(trial->wait_for, &byte, 1) < 0)
		;
	launch_signals(&trial->launch, trial->keep);
	launch_ready(&trial->launch);
	execve(trial->argv[0], trial->argv, environ);
	return "cannot execute it";
}

static bool
run(struct trial *trial, bool two)
{
	trial->launch.enter = two ? enter : NULL;
	trial->launch.become = become;
	trial->launch.plan = trial;
	trial->launch.group = -1;
	return launch_run(&trial->launch);
}

/* The status of a command that was started, or -1; closes its pidfd. */
static int
status_of(struct trial *trial)
{
	siginfo_t info = { .si_status = -1 };

	if (waitid((idtype_t)BY_PIDFD, (id_t)trial->launch.pidfd, &info,
		WEXITED) != 0)
		info.si_status = -1;
	close(trial->launch.pidfd);
	return info.si_status;
}

/* No child of ours is left, not even one without an exit signal. */
static bool
is_childless(void)
{
	return waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD;
}

/* --- the cases ------------------------------------------------------------- */

static char shell[] = "/bin/sh", flag[] = "-c", seven[] = "exit 7";
static char *exits[] = { shell, flag, seven, NULL };

static void
test_command(struct tap *tap, bool two)
{
	struct trial trial = { .argv = exits, .wait_for = -1 };
	sigset_t before, after;
	bool ran;

	children = 0;
	/* The kernel knows 64 signals, and the set is larger. */
	memset(&before, 0, sizeof before);
	memset(&after, 0, sizeof after);
	sigprocmask(SIG_BLOCK, NULL, &before);
	errno = EDOM;
	ran = run(&trial, two);
	tap_ok(tap, ran && errno == EDOM, "%d: it runs, and errno stays", two);
	tap_ok(tap, trial.launch.pid > 0 && status_of(&trial) == 7,
	    "%d: its status is that of the command", two);
	tap_ok(tap, is_childless(), "%d: no other child is left", two);
	tap_ok(tap, children == 1, "%d: SIGCHLD tells of one child (%d)", two,
	    (int)children);
	sigprocmask(SIG_BLOCK, NULL, &after);
	tap_ok(tap, memcmp(&before, &after, sizeof before) == 0,
	    "%d: the signal mask is what it was", two);
}

static void
test_failure(struct tap *tap, bool two)
{
	char nothing[] = "/nonexistent";
	char *argv[] = { nothing, NULL };
	struct trial trial = { .argv = argv, .wait_for = -1 };
	int before = tap_descriptors();

	children = 0;
	tap_ok(tap,
	    !run(&trial, two) && trial.launch.fault != NULL &&
		strcmp(trial.launch.fault, "cannot execute it") == 0 &&
		trial.launch.error == ENOENT && !trial.launch.killed,
	    "%d: a command that is not there is an error", two);
	tap_ok(tap,
	    is_childless() && children == 0 && tap_descriptors() == before,
	    "%d: which leaves nothing behind", two);
	trial = (struct trial){ .argv = exits,
		.wait_for = -1,
		.killed_by_itself = true };
	/* Of an earlier run. */
	trial.launch.fault = "stale";
	trial.launch.error = EIO;
	tap_ok(tap,
	    !run(&trial, two) && trial.launch.killed &&
		trial.launch.fault == NULL && trial.launch.error == 0 &&
		trial.launch.pidfd == -1,
	    "%d: one that is killed before is told", two);
	tap_ok(tap,
	    is_childless() && children == 0 && tap_descriptors() == before,
	    "%d: and leaves nothing behind", two);
}

static void
test_enter(struct tap *tap)
{
	struct trial trial = { .argv = exits,
		.wait_for = -1,
		.enter_fault = "it is closed" };
	int before = tap_descriptors();

	tap_ok(tap,
	    !run(&trial, true) && trial.launch.fault == trial.enter_fault &&
		trial.launch.error == EXDEV && is_childless() &&
		tap_descriptors() == before,
	    "what the first process could not do is told");
}

static void
test_detached(struct tap *tap)
{
	struct trial trial = { .argv = exits, .wait_for = -1 };
	struct pollfd polled;
	bool ran;

	trial.launch.detached = true;
	ran = run(&trial, false);
	tap_ok(tap, ran && is_childless(), "a detached one is nobody's child");
	polled = (struct pollfd){ .fd = trial.launch.pidfd, .events = POLLIN };
	tap_ok(tap, ran && poll(&polled, 1, 60000) == 1,
	    "and its descriptor tells when it has ended");
	close(trial.launch.pidfd);
}

struct killer {
	struct trial trial; /* first */
	int tell[2], hear[2];
	bool traced;
};

static const char *
enter_traced(void *plan)
{
	struct killer *killer = plan;
	pid_t self = (pid_t)syscall(SYS_getpid);
	char byte = 0;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	killer->traced = write(killer->tell[1], &self, sizeof self) ==
		sizeof self &&
	    read(killer->hear[0], &byte, 1) == 1 && byte == 1;
	return NULL;
}

/* Another process kills the first one in the call that has made the second. */
__attribute__((noreturn)) static void
kill_first(struct killer *killer)
{
	pid_t first;
	char byte;
	int status;

	if (read(killer->tell[0], &first, sizeof first) != sizeof first)
		_exit(1);
	byte = ptrace(PTRACE_SEIZE, first, NULL,
		   (void *)(long)PTRACE_O_TRACECLONE) == 0;
	if (write(killer->hear[1], &byte, 1) != 1 || byte == 0)
		_exit(1);
	while (waitpid(first, &status, __WALL) == first && WIFSTOPPED(status) &&
	    status >> 16 != PTRACE_EVENT_CLONE)
		ptrace(PTRACE_CONT, first, NULL, NULL);
	kill(first, SIGKILL);
	waitpid(first, &status, __WALL);
	_exit(WIFSIGNALED(status) ? 0 : 1);
}

static void
test_first_killed(struct tap *tap)
{
	struct killer killer = { .trial = { .argv = exits, .wait_for = -1 } };
	struct launch *launch = &killer.trial.launch;
	int status = 1;
	bool ran;
	pid_t pid;

	if (pipe(killer.tell) != 0 || pipe(killer.hear) != 0)
		abort();
	pid = fork();
	if (pid == 0)
		kill_first(&killer);
	launch->enter = enter_traced;
	launch->become = become;
	launch->plan = &killer;
	launch->group = -1;
	ran = launch_run(launch);
	waitpid(pid, &status, 0);
	for (int i = 0; i < 2; i++) {
		close(killer.tell[i]);
		close(killer.hear[i]);
	}
	if (!killer.traced || status != 0 || !launch->cleared)
		tap_skip(tap, "no ptrace(2) or clone3(2) here",
		    "the first one is killed");
	else
		tap_ok(tap, ran && status_of(&killer.trial) == 7,
		    "the second goes on where the first one is killed");
	tap_ok(tap, is_childless(), "and nothing is left of them");
}

static void *
stop_it(void *plan)
{
	struct trial *trial = plan;

	while (__atomic_load_n(&trial->self, __ATOMIC_RELAXED) == 0)
		usleep(1000);
	kill(trial->self, SIGSTOP);
	return NULL;
}

/* Another command of the sandbox can do that. */
static void
test_stopped(struct tap *tap)
{
	struct trial trial = { .argv = exits };
	pthread_t thread;
	int ends[2];

	if (pipe(ends) != 0 ||
	    pthread_create(&thread, NULL, stop_it, &trial) != 0)
		abort();
	trial.wait_for = ends[0];
	tap_ok(tap, !run(&trial, true) && trial.launch.killed,
	    "one that is stopped before does not hold the caller up");
	pthread_join(thread, NULL);
	tap_ok(tap, is_childless(), "and is not left behind");
	close(ends[0]);
	close(ends[1]);
}

static void
test_signals(struct tap *tap)
{
	char script[] =
	    "sed -n 's/^Sig\\(Blk\\|Ign\\|Cgt\\):[^0]*0*\\(.*\\)$/\\2/p' "
	    "/proc/self/status | tr -d '\\n0' | "
	    "{ read -r x; [ -z \"$x\" ]; }";
	char *argv[] = { shell, flag, script, NULL };
	char ignored[] = "case $(cat /proc/self/status) in *SigBlk:*a00*"
			 "SigIgn:*1000*SigCgt*) ;; *) exit 1 ;; esac";
	char *keeps[] = { shell, flag, ignored, NULL };
	struct trial trial = { .argv = argv, .wait_for = -1 };
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	/* The first and the last one that is not for real time. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGSYS, SIG_IGN);
	tap_ok(tap, run(&trial, true) && status_of(&trial) == 0,
	    "a command begins with all signals as they are by default");
	signal(SIGHUP, SIG_DFL);
	signal(SIGSYS, SIG_DFL);
	trial = (struct trial){ .argv = keeps, .wait_for = -1, .keep = true };
	tap_ok(tap, run(&trial, true) && status_of(&trial) == 0,
	    "or with what the caller ignores and blocks");
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* SIGCHLD is ignored: the kernel reaps, and nobody learns a status. */
static void
test_ignored(struct tap *tap)
{
	struct trial trial = { .argv = exits, .wait_for = -1 };
	struct pollfd polled;
	bool ran;

	signal(SIGCHLD, SIG_IGN);
	ran = run(&trial, true);
	polled = (struct pollfd){ .fd = trial.launch.pidfd, .events = POLLIN };
	tap_ok(tap, ran && poll(&polled, 1, 60000) == 1 && is_childless(),
	    "a caller that ignores SIGCHLD sees the end by poll()");
	close(trial.launch.pidfd);
	signal(SIGCHLD, count_child);
}

static void *
run_many(void *unused)
{
	char true_path[] = "/bin/true";
	char *argv[] = { true_path, NULL };
	uintptr_t failed = 0;

	(void)unused;
	for (unsigned i = tap_rounds(200); i > 0; i--) {
		struct trial trial = { .argv = argv, .wait_for = -1 };

		failed += !run(&trial, i % 2 == 0) || status_of(&trial) != 0;
	}
	return (void *)failed;
}

static void
test_threads(struct tap *tap)
{
	enum { THREADS = 16 };
	int before = tap_descriptors();
	pthread_t threads[THREADS];
	uintptr_t failed = 0;
	void *result;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_many, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		failed += (uintptr_t)result;
	}
	tap_ok(tap, failed == 0, "16 threads at a time");
	tap_ok(tap, tap_descriptors() == before && is_childless(),
	    "and nothing is left");
}

/* Nothing is copied, so a large program waits no longer. */
static void
test_large(struct tap *tap)
{
	enum { PIECES = 20000, PAGE = 4096 };
	char *memory = mmap(NULL, (size_t)2 * PIECES * PAGE,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct trial trial = { .argv = exits, .wait_for = -1 };

	for (size_t i = 0; memory != MAP_FAILED && i < PIECES; i++) {
		memory[2 * i * PAGE] = 1;
		mprotect(memory + 2 * i * PAGE, PAGE, PROT_READ);
	}
	tap_ok(tap, run(&trial, true) && status_of(&trial) == 7,
	    "a program with 40,000 mappings");
	munmap(memory, (size_t)2 * PIECES * PAGE);
}

/* The list ends with NULL, for which there is room, too. */
static void
test_words(struct tap *tap)
{
	struct words words = { .list = NULL };
	bool held = true;

	for (size_t i = 1; i <= 100; i++) {
		words_add(&words, "--head=", "text");
		held &= !words.failed && words.count == i && i < words.room &&
		    strcmp(words.list[i - 1], "--head=text") == 0 &&
		    words.list[i] == NULL;
	}
	tap_ok(tap, held, "a list of words has room for all, and for its end");
	words_free(&words);
	tap_ok(tap, words.list == NULL && words.count == 0, "and can be freed");
}

int
main(void)
{
	struct tap tap = { 0 };

	signal(SIGCHLD, count_child);
	for (int two = 0; two < 2; two++) {
		test_command(&tap, two != 0);
		test_failure(&tap, two != 0);
	}
	test_enter(&tap);
	test_detached(&tap);
	test_first_killed(&tap);
	test_stopped(&tap);
	test_signals(&tap);
	test_ignored(&tap);
	test_threads(&tap);
	test_large(&tap);
	test_words(&tap);
	return tap_done(&tap);
}
