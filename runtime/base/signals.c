/*
 * The signals that sbxrun's own processes take from a descriptor, because they
 * are meant for the command.
 */
#include "runtime/base/kernel.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Signals that are sent to sbxrun and meant for the command. */
static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
	SIGUSR2, SIGWINCH, SIGCONT, SIGCHLD };
static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };

/* Fills the set with what the descriptor tells of. */
static void
fill(sigset_t *set, enum job_signals which)
{
	sigemptyset(set);
	for (size_t i = 0; i < countof(forwarded); i++)
		sigaddset(set, forwarded[i]);
	for (size_t i = 0; i < countof(stops); i++) {
		if (which == WITH_STOPS)
			sigaddset(set, stops[i]);
	}
}

static void
do_nothing(int number)
{
	(void)number;
}

void
signals_begin(void)
{
	/* execve(2) takes it back. */
	static const struct sigaction nothing = { .sa_handler = do_nothing };
	struct sigaction former;

	if (sigaction(SIGXFSZ, &nothing, &former) == 0 &&
	    former.sa_handler == SIG_IGN)
		sigaction(SIGXFSZ, &former, NULL);
}

/* A blocked signal stays pending for signalfd, even one that is ignored by
 * default, such as SIGCHLD and SIGWINCH. */
void
signals_block(struct former_signals *former, enum job_signals which)
{
	/* If SIGCHLD is ignored, children leave no status. */
	static const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t blocked;

	fill(&blocked, which);
	/* write(2) says when the reader is gone. */
	sigaddset(&blocked, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &blocked, &former->mask) != 0 ||
	    sigaction(SIGCHLD, &standard, &former->child) != 0)
		refuse(NULL, "cannot block signals", errno);
}

int
signals_open(enum job_signals which)
{
	struct former_signals blocked;
	sigset_t set;
	int fd;

	signals_block(&blocked, which);
	fill(&set, which);
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

bool
signal_is_of_terminal(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_KERNEL;
}

bool
signal_ends(int number)
{
	return number == SIGHUP || number == SIGINT || number == SIGQUIT ||
	    number == SIGTERM;
}
