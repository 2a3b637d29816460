/*
 * What the keeper of a session hands to whoever joins it: the namespaces, the
 * ruleset of Landlock, and a sealed file with everything else that was decided
 * when the session was made.  It is one message over a socket:
 *
 *	joiner: struct session_request  -->  keeper
 *	joiner  <--  struct session_reply, and descriptors (SCM_RIGHTS)
 *
 * The file is a struct offer_head, texts, and the bytes of the policy.
 *
 * Nothing here ends the program, writes, or allocates: libsbx uses it inside of
 * other people's programs.  A function that can fail gives NULL, or a text that
 * says what it could not do, with errno or 0.
 */
#ifndef SBX_OFFER_H
#define SBX_OFFER_H

#include "format/blob.h"
#include "runtime/session/guard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SESSION_MAGIC "sbx:ses1"

enum session_kind {
	SESSION_JOIN,    /* asks for the offer */
	SESSION_CONNECT, /* asks for a connection of its own */
	SESSION_LOOK,    /* asks what the session does */
	SESSION_END,     /* asks it to end */
	SESSION_LEAVE,   /* asks it to be found no more, and to end when nothing
	                  * runs in it */
	SESSION_LISTENER, /* brings a seccomp listener; is not answered */
	SESSION_NETWORK,  /* asks what was decided about it since the join */
	/* The answers that are not of the kind that was asked for. */
	SESSION_REFUSED,
	SESSION_NONE, /* below level full there is no session */
	SESSION_OVER, /* it is ending; also if the keeper ended unheard */
};

enum session_network {
	SESSION_WITHOUT, /* nothing of it goes through sbx-proxy */
	SESSION_OPEN,
	SESSION_SHUT, /* sbx-proxy kept ending */
};

/* Both ends must be of the same build: the version and the sizes say so. */
struct session_stamp {
	char magic[8];
	char version[24];
	uint32_t sizes;
	uint32_t kind; /* enum session_kind */
};

struct session_request {
	struct session_stamp stamp;
};

struct session_reply {
	struct session_stamp stamp;
	uint32_t
	    descriptors; /* a bit for each enum offer_descriptor that comes */
	int32_t first;   /* process 1 of the session, as the keeper sees it */
	int32_t keeper;
	uint32_t commands; /* of SESSION_LOOK: how many run */
	uint32_t listens;  /* from process 1: the filter has a listener */
	uint32_t moved;    /* and the scratch directory is seen as /tmp */
	/* Of SESSION_JOIN and SESSION_NETWORK, where single hosts are allowed: */
	uint32_t network; /* enum session_network */
	uint32_t losses;  /* of sbx-proxy, that ended by itself */
	uint32_t decided; /* what comes is a file with this many decisions */
	uint32_t shared;  /* there were other commands meanwhile */
	uint64_t beyond;  /* decisions of which no more is known */
	uint64_t idle;  /* seconds since there was a process; 0: there is one */
	char text[256]; /* why it was refused */
};

/* In the order in which they are sent. */
enum offer_descriptor {
	OFFER_FILE,    /* the sealed file */
	OFFER_RULESET, /* of Landlock */
	OFFER_MOUNT,   /* the namespaces */
	OFFER_PID,
	OFFER_IPC,
	OFFER_NETWORK, /* not where the session is in the caller's */
	OFFER_USER,    /* not where root made the session without one */
	OFFER_GROUP,   /* the directory of the control group, if there is one */
	/* For the keeper alone: */
	OFFER_SERVERS,  /* if it listens: see listen/servers.h */
	OFFER_CHILDREN, /* the kernel's list of the children of process 1 */
	OFFER_END,
};

/* A text in the file; a NUL follows it. */
struct offer_text {
	uint32_t at, len;
};

/* A bound rule in the file, with its exclusions among the places. */
struct offer_rule {
	struct offer_text at;
	uint32_t exclusions, exclusion_count;
	uint32_t source;
	uint16_t effect, rights;
};

