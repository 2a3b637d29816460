/* What a session offers to who joins it, and how both know each other. */
#ifndef SBX_RUNTIME_SESSION_OFFER_H
#define SBX_RUNTIME_SESSION_OFFER_H

#include "format/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* --- guard.c ----------------------------------------------------------- */

enum guard {
	GUARD_TERMINAL, /* O_ASYNC */
	GUARD_GROUP,    /* that and kill(0, ...) */
	GUARD_END,
};

enum { GUARD_SIZE = 14 /* instructions */ };

/* Writes the program, which has room for GUARD_SIZE instructions more than the
 * policy's; returns how many there are. */
uint32_t guard_filter(enum guard guard, const struct sbx_insn *bpf,
    const struct sbx_program *program, struct sbx_insn *insns);

/* --- offer.c ----------------------------------------------------------- */

#define SESSION_MAGIC "sbx:ses1"

enum session_kind {
	SESSION_JOIN,    /* asks for the offer */
	SESSION_CONNECT, /* asks for a connection of its own */
	SESSION_LOOK,    /* asks what the session does */
	SESSION_END,     /* asks it to end */
	SESSION_LEAVE,   /* asks it to be found no more, and to end when nothing
	                  * runs in it */
	SESSION_LISTENER, /* brings a seccomp listener; is not answered */
	SESSION_ASKER,    /* brings a socket to who is asked about names; is not
	                   * answered */
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
	OFFER_SERVERS, /* for the keeper alone, if it listens: listen/servers.c */
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
	/* The policy's filter with a guard before it (guard.c); `first` counts
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
	struct offer_text agent;   /* of ssh, if a rule opens it; "" */
	struct offer_text trust;   /* a directory of network/tls.c; "" */
	struct offer_text secrets; /* variables of network/secrets.c; "" */
	struct offer_text policy;  /* as it was named */
	struct offer_text name;    /* of the session; "" */
	struct offer_text stage; /* the name of the stage; "": there is none */
	char digest[72];         /* of the policy, in hexadecimal */
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

/* --- enter.c ----------------------------------------------------------- */

/* The process that starts a command.  `marked`: in a UTS namespace of its own,
 * which the command and all that it starts share: that is how they are told
 * from other processes. */
const char *enter_process(const struct offer *offer, bool marked);

/* The command's process.  `directory` is a path of the session's view; NULL:
 * its root. */
const char *enter_place(const struct offer *offer, const char *directory);

/* In the view's mounts: opens a standard stream again by its path there, a file
 * for reading alone.  A descriptor of outside leads past the mounts of the
 * view. */
const char *enter_stream(int fd, const char *path);

/*
 * Takes all rights away for good.  `socket` leads to the keeper: there goes the
 * seccomp listener, where the policy has calls to be answered.  `guarded`:
 * where the command stays in the process group of its caller, it gets EPERM for
 * kill(0, ...), which would reach processes outside.
 */
const char *enter_restricted(const struct offer *offer, int socket,
    bool guarded);

/* Its steps, for who installs another filter: all of it but the filter, and
 * that. */
const char *enter_confined(const struct offer *offer);
const struct sbx_program *enter_filter(const struct offer *offer, bool guarded);

/* Where a directory of outside is in the session's view: in the scratch
 * directory it is below /tmp.  False if there is no room. */
bool enter_directory(const struct offer *offer, const char *outside,
    char *inside, size_t size);

/* Why a command must not start in a directory that it has just entered in the
 * view, where `outside` is what its path leads to outside: what was replaced since
 * the session was made would be another one.  NULL: it may, as everywhere in a
 * workspace that is staged, which is meant to be another one. */
const char *enter_fault(const struct offer *offer, const char *directory,
    const struct stat *outside);

/* The tag that a link of /proc tells, "ns/uts" in the directory of a process;
 * 0: it cannot be read. */
uint64_t tag_of(int directory, const char *path);

/* --- peer.c ------------------------------------------------------------ */

/* How confined a process is: what its /proc/PID/status says of no_new_privs and
 * of filters. */
struct standing {
	char text[96]; /* "": it cannot be read */
};

extern const char peer_unknown[]; /* what is wrong then, of this process */

void standing_read(struct standing *standing, const char *process);

/*
 * NULL if the process that called connect(2), or for a keeper listen(2), is
 * alive, of the same user, and as confined as `own`, or as this process if that
 * is NULL.  Of a keeper, for whoever has a pidfd of itself: and in the same
 * namespaces.  Else what is wrong, with errno or 0.
 */
const char *peer_fault(int socket, const struct standing *own, int self);

/* The number of the UTS namespace of this process; 0: it cannot be told. */
uint64_t peer_own_tag(int self);

/* Its number.  From here on what it sends tells who sends it. */
pid_t peer_process(int socket);

/* Whether that process has ended. */
bool peer_is_gone(int socket);

/*
 * Whether a process that is not reaped runs, or may.  One that is ending has no
 * memory any more, while the kernel has process 1 of a namespace wait for all
 * others to end: nothing new starts then, and its pidfd does not yet say that it
 * has ended.
 */
bool process_runs(pid_t process);

#endif
