/*
 * Whether there can be a listener.  It must be known before the filter is
 * chosen, for the filter of a run without one is another one.
 */
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/listen/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum trial {
	TRIAL_POSSIBLE,
	TRIAL_UNCOPIED,
	TRIAL_BUSY,
	TRIAL_BLOCKED,
	TRIAL_OTHER
};

/* In a process that ends at once, because a filter stays. */
static enum trial
try_listener(void)
{
	static const struct sbx_insn allow = { 6 /* ret */, 0, 0,
		SECCOMP_RET_ALLOW };
	struct sock_fprog filter = { 1, &allow };
	char byte = 0, copy;
	struct iovec from = { &byte, 1 }, to = { &copy, 1 };
	bool copies;
	int pidfd;

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1)
		return TRIAL_BLOCKED;
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	copies = pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, pidfd, 0) >= 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return TRIAL_OTHER;
	if (seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		&filter) >= 0)
		return copies ? TRIAL_POSSIBLE : TRIAL_UNCOPIED;
	return errno == EBUSY ? TRIAL_BUSY : TRIAL_OTHER;
}

/* Whoever is under a filter already may be under a listener, or may be kept
 * from looking into the command. */
static struct listen_obstacles
obstacles_of_filters(void)
{
	static const char blocked[] =
	    "a filter keeps sbxrun from looking into the command";
	static const char busy[] = "another supervisor listens already";
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(try_listener());
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status))
		refuse(NULL, "cannot try a seccomp listener", errno);
	switch (WEXITSTATUS(status)) {
	case TRIAL_POSSIBLE:
		return (struct listen_obstacles){ NULL, NULL, false };
	case TRIAL_UNCOPIED:
		return (struct listen_obstacles){ NULL,
			"a filter keeps sbxrun from the command's descriptors "
			"(pidfd_getfd)",
			false };
	case TRIAL_BUSY:
		return (struct listen_obstacles){ busy, busy, true };
	case TRIAL_BLOCKED:
		return (struct listen_obstacles){ blocked, blocked, false };
	default:
		refuse(NULL, "cannot try a seccomp listener", 0);
	}
}

struct listen_obstacles
listen_obstacles(void)
{
	static const char yama[] = "kernel.yama.ptrace_scope keeps sbxrun from "
				   "looking into the command";
	char scope[8];

#ifdef SBX_TESTING
	if (getenv("SBX_TEST_NO_LISTENER") != NULL)
		return (struct listen_obstacles){ "the test says so",
			"the test says so", false };
#endif
	/* Yama's 2 and 3 keep a parent from looking into its children. */
	if (file_read(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", scope,
		sizeof scope) &&
	    *scope >= '2')
		return (struct listen_obstacles){ yama, yama, false };
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
		return obstacles_of_filters();
	return (struct listen_obstacles){ NULL, NULL, false };
}
