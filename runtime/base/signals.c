#include "runtime/base/signals.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/*
 * Signals that are sent to sbxrun and meant for the command.  TSTP, TTIN and
 * TTOU are not caught: they stop the supervisor itself.
 */
static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
	SIGUSR2, SIGWINCH, SIGCONT };

/* Fills the set with what the descriptor tells of. */
static void
fill(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
		sigaddset(set, forwarded[i]);
	sigaddset(set, SIGCHLD);
}

/* A blocked signal stays pending for signalfd, even one that is ignored by
 * default, such as SIGCHLD and SIGWINCH. */
void
signals_block(struct former_signals *former)
{
	/* If SIGCHLD is ignored, children leave no status. */
	static const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t blocked;

	fill(&blocked);
	/* write(2) says when the reader is gone. */
	sigaddset(&blocked, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &blocked, &former->mask) != 0 ||
	    sigaction(SIGCHLD, &standard, &former->child) != 0)
		refuse(NULL, "cannot block signals", errno);
}

int
signals_open(struct former_signals *former)
{
	sigset_t set;
	int fd;

	signals_block(former);
	fill(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		refuse(NULL, "cannot watch signals", errno);
	return fd;
}

void
signals_restore(const struct former_signals *former)
{
	if (sigaction(SIGCHLD, &former->child, NULL) != 0 ||
	    sigprocmask(SIG_SETMASK, &former->mask, NULL) != 0)
		refuse(NULL, "cannot restore the signal mask", errno);
}

bool
signal_is_for_us_alone(const struct signalfd_siginfo *info)
{
	/* When a terminal hangs up, only the leader of the session is told. */
	if (info->ssi_signo == SIGHUP && getsid(0) == getpid())
		return true;
	return info->ssi_code <= 0; /* SI_USER, SI_QUEUE, SI_TKILL */
}
