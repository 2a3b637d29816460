/*
 * A process that shares the caller's memory until it has become a command, as
 * that of posix_spawn(3) does.  To copy the memory of a large program takes
 * longer than everything else.
 *
 *	the caller's thread --> [the first --> ] the second --> execve(2)
 *	waits for                sets up         restricts itself
 *	both                     namespaces
 *
 * There is a first one where a user namespace has to be entered: setns(2) wants
 * a process whose file system context nobody shares, and a PID namespace is for
 * children alone.  The second one is a child of the caller nevertheless
 * (CLONE_PARENT), or of nobody, if it is detached.
 *
 * Meanwhile all signals are blocked in the calling thread, so that no handler
 * runs in a process that shares its memory, and the thread waits by system
 * calls without libc, since errno of the processes is its own.  It does not
 * wait with CLONE_VFORK: another command of the sandbox could stop the second
 * process, and who waits in that way can only be killed.
 */
#include "runtime/library/library.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum {
	STACK = 32 << 10, /* of each of the two processes */
	SIGNALS = 64,
	STANDARD_SIGNALS = 31,
	/* How often the caller looks whether the second process was stopped,
	 * and how often it has to find it so. */
	LOOK_NANOSECONDS = 50 * 1000 * 1000,
	STOPPED_LOOKS = 3,
};

enum stage { STAGE_BEGUN, STAGE_READY, STAGE_FAILED };

