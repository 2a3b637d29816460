/*
 * The keeper of a session: the supervisor of its process 1, detached from who
 * started it.  It hands out the offer (offer.h), answers trapped system calls,
 * and ends the session: when it is asked to, when nothing has run for a while,
 * when the socket or the process is gone that it was made for.
 *
 *	caller --> sbxrun, joins -----> the command
 *	               :  (asks)          : (is in the namespaces of)
 *	           keeper ------------> process 1
 *
 * When the keeper is killed, the kernel kills process 1, and with it everything
 * inside.
 */
#ifndef SBX_KEEPER_H
#define SBX_KEEPER_H

#include "runtime/watch/supervise.h"

struct keeping {
	const char *name; /* NULL: the session has none, and no socket */
	const char
	    *scratch;   /* its own directory, removed at the end, or NULL */
	int connection; /* of whom it was made for */
	bool lives;     /* and only as long as that is open */
	int parent;     /* pidfd of the process it ends with, or -1 */
	uint64_t idle;  /* seconds; 0: for ever */
	int handover;   /* to process 1 */
	pid_t first;
	int ready; /* a pipe for a byte when the session can be joined; or -1 */
	struct supervision *supervision;
};

/* Does not return.  Process 1 has been forked, and will send its handover. */
void keeper_stay(const struct keeping *keeping) __attribute__((noreturn));

#endif
