/*
 * Process 1 of a session.  It starts nothing: it becomes the parent of what
 * commands leave behind, and when it ends the kernel kills everything inside.
 */
#include "runtime/session/session.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LOOK_AGAIN = 20, /* milliseconds */
};

static void
reap(void)
{
	int status;

	while (waitpid(-1, &status, WNOHANG) > 0)
		;
}

/* The group outlives everything inside, so it is removed here if nobody else
 * is left to do that. */
__attribute__((noreturn)) static void
end_alone(const struct cgroup *group)
{
	int status;

	if (group->own >= 0) {
		kill(-1, SIGKILL);
		while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
			;
		cgroup_remove(group);
	}
	_exit(EXIT_REFUSED);
}

int
reaper_watch(void)
{
	sigset_t set;
	int fd;

	/* No process inside may trace this one, or read its /proc/1, however
	 * soon it joins. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sigfillset(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		refuse(NULL, "cannot block signals", errno);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		refuse(NULL, "cannot watch signals", errno);
	return fd;
}

void
reaper_stay(int children, int keeper, const struct cgroup *group)
{
	struct signalfd_siginfo info;
	struct pollfd wait[] = {
		{ .fd = children, .events = POLLIN },
		{ .fd = keeper, .events = POLLIN },
	};
	const int kept[] = { children, keeper, group->parent };
	bool ending = false;
	char byte;

	descriptors_keep(kept, sizeof kept / sizeof *kept);
	for (;;) {
		reap();
		if (ending && kill(-1, 0) != 0 && errno == ESRCH)
			_exit(0);
		if (poll(wait, 2, ending ? LOOK_AGAIN : -1) < 0 &&
		    errno != EINTR)
			end_alone(group);
		while (read(children, &info, sizeof info) == sizeof info)
			;
		if ((wait[1].revents & POLLIN) != 0 &&
		    recv(keeper, &byte, 1, MSG_DONTWAIT) == 1 && !ending) {
			ending = true;
			kill(-1, SIGTERM);
			kill(-1, SIGCONT);
		} else if ((wait[1].revents & POLLHUP) != 0) {
			end_alone(group);
		}
	}
}
