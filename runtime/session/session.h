/* The keeper of a session, and commands that join it. */
#ifndef SBX_RUNTIME_SESSION_SESSION_H
#define SBX_RUNTIME_SESSION_SESSION_H

#include "runtime/apply/apply.h"
#include "runtime/base/options.h"
#include "runtime/inspect/inspect.h"
#include "runtime/listen/listen.h"
#include "runtime/network/network.h"
#include "runtime/session/offer.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/supervise.h"

#include <signal.h>
#include <stdint.h>

/* --- ask.c ------------------------------------------------------------- */

/* --end, --check and --sessions; ends the program. */
void ask_run(const struct options *options) __attribute__((noreturn));

/* A connection to a session, whose keeper is what it seems to be and has been
 * asked this; -1: there is none.  Refuses (125) where it cannot be reached.
 * `self`: a pidfd of this process. */
int ask_connect(const char *name, enum session_kind kind, int self);

/* Such a pidfd. */
int ask_self(void);

/* --- join.c ------------------------------------------------------------ */

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
	bool sees_log;
	uint64_t tag;
	unsigned files;       /* a bit for each stream: see apply/streams.c */
	unsigned null;        /* likewise, the null device */
	const char *paths[3]; /* of the files, in the view */
	struct staging stage; /* that is told of at the end */
	int own_input;        /* what standard input was, or -1 */
	int self;             /* a pidfd of this process */
	struct former_signals former; /* what the command is to have */
	/* From before anything is started on, signals wait for this. */
	struct watch watch;
};

/* Starts the command and stays until it ends; then ends as it did. */
void join_run(struct joining *joining) __attribute__((noreturn));

/* Waits for the descriptor, which the command's process closes or writes to when
 * it starts; false if it has not: its time is over, or sbxrun was asked to end. */
bool join_hear(struct joining *joining, int fd);

/* The second half of it: the command runs. */
void join_attend(struct joining *joining) __attribute__((noreturn));

/* --- decided.c --------------------------------------------------------- */

/* In the keeper: where a command begins. */
struct beginning {
	uint64_t decided;
	bool shared;
};

/* Fills in what an answer says of the network. */
void decided_state(const struct network *network, struct session_reply *reply);

/* Answers SESSION_NETWORK; false if that could not be sent. */
bool decided_answer(struct network *network, int socket,
    const struct beginning *beginning);

/* In sbxrun, before the command starts and when it has ended: says what there
 * is to say, and fills in the decisions of the session's network. */
void decided_begin(const struct joining *joining);
void decided_ask(struct joining *joining);

/* --- handover.c -------------------------------------------------------- */

struct handover {
	struct arena *arena;
	const struct plan *plan;
	const char *name; /* of the session, or "" */
	const void *policy;
	size_t policy_size;
	uint32_t held; /* see confine_resources() */
	int ruleset;
	int group; /* the directory of the control group, or -1 */
	const struct listening *listening;
	const struct staging *stage; /* NULL: nothing is staged */
	int namespaces[OFFER_END];
};

/* Opens the namespaces of the calling process, while there is a /proc.  `user`:
 * it has a user namespace of its own. */
void handover_namespaces(struct handover *handover, bool user);

/* Sends it; refuses (125) what cannot be sent. */
void handover_send(const struct handover *handover, int socket);

/* --- keeper.c ---------------------------------------------------------- */

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

/* --- sockets.c --------------------------------------------------------- */

/* These give -1 and errno where they fail. */

/* The directory, if there is one. */
int sockets_open(void);

/* The directory, made if it is missing, with its lock; closing it gives the
 * lock back. */
int sockets_lock(void);

/* Gives the lock back, and removes the directory if it is empty. */
void sockets_unlock(int directory);

/* A connection to the session; ENOENT, ECONNREFUSED: there is none. */
int sockets_connect(int directory, const char *name);

/* A socket that listens, in place of one that nobody listens on any more.  The
 * caller has the lock. */
int sockets_listen(int directory, const char *name);

/* The inode of a session's socket, or 0.  sockets_remove() takes the lock, and
 * removes the socket if it still is that one: a socket that refuses connections
 * may have been replaced.  sockets_clean() removes one whose keeper was
 * killed. */
uint64_t sockets_inode(int directory, const char *name);
void sockets_remove(const char *name, uint64_t inode);
void sockets_clean(const char *name);

/* --- traced_join.c ----------------------------------------------------- */

/* Whether the command is to be explained and can be.  If it cannot, a line says
 * why, and it runs without. */
void traced_join_prepare(struct joining *joining);

/* In the command, in place of enter_restricted(). */
void traced_join_restrict(struct joining *joining);

#endif
