/*
 * The signals that sbxrun's own processes take from a descriptor, because they
 * are meant for the command.
 */
#ifndef SBX_SIGNALS_H
#define SBX_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

/* What signals_block() changes, and the command must find unchanged. */
struct former_signals {
	sigset_t mask;
	struct sigaction child;
};

/* What is sent from now on waits for the descriptor: a process that forks the
 * command may be sent something before it has opened one. */
void signals_block(struct former_signals *former);

/* Blocks the signals, too, and returns the descriptor on which they arrive;
 * SIGPIPE is blocked, but never arrives. */
int signals_open(struct former_signals *former);

/* Puts everything back as it was, in the command. */
void signals_restore(const struct former_signals *former);

/* Whether a signal was sent to this process alone: one of the terminal has
 * reached the whole job. */
bool signal_is_for_us_alone(const struct signalfd_siginfo *info);

#endif
