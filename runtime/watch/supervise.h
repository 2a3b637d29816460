/*
 * A supervised command has two processes of sbxrun above it: the supervisor,
 * which is the process that was started as sbxrun, and the first process of the
 * sandbox, which ends everything that the command has started.
 *
 *	sbxrun --fork--> the first --fork--> confine, exec the command
 *	   ^  status, stops  |  ^  status, stops  |
 *	   +-----------------+  +-----------------+
 *	   ^  standard output and error           |
 *	   +--------------------------------------+
 *
 * At level full the first is process 1 of the new namespaces, and the kernel
 * kills everything inside when it ends.  Below, it is a subreaper: it becomes
 * the parent of what the command's children leave behind, and kills that.
 *
 * The first leads a process group, in which the command starts.  So whoever
 * kills the group of sbxrun kills the supervisor alone, and the first then ends
 * the rest; what is sent to that group reaches the command once, through both;
 * and kill(0, ...) of the command stays inside.  Of a terminal, the group of the
 * command is the foreground group while that of sbxrun would be it, and the first
 * says which keys it saw, for the others of sbxrun's group.
 *
 * At a terminal it looks as if the command had been started directly: it gets
 * the signals that are sent to sbxrun, and those of the terminal; the job stops
 * and continues as one; and sbxrun ends as the command ends, by a signal too.
 *
 * The command can stop the supervisor where it has the terminal, by stopping the
 * job or by reading from a terminal that it has given away; elsewhere a stop is
 * its own.  Therefore both processes check the time.  Nothing inside can stop the
 * first one, which can end the command alone, and a timer continues the
 * supervisor.
 *
 * If the command has a control group, the first process makes it and the
 * supervisor, which outlives everything inside, removes it.  If the supervisor
 * is killed, the first one removes it, so it must not die at the same time.
 */
#ifndef SBX_SUPERVISE_H
#define SBX_SUPERVISE_H

#include "runtime/listen/listen.h"
#include "runtime/network/network.h"
#include "runtime/watch/cgroup.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/relay.h"
#include "runtime/watch/term.h"
#include "runtime/watch/tripwire.h"

#include "format/blob.h"

#include <sys/types.h>
#include <time.h>

struct supervision {
	bool on;          /* there are the two processes */
	bool namespaces;  /* the first one is process 1 */
	bool own_input;   /* in there, standard input has its own position */
	bool handed_on;   /* the terminal is the command's from the start */
	int terminal;     /* the controlling one, or -1 */
	int read, write;  /* the pipe from the first one to the supervisor */
	uint64_t timeout; /* seconds; 0: none */
	uint64_t grace;   /* seconds between TERM and KILL */
	uint64_t output;  /* bytes of a stream; 0: no cap */
	struct timespec begin;
	uint64_t tasks; /* that the user has at most, where it was tried */
	struct relay relay;
	struct listening listening;
	struct servers servers; /* for the listening ones, of this sandbox */
	struct cgroup group;
	struct receipt *receipt;   /* NULL: none is wanted */
	struct tripwire *tripwire; /* NULL: nothing is watched */
	/* --explain: who is told, beside the person, or NULL; and why nothing
	 * is explained, or NULL. */
	struct receipt *report;
	bool explains, explain_all, explain_agent;
	bool verbose; /* -v: says how the command ended */
	const char *why_untraced;
	struct receipt *learned; /* --learn: where it is written, or NULL */
	char *const *command;    /* what runs */
	const struct binding *anchored; /* without rules */
	/* A pipe on which the command says that it is confined. */
	int started_read, started_write;
	const struct sbx_blob *blob; /* which has the limits */
	struct network network;      /* large, and rarely used */
};

/* A message to the supervisor; a write to a pipe of so few bytes is atomic. */
struct message {
	bool started;  /* it was confined, and the receipt says so */
	bool late;     /* its time is over */
	int key;       /* the signal that a key of the terminal sent, or 0 */
	int status;    /* of the command, as wait(2) gives it */
	int64_t input; /* the position in standard input, or -1 */
	struct timespec at; /* CLOCK_MONOTONIC */
};

/* Fills in the limits that a supervisor enforces. */
void supervise_limits(struct supervision *supervision,
    const struct sbx_blob *blob);

/* The shortest time, and no grace, whatever the policy says. */
void supervise_briefly(struct supervision *supervision);

/* Opens the pipes that both processes need, and closes them; the first alone
 * opens the one on which the command says that it is confined. */
void supervise_open_started(struct supervision *supervision);
void supervise_open(struct supervision *supervision);
void supervise_close(struct supervision *supervision);

/* Why nobody can supervise a command below level full; NULL: it can be done. */
const char *supervise_obstacle(void);

/* In the supervisor: stays until the first one ends, then ends as the command
 * did, or with 124 if its time was over. */
void supervise(struct supervision *supervision, pid_t first)
    __attribute__((noreturn));

/* In the first one: the control group, where the policy has limits for it and
 * there can be one. */
void supervise_group(struct supervision *supervision,
    const struct sbx_blob *blob, uint32_t wanted);

/*
 * In the first one: forks.  Returns in the child, which is to become the
 * command; the parent stays until the child ends, tells the supervisor, kills
 * what is left and ends.
 */
void supervise_first(struct supervision *supervision);

/* In the command: it is confined, and executes next. */
void supervise_started(const struct supervision *supervision);

#endif
