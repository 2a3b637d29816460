/*
 * Runs one test, so that it depends on nothing of whoever started it and leaves
 * nothing behind:
 *
 *	run [NAME=VALUE...] COMMAND [ARGUMENT...]
 *
 * The test gets default signal dispositions and an empty mask (a shell cannot
 * trap a signal that was ignored when it started), a session of its own, no
 * input, no descriptor above 2, the umask 022, the usual soft limits, an
 * environment of a few names and those given, and a directory that is $TMPDIR
 * and holds $HOME.  It is killed after $TEST_LIMIT seconds, which a line of TAP
 * then says; $TEST_GRACE seconds it has to clean up.  Afterwards no process of it
 * is left, not even one that left its session: run is a subreaper, to which
 * orphans go.  With $TEST_COSTS a last line says what the test took.
 *
 * Run is two processes, in two sessions, so that this also holds if one of them
 * is killed, with its process group perhaps: the warden does all this, and the
 * first process waits for it, hands signals on to it, and ends what it left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LIMIT = 600,         /* seconds */
	GRACE = 10,          /* seconds that the last processes have */
	STATUS_KILLED = 124, /* the test took too long */
	STATUS_ERROR = 99,   /* of ours; what automake calls a hard error */
};

static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "run: %s: %s\n", what, strerror(errno));
	exit(STATUS_ERROR);
}

static long
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static long
seconds(const char *name, long standard)
{
	const char *text = getenv(name);
	long number = text != NULL ? strtol(text, NULL, 10) : 0;

	return number > 0 ? number : standard;
}

/* --- what the test begins with -------------------------------------------- */

static void
reset_signals(void)
{
	static const char action[64]; /* of the kernel: all zero is SIG_DFL */
	sigset_t none;

	/* Not by sigaction(3), which refuses the two signals that libc keeps to
	 * itself; make leaves them ignored.  SIGKILL and SIGSTOP are refused. */
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		syscall(SYS_rt_sigaction, signal, action, NULL, (size_t)8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
reset_files(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0)
		fail("/dev/null");
	for (int fd = 1; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			dup2(null, fd);
	}
	if (syscall(SYS_close_range, 3, ~0U, 0) == 0)
		return;
	for (int fd = 3; fd < 1024; fd++) /* before Linux 5.9 */
		close(fd);
}

/* The soft limits of a login, as far as the hard ones go. */
static void
reset_limits(void)
{
	static const struct {
		int resource;
		rlim_t soft;
	} limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_CPU, RLIM_INFINITY },
		{ RLIMIT_FSIZE, RLIM_INFINITY },
		{ RLIMIT_AS, RLIM_INFINITY },
		{ RLIMIT_DATA, RLIM_INFINITY },
		{ RLIMIT_STACK, 8 << 20 },
		{ RLIMIT_NOFILE, 1024 },
		{ RLIMIT_NPROC, RLIM_INFINITY },
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit limit;

		if (getrlimit(limits[i].resource, &limit) != 0)
			continue;
		limit.rlim_cur = limits[i].soft < limit.rlim_max ?
		    limits[i].soft :
		    limit.rlim_max;
		setrlimit(limits[i].resource, &limit);
	}
}

/* Keeps the variables that say how to test, and where the tools are. */
static void
reset_environment(const char *directory)
{
	static const char *const names[] = {
		"PATH",
		"LD_LIBRARY_PATH",
		"ASAN_OPTIONS",
		"LSAN_OPTIONS",
		"UBSAN_OPTIONS",
		"SBX_MUST_RUN",
		"TEST_ROUNDS",
		"TEST_LIMIT",
	};
	enum { COUNT = sizeof names / sizeof *names };
	char *values[COUNT], home[4096];

	for (int i = 0; i < COUNT; i++) {
		const char *value = getenv(names[i]);

		values[i] = value != NULL ? strdup(value) : NULL;
	}
	clearenv();
	for (int i = 0; i < COUNT; i++) {
		if (values[i] != NULL)
			setenv(names[i], values[i], 1);
		free(values[i]);
	}
	snprintf(home, sizeof home, "%s/home", directory);
	if (mkdir(home, 0755) != 0)
		fail(home);
	setenv("HOME", home, 1);
	setenv("TMPDIR", directory, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
}

/* --- the directory -------------------------------------------------------- */

static int
remove_entry(const char *path, const struct stat *status, int type,
    struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static int
make_removable(const char *path, const struct stat *status, int type,
    struct FTW *place)
{
	(void)place;
	if ((type != FTW_D && type != FTW_DNR) ||
	    (status->st_mode & S_IRWXU) == S_IRWXU || chmod(path, S_IRWXU) != 0)
		return 0;
	/* One that could not be read is not entered by this walk. */
	return type == FTW_DNR ? nftw(path, make_removable, 16, FTW_PHYS) : 0;
}

static void
remove_tree(const char *path)
{
	nftw(path, make_removable, 16, FTW_PHYS);
	nftw(path, remove_entry, 16, FTW_PHYS | FTW_DEPTH);
}

/* --- the processes -------------------------------------------------------- */

/* The parent and the name of a process; false if it is gone. */
static bool
read_process(const char *pid, pid_t *parent, char name[static 64])
{
	char path[300];
	FILE *stream;
	bool found;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	stream = fopen(path, "re");
	if (stream == NULL)
		return false;
	found = fscanf(stream, "%*d (%63[^)]) %*c %d", name, parent) == 2;
	fclose(stream);
	return found;
}

/* Kills our children and all groups that they are in, so that nobody forks
 * faster than we look; their children are then ours. */
static void
kill_children(bool tell)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent;
		char name[64];

		if (pid <= 0 || !read_process(entry->d_name, &parent, name) ||
		    parent != getpid())
			continue;
		if (tell)
			printf("# left behind: %s (%d)\n", name, (int)pid);
		kill(pid, SIGKILL);
		if (getpgid(pid) > 0 && getpgid(pid) != getpgrp())
			kill(-getpgid(pid), SIGKILL);
	}
	if (proc != NULL)
		closedir(proc);
}