struct offer_head {
	struct session_stamp stamp;
	uint32_t size; /* of the file */
	uint32_t blob_at, blob_size;
	/* The blob as process 1 has verified it, whose bytes were at blob.base:
	 * to verify it again would take longer than all the rest. */
	struct sbx_blob blob;
	uint32_t level;   /* enum sbx_level: full */
	uint32_t network; /* enum own_network */
	/* The policy's filter with a guard before it (guard.h); `first` counts
	 * from filters_at. */
	struct sbx_program filters[GUARD_END];
	uint32_t filters_at;
	/* For --explain, as it was bound outside: first the rules about paths,
	 * then those about sockets; and places, of which the last are links. */
	uint32_t rules_at, rule_count, socket_count;
	uint32_t places_at, place_count, link_count;
	uint32_t listens; /* the policy's filter has calls for the keeper */
	uint32_t moved;   /* the scratch directory is seen as /tmp */
	uint32_t restrict_flags; /* for landlock_restrict_self(2) */
	uint32_t held;           /* see confine_resources() */
	uint32_t has_null;       /* the view has a null device */
	uint32_t limit_count;
	struct sbx_limit limits[SBX_LIMIT_END]; /* with those of --limit */
	/* The anchors as they are inside, where scratch is /tmp. */
	struct offer_text anchors[SBX_MAX_ANCHORS];
	uint8_t bound[SBX_MAX_ANCHORS];
	/* What stood there when the session was made; an inode of 0: the view
	 * alone has the place. */
	uint64_t device[SBX_MAX_ANCHORS], inode[SBX_MAX_ANCHORS];
	/* Where that is outside, if it was moved; the other home; and the
	 * repository of the workspace, if it lies elsewhere. */
	struct offer_text scratch, other_home, git;
	struct offer_text agent;  /* of ssh, if a rule opens it; "" */
	struct offer_text policy; /* as it was named */
	struct offer_text name;   /* of the session; "" */
	char digest[72];          /* of the policy, in hexadecimal */
};

/* An offer that was received. */
struct offer {
	const struct offer_head *head; /* the file, mapped */
	struct sbx_blob blob;          /* in there, as the next */
	const struct sbx_insn *filters;
	int descriptors[OFFER_END]; /* -1: there is none */
	struct session_reply reply; /* that it came with */
};

/* No offer; offer_close() makes it that again. */
void offer_none(struct offer *offer);
void offer_close(struct offer *offer);

void session_stamp(struct session_stamp *stamp, enum session_kind kind);
/* NULL if the other end is of the same build. */
const char *session_stamp_fault(const struct session_stamp *stamp);

/* Sends a request; `fd`: a descriptor that goes with it, or -1. */
const char *session_ask(int socket, enum session_kind kind, int fd);

/* Receives a reply and up to OFFER_END descriptors, all -1 where none came.
 * What was refused is the fault, with reply->text. */
const char *session_hear(int socket, struct session_reply *reply,
    int descriptors[OFFER_END]);

/* Asks for the offer and maps it; offer_take() does without asking. */
const char *offer_receive(int socket, struct offer *offer);
const char *offer_take(int socket, struct offer *offer);

/* Maps the file of an offer that has its descriptors. */
const char *offer_map(struct offer *offer);

/* The text in the file. */
const char *offer_text(const struct offer *offer, struct offer_text text);

/* The keeper's side.  session_requested(): a request, and the descriptor that
 * came with it, or -1; false if the connection is closed, or was not used as it
 * is to be.  The sender is 0 where the socket does not want to know it
 * (SO_PASSCRED).  session_reply() sends the descriptors that are not -1. */
bool session_requested(int socket, struct session_request *request, int *came,
    pid_t *sender);
const char *session_reply(int socket, struct session_reply *reply,
    const int descriptors[OFFER_END]);

/* A reply that is no more than its kind and a text, or NULL.  False: it could
 * not be sent; who waits for it then has to see the end of the connection. */
bool session_answer(int socket, enum session_kind kind, const char *text);
/* Refuses whoever is there, and closes the connection. */
void session_turn_away(int socket, const char *text);

#endif
