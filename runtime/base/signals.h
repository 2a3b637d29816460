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

/* Whether the signals that stop a job are among them: where the command leads a
 * job of its own. */
enum job_signals { WITHOUT_STOPS, WITH_STOPS };

/* What is sent from now on waits for the descriptor: a process that forks the
 * command may be sent something before it has opened one. */
void signals_block(struct former_signals *former, enum job_signals which);

/* Blocks the signals, too, and returns the descriptor on which they arrive;
 * SIGPIPE is blocked, but never arrives. */
int signals_open(struct former_signals *former, enum job_signals which);

/* Puts everything back as it was, in the command. */
void signals_restore(const struct former_signals *former);

/* Whether a signal was sent to this process alone: one of the terminal has
 * reached the whole job. */
bool signal_is_for_us_alone(const struct signalfd_siginfo *info);

/* Whether the terminal sent it, by a key, say: no process can feign that. */
bool signal_is_of_terminal(const struct signalfd_siginfo *info);

/* Whether it asks a program to end. */
bool signal_ends(int number);

#endif
