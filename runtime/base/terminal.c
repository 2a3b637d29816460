/*
 * The controlling terminal, and which process group it belongs to.
 */
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* Of a terminal that is not this session's the kernel does not say it. */
static bool
controls(int fd)
{
	return tcgetpgrp(fd) >= 0;
}

int
terminal_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (controls(fd))
			return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	}
	/* All three may lead elsewhere. */
	return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

bool
terminal_is_ours(int terminal)
{
	return terminal >= 0 && tcgetpgrp(terminal) == getpgrp();
}

bool
terminal_is_handed_on(int terminal)
{
	return terminal_is_ours(terminal) && controls(STDIN_FILENO) &&
	    controls(STDOUT_FILENO);
}

/* A process of another group may do it only if SIGTTOU cannot stop it. */
void
terminal_take(int terminal)
{
	sigset_t set, former;

	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &former);
	tcsetpgrp(terminal, getpgrp());
	sigprocmask(SIG_SETMASK, &former, NULL);
}

void
terminal_take_back(int terminal)
{
	pid_t group = terminal < 0 ? -1 : tcgetpgrp(terminal);

	if (group > 1 && kill(-group, 0) != 0 && errno == ESRCH)
		terminal_take(terminal);
}
