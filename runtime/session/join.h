/*
 * A command in a session: sbxrun stays outside as its parent, and starts it by
 * the steps of enter.h.
 */
#ifndef SBX_JOIN_H
#define SBX_JOIN_H

#include "runtime/apply/environment.h"
#include "runtime/base/options.h"
#include "runtime/session/offer.h"
#include "runtime/watch/supervise.h"

#include <signal.h>

struct joining {
	const struct options *options;
	struct arena *arena;
	struct receipt *receipt, *report; /* the latter of --explain=FILE */
	int socket;                       /* to the keeper */
	char **variables;
	/* Filled in on the way. */
	struct offer offer;
	struct binding inside, outside; /* anchors alone */
	struct environment environment;
	struct supervision supervision;
	struct explaining explaining;
	char directory[SBX_MAX_PATH + 1]; /* in the view */
	uint64_t tag;
	bool grouped;         /* the command leads a process group of its own */
	unsigned files;       /* a bit for each stream: see apply/streams.h */
	unsigned null;        /* likewise, the null device */
	const char *paths[3]; /* of the files, in the view */
	int own_input;        /* what standard input was, or -1 */
	int self;             /* a pidfd of this process */
	struct sigaction child; /* what the caller has for SIGCHLD */
	pid_t command;
};

/* Starts the command and stays until it ends; then ends as it did. */
void join_run(struct joining *joining) __attribute__((noreturn));

/* The second half of it: the command runs. */
void join_attend(struct joining *joining) __attribute__((noreturn));

/* Ends what has the command's tag, in rounds, until a round finds nothing;
 * false if there was something to the end, or if process 1, `first`, has a
 * child whose tag cannot be seen. */
bool join_end_all(uint64_t tag, pid_t first);

#endif
