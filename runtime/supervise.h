/*
 * Level full has three processes: the supervisor, which is the process that
 * was started as sbxrun and stays outside; process 1 of the new process
 * namespace, which reaps; and the command.
 *
 *	sbxrun --namespaces--> process 1 --fork--> confine, exec the command
 *	   ^  status, stops       |  ^  status, stops    |
 *	   +----------------------+  +-------------------+
 *
 * A person at the terminal notices nothing: signals that are sent to sbxrun
 * reach the command, those of the terminal reach it anyway, the job stops and
 * goes on as one, and sbxrun ends as the command ended, by a signal too.  When
 * any of the first two ends, the kernel kills everything inside.
 */
#ifndef SBX_SUPERVISE_H
#define SBX_SUPERVISE_H

#include <sys/types.h>

/* The channel from process 1 to the supervisor, made before they part. */
struct channel {
	int read, write;
};

void channel_open(struct channel *channel);
void channel_close(struct channel *channel);

/* In the supervisor: stays until process 1 ends, then ends in the same way. */
__attribute__((noreturn))
void supervise(struct channel *channel, pid_t first);

/*
 * In process 1: forks.  Returns in the child, which is to become the command;
 * the parent stays until the child ends, tells the supervisor and ends.
 */
void supervise_first(struct channel *channel);

#endif