/* struct clone_args of clone3(2). */
struct clone_arguments {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal;
	uint64_t stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

/* The kernel's struct sigaction, which libc's differs from; this is that of
 * x86_64, the longest one, and all zeros is the default. */
struct kernel_action {
	uintptr_t handler, flags, restorer;
	uint64_t mask;
};

/* --- in the processes ----------------------------------------------------- */

__attribute__((noreturn)) static void
leave(void)
{
	for (;;)
		raw1(SYS_exit_group, 0);
}

static void
fail(struct launch *launch, const char *fault, int error)
{
	launch->fault = fault;
	launch->error = error;
	__atomic_store_n(&launch->stage, STAGE_FAILED, __ATOMIC_RELEASE);
}

static void
second(void *argument)
{
	struct launch *launch = argument;
	const char *fault = launch->become(launch->plan);

	fail(launch, fault, errno);
	leave();
}

/* Without an exit signal, so that neither SIGCHLD nor a wait for any child
 * tells the caller of processes that are none of its commands; execve(2) gives
 * it to the command. */
static long
clone_second(struct launch *launch, unsigned long flags)
{
	char *stack = launch->stacks + STACK;
	struct clone_arguments how = {
		.flags = flags | CLONE_VM | CLONE_CHILD_CLEARTID,
		.pidfd = (uintptr_t)&launch->pidfd,
		.child_tid = (uintptr_t)&launch->alive,
		.stack = (uintptr_t)stack,
		.stack_size = STACK,
		.cgroup = (uint64_t)launch->group,
	};
	long call[6] = { SYS_clone, (long)how.flags, (long)(stack + STACK),
		(long)&launch->pidfd, (long)how.child_tid, 0 };
	long call3[6] = { SYS_clone3, (long)&how, sizeof how, 0, 0, 0 };
	long pid;

#if defined(__aarch64__)
	call[5] = call[4];
	call[4] = 0;
#endif
	if (launch->group >= 0)
		how.flags |= CLONE_INTO_CGROUP;
	how.flags |= CLONE_CLEAR_SIGHAND;
	launch->cleared = true;
	/* The kernel stores it before the call returns, since the first process
	 * may be killed before it could. */
	how.flags |= CLONE_PARENT_SETTID;
	how.parent_tid = (uintptr_t)&launch->pid;
	pid = raw_clone(call3, second, launch);
	if (pid != -ENOSYS && pid != -EPERM && pid != -EINVAL)
		return pid;
	/* Filters of containers often know clone(2) alone, which has one address
	 * for both the pidfd and the number. */
	launch->cleared = false;
	how.flags &= ~CLONE_CLEAR_SIGHAND;
	return raw_clone(launch->group >= 0 ? call3 : call, second, launch);
}

static void
first(void *argument)
{
	struct launch *launch = argument;
	const char *fault = NULL;
	long pid;

	if (launch->enter != NULL)
		fault = launch->enter(launch->plan);
	if (fault != NULL) {
		fail(launch, fault, errno);
		leave();
	}
	/* Its descriptors are the caller's (CLONE_FILES), also the pidfd. */
	pid = clone_second(launch,
	    CLONE_PIDFD | (launch->detached ? 0 : CLONE_PARENT));
	if (pid > 0)
		launch->pid = (pid_t)pid;
	else
		fail(launch, "cannot make a process", (int)-pid);
	leave();
}

void
launch_ready(struct launch *launch)
{
	__atomic_store_n(&launch->stage, STAGE_READY, __ATOMIC_RELEASE);
}

/*
 * With CLONE_CLEAR_SIGHAND no signal has a handler, and only those are left
 * that are ignored.  Nobody tells which these are, and to set all 64 takes a
 * tenth of the time of a whole start; so those for real time are left.
 */
void
launch_signals(const struct launch *launch, bool keep)
{
	static const struct kernel_action standard;
	const uint64_t nothing = 0;
	int last = SIGNALS;

	if (launch->cleared)
		last = keep ? 0 : STANDARD_SIGNALS;
	for (int signal = 1; signal <= last; signal++) {
		struct kernel_action action = { 0, 0, 0, 0 };

		if (keep)
			raw6(SYS_rt_sigaction, signal, 0, (long)&action, 8, 0,
			    0);
		if (action.handler != (uintptr_t)SIG_IGN)
			raw6(SYS_rt_sigaction, signal, (long)&standard, 0, 8, 0,
			    0);
	}
	raw6(SYS_rt_sigprocmask, SIG_SETMASK,
	    (long)(keep ? &launch->mask : &nothing), 0, 8, 0, 0);
}

/* --- in the caller -------------------------------------------------------- */

static void
reap(pid_t pid)
{
	while (raw6(SYS_wait4, pid, 0, __WALL, 0, 0, 0) == -EINTR)
		;
}

/* Whether the second process is in a state that waitid(2) knows. */
static bool
is_now(const struct launch *launch, int state)
{
	siginfo_t info;

	info.si_pid = 0;
	raw6(SYS_waitid, P_PID, launch->pid, (long)&info, state | WNOHANG, 0,
	    0);
	return info.si_pid == launch->pid;
}

static void
wait_for_second(struct launch *launch)
{
	const struct timespec look = { 0, LOOK_NANOSECONDS };
	int stopped = 0;

	while (__atomic_load_n(&launch->alive, __ATOMIC_ACQUIRE) != 0) {
		long result = raw6(SYS_futex, (long)&launch->alive, FUTEX_WAIT,
		    1, (long)&look, 0, 0);

		if (result != -ETIMEDOUT || launch->detached)
			continue;
		stopped = is_now(launch, WSTOPPED | WNOWAIT | __WALL) ?
		    stopped + 1 :
		    0;
		if (stopped == STOPPED_LOOKS)
			raw6(SYS_pidfd_send_signal, launch->pidfd, SIGKILL, 0,
			    0, 0, 0);
	}
}

/* What became of a second process that no longer has our memory.  One that was
 * killed in execve(2) is a child without an exit signal yet. */
static bool
settle(struct launch *launch)
{
	int stage = __atomic_load_n(&launch->stage, __ATOMIC_ACQUIRE);

	if (stage == STAGE_READY &&
	    (launch->detached || !is_now(launch, WEXITED | __WCLONE)))
		return true;
	launch->killed = stage != STAGE_FAILED;
	if (!launch->detached && stage != STAGE_READY)
		reap(launch->pid);
	raw1(SYS_close, launch->pidfd);
	launch->pidfd = -1;
	return false;
}

static bool
run(struct launch *launch)
{
	long call[6] = { SYS_clone, CLONE_VM | CLONE_FILES,
		(long)(launch->stacks + STACK), 0, 0, 0 };
	bool two = launch->enter != NULL || launch->detached;
	long pid = two ? raw_clone(call, first, launch) :
			 clone_second(launch, CLONE_PIDFD);

	if (pid < 0) {
		fail(launch, "cannot make a process", (int)-pid);
		return false;
	}
	if (two)
		reap((pid_t)pid);
	else
		launch->pid = (pid_t)pid;
	/* The first one failed, or was killed. */
	if (two && launch->pid == 0) {
		launch->killed = launch->stage != STAGE_FAILED;
		return false;
	}
	wait_for_second(launch);
	return settle(launch);
}

bool
launch_run(struct launch *launch)
{
	const uint64_t all = ~UINT64_C(0);
	int error = errno;
	bool done;

	launch->pid = 0;
	launch->pidfd = -1;
	launch->fault = NULL;
	launch->error = 0;
	launch->killed = false;
	launch->alive = 1;
	launch->stage = STAGE_BEGUN;
	launch->stacks = malloc(2 * STACK);
	if (launch->stacks == NULL) {
		fail(launch, "no memory", ENOMEM);
		return false;
	}
	raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&launch->mask,
	    8, 0, 0);
	done = run(launch);
	raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&launch->mask, 0, 8, 0, 0);
	free(launch->stacks);
	errno = error;
	return done;
}