/* Reaps whoever has ended, and keeps the status of `pid`.  False once there
 * are no children any more. */
static bool
reap(pid_t pid, bool *ended, int *status)
{
	for (;;) {
		int code;
		pid_t who = waitpid(-1, &code, WNOHANG);

		if (who < 0 && errno == ECHILD)
			return false;
		if (who <= 0)
			return true;
		if (who == pid) {
			*ended = true;
			*status = code;
		}
	}
}

/* Waits for a signal, but not beyond `until`; 0 when the time has come. */
static int
wait_signal(const sigset_t *signals, long until)
{
	long left = until - now_ms();
	struct timespec time = { left / 1000, left % 1000 * 1000000 };
	int signal;

	if (left <= 0)
		return 0;
	signal = sigtimedwait(signals, NULL, &time);
	return signal > 0 ? signal : 0;
}

/* What is left has a moment, then it is killed, and told of if the test ended by
 * itself; whether that was needed. */
static bool
end_rest(const sigset_t *signals, bool tell)
{
	long until = now_ms() + seconds("TEST_GRACE", GRACE) * 1000;
	bool ended, killed = false;
	int status;

	while (reap(0, &ended, &status) && now_ms() < until)
		wait_signal(signals, until);
	for (int i = 0; i < 1000 && reap(0, &ended, &status); i++) {
		kill_children(tell && i == 0);
		killed = true;
		wait_signal(signals, now_ms() + 10);
	}
	return killed;
}

static _Noreturn void
become(char **command, const char *directory)
{
	reset_signals();
	reset_files();
	reset_limits();
	setsid();
	reset_environment(directory);
	for (; strchr(*command, '=') != NULL; command++)
		putenv(*command);
	execvp(*command, command);
	fail(*command);
}

/* Waits for the test to end; returns the exit status. */
static int
watch(pid_t pid, const sigset_t *signals, const char *name)
{
	long limit = seconds("TEST_LIMIT", LIMIT),
	     until = now_ms() + limit * 1000;
	bool ended = false;
	int status = 0, signal = SIGCHLD;

	while (signal == SIGCHLD) {
		reap(pid, &ended, &status);
		if (ended)
			break;
		signal = wait_signal(signals, until);
	}
	if (ended) {
		if (end_rest(signals, true) && status == 0)
			return STATUS_ERROR;
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					     WEXITSTATUS(status);
	}
	kill(-pid, SIGTERM);
	end_rest(signals, false);
	if (signal != 0) {
		printf("\nBail out! %s: ended by signal %d\n", name, signal);
		return 128 + signal;
	}
	printf("\nBail out! %s: killed after its limit of %ld s\n", name,
	    limit);
	return STATUS_KILLED;
}

/* A comment of TAP, which lib/costs.sh reads. */
static void
say_cost(long begin)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	printf("# took %.1f s, and %.1f s of processors\n",
	    (double)(now_ms() - begin) / 1000,
	    (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
}

/* --- the two processes ---------------------------------------------------- */

/* Runs the test; the exit status. */
static int
be_warden(char **argv, const char *name, const sigset_t *signals, pid_t first)
{
	char directory[] = "/tmp/sbx-test.XXXXXX";
	long begin = now_ms();
	pid_t pid;
	int status;

	setsid();
	/* Nobody may read any more what it says. */
	signal(SIGPIPE, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0)
		fail("the signal of a parent's death");
	if (getppid() != first)
		return STATUS_ERROR;
	if (mkdtemp(directory) == NULL || chmod(directory, 0755) != 0)
		fail(directory);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		become(argv, directory);
	status = watch(pid, signals, name);
	if (getenv("TEST_COSTS") != NULL)
		say_cost(begin);
	remove_tree(directory);
	return status;
}

/* Until the warden has ended; returns its exit status. */
static int
follow(pid_t warden, const sigset_t *signals)
{
	bool ended = false;
	int status = 0;

	for (;;) {
		int number;

		reap(warden, &ended, &status);
		if (ended)
			break;
		number = sigwaitinfo(signals, NULL);
		if (number > 0 && number != SIGCHLD)
			kill(warden, number);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	end_rest(signals, false);
	return 128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
	static const int watched[] = {
		SIGCHLD,
		SIGHUP,
		SIGINT,
		SIGQUIT,
		SIGTERM,
	};
	char **command;
	sigset_t signals;
	pid_t self = getpid(), warden;

	for (command = argv + 1;
	     *command != NULL && strchr(*command, '=') != NULL; command++)
		putenv(*command);
	if (*command == NULL) {
		fputs("usage: run [NAME=VALUE...] COMMAND [ARGUMENT...]\n",
		    stderr);
		return 2;
	}
	reset_signals();
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
		sigaddset(&signals, watched[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	umask(022);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		fail("subreaper");
	warden = fork();
	if (warden < 0)
		fail("fork");
	if (warden > 0)
		return follow(warden, &signals);
	/* A fork is no subreaper. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		fail("subreaper");
	return be_warden(argv + 1, argv[argc - 1], &signals, self);
}
