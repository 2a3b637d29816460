/* Ways out of a network of the sandbox's own, and starting sbx-proxy. */
#ifndef SBX_RUNTIME_NETWORK_NETWORK_H
#define SBX_RUNTIME_NETWORK_NETWORK_H

#include "format/blob.h"
#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "runtime/network/event.h"

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>

/* --- decisions.c ------------------------------------------------------- */

/* Of different decisions; further ones are only counted. */
enum { DECISIONS_MAX = 256 };

struct decision {
	struct proxy_event event; /* with the bytes of all */
	uint32_t times;
};

struct decisions {
	uint32_t count;
	bool shared; /* some may be another command's of the session */
	uint64_t beyond;
	struct decision all[DECISIONS_MAX];
};

/* Takes a record of `size` bytes; one that is none is passed over. */
void decisions_take(struct decisions *decisions,
    const struct proxy_event *event, size_t size);

/* The last ones, as they came, for those who ask what was decided since. */
enum { DECISIONS_LOGGED = 1024 };

struct decision_log {
	uint64_t count; /* that ever came */
	struct proxy_event events[DECISIONS_LOGGED];
};

void decisions_log(struct decision_log *log, const struct proxy_event *event,
    size_t size);
void decisions_since(const struct decision_log *log, uint64_t since,
    struct decisions *decisions);

/* Whether it has the form of one. */
bool decision_is_record(const struct proxy_event *event);

/* Whether we refused it, and not the outside; its verdict in words; where the
 * rule is that decided, SBX_NO_SOURCE if none did. */
bool decision_is_refusal(const struct proxy_event *event);
/* Whether there was a connection, which has moved bytes. */
bool decision_is_connection(const struct proxy_event *event);
const char *decision_verdict(const struct proxy_event *event);
uint32_t decision_source(const struct sbx_blob *blob,
    const struct proxy_event *event);

/* The fields of a decision, in an object that has begun. */
void decision_record(struct out *json, const struct sbx_blob *blob,
    const struct decision *decision);

/* One line on stderr, if something was refused. */
void decisions_tell(const struct decisions *decisions);

/*
 * The ways out of a network of the sandbox's own (format/ways.c).
 *
 * The first process of the sandbox, while it still has every right over its new
 * network, makes a socket there for each way, hands them to the supervisor and
 * forgets them.  A socket stays in the network in which it was made, and so do
 * the connections that it accepts: so what listens in the sandbox is served
 * from outside, and there is no other way out.
 *
 *	inside                        |  outside
 *	the command -> 127.0.0.1:53   |  the supervisor waits; the first
 *	            -> 127.0.0.1:3128 |  connection makes it start
 *	            -> 198.18.0.1:443 |  sbx-proxy, which serves them all
 *
 * The supervisor reads no byte of what goes through.  It starts sbx-proxy
 * again, a few times, if that ends; then it closes the ways.
 *
 * At level standard, in the network of the host, there is one way: sbx-proxy as a
 * proxy, at a port of the kernel's choice.  Everybody on the host can connect to
 * it, so sbx-proxy is told the source port of each connection that the
 * supervisor makes for the command, and closes all others.
 */

/*
 * sbx-tls, where the policy has names of which TLS is ended: it is started before
 * anything else, once.  Programs inside are to believe the authority that it
 * makes, whose certificate lies in the scratch directory.
 */
enum { TLS_SECRETS_MAX = 32 };

struct tls_value {
	uint32_t name; /* in the blob's strings */
	uint32_t size;
	const char *bytes; /* of a placeholder: with a NUL at its end */
};

struct tls_values {
	uint32_t count;
	struct tls_value all[TLS_SECRETS_MAX];
	struct sbx_place hidden; /* names of variables that hold one, all ended
	                          * by a NUL */
};

struct network_tls {
	pid_t pid;
	int process; /* its pidfd; -1: there is none */
	int theirs;  /* by which sbx-proxy hands over */
	int events;
	pid_t owner; /* whose directory it is */
	int scratch, directory;
	char name[32]; /* of the directory below ${tmp}: "/.sbx-tls-..." */
	/* Where the machine keeps what it believes, without links. */
	char roots[SBX_MAX_PATH + 1];
	struct tls_values placeholders;
};

struct network {
	uint32_t count; /* of ways; 0: there are none, and nothing is done */
	struct sbx_way ways[SBX_MAX_WAYS];
	int sockets[SBX_MAX_WAYS]; /* beside them; -1: closed, or not there */
	const struct sbx_blob *blob;
	size_t size;       /* of the blob */
	const char *path;  /* of the user's own proxy, or NULL */
	int send, receive; /* by which the sockets come */
	int program;       /* sbx-proxy */
	int inside;        /* the sandbox's network namespace */
	int wake;          /* readable if one of the sockets is */
	uint32_t starts;
	uint32_t losses; /* how often it has ended by itself */
	bool shut;       /* and is not started again */
	pid_t proxy;     /* 0: it does not run */
	int process;     /* then its pidfd, and the ends of its sockets */
	bool host;       /* the ways are in the network of the host */
	int events;
	int control, theirs; /* both ends, until it has its own */
	int asker;           /* a socket to who is asked about names, or -1 */
	struct network_tls tls;
	struct decisions decisions;
	struct decision_log *log; /* or NULL */
};

/*
 * Before the namespaces are made: finds sbx-proxy, and takes the ports of the
 * host that are to be published.  Refuses (125) what is missing or in use, and a
 * user's proxy that may not be used.  Of the binding, the anchors are wanted; its
 * blob is that of `size` verified bytes.  Both stay where they are.
 */
void network_prepare(struct network *network, const struct binding *binding,
    size_t size);

/* The same at level standard, where nothing is handed over: whether names lead
 * out, to sbx-proxy in the network of the host. */
void network_prepare_host(struct network *network,
    const struct binding *binding, size_t size);

/* There: where sbx-proxy is, or 0; and announces to it who comes, before he does:
 * 0 or a negative errno. */
uint16_t network_host_port(const struct network *network);
int network_announce(struct network *network, uint16_t source);

/* On this socket, which stays the caller's, sbx-proxy asks about names from now on;
 * -1: on none. */
void network_ask(struct network *network, int asker);

/*
 * Whether a port is published.  sbx-proxy has to enter the sandbox's network for
 * that, and has no capabilities: only what lies in a user namespace of our own
 * can be entered, by whoever made it (user_namespaces(7)).
 */
bool network_publishes(const struct network *network);

/* Closes all that; also in processes that have no use for it. */
void network_forget(struct network *network);

/* In the first process, with all capabilities over its network, in which lo is
 * up: makes the ways and sends them.  Refuses (125) what cannot be made. */
void network_make(struct network *network, struct arena *arena);

/* In the supervisor, which waits for the first process to do that. */
void network_receive(struct network *network);

/* What to wait for, and what to do then. */
enum { NETWORK_WAKES = 5 };
void network_wait(const struct network *network,
    struct pollfd wait[NETWORK_WAKES]);
void network_serve(struct network *network,
    const struct pollfd wait[NETWORK_WAKES]);

/* The same without waiting: what was decided up to now is taken. */
void network_look(struct network *network);

/* Why a command reaches less than the policy allows: connections were lost that
 * it may have had; or none is made any more. */
extern const char network_lost[], network_shut[];

/* Nothing runs inside any more: ends sbx-proxy, and takes its last events. */
void network_end(struct network *network);

/* --- tls.c ------------------------------------------------------------- */

/* None yet. */
void tls_none(struct network_tls *tls);

/* The first rule that needs sbx-tls, or NULL. */
const struct sbx_name *tls_rule(const struct sbx_blob *blob);

/* Behind network_prepare(), where nothing else was forked yet: starts it, if the
 * policy needs it, with these secrets, which are wiped.  Refuses (125). */
void tls_start(struct network *network, const struct binding *binding,
    struct tls_values *secrets);

/* In a process that has no use for it; it ends when nobody has any. */
void tls_forget(struct network_tls *tls);
/* It has ended by itself: says what that means. */
void tls_lost(struct network_tls *tls);
/* Nothing runs inside any more. */
void tls_end(struct network_tls *tls);

/* --- secrets.c --------------------------------------------------------- */

/* Refuses (125) rules about requests and secrets below level standard, where
 * nothing holds them. */
void secrets_check(const struct sbx_blob *blob, enum sbx_level level);

/* Gets what the rules want; refuses (125) what is not to be had, and what a program
 * would have to say unless `programs`. */
void secrets_get(const struct sbx_blob *blob, struct arena *arena,
    bool programs, struct tls_values *secrets);

/* "NAME=PLACEHOLDER" and a NUL, for each variable of a rule, and "NAME" for each that
 * held a secret; empty: none. */
struct sbx_place secrets_variables(const struct sbx_blob *blob,
    struct arena *arena, const struct tls_values *placeholders);

/* --- proxy.c ----------------------------------------------------------- */

/* The numbers that its descriptors have; the sockets come last. */
enum proxy_descriptor {
	PROXY_POLICY = 3, /* the verified blob, in a sealed file */
	PROXY_EVENTS,     /* struct proxy_event, to the supervisor */
	PROXY_CONTROL,    /* it ends when this is closed */
	PROXY_INSIDE,     /* the sandbox's network namespace, or /dev/null */
	PROXY_TLS,        /* to sbx-tls, or /dev/null */
	PROXY_SOCKETS,
};

/* What it gets: a table of PROXY_SOCKETS and `count` descriptors, by their
 * numbers there.  Those of 0 to 2 are filled in here. */
struct proxy_start {
	const char *name;
	int program;
	const char *level; /* "full" or "standard" */
	const char *path;  /* of the user's own proxy, or NULL */
	uint32_t count;    /* of the sockets */
	int descriptors[PROXY_SOCKETS + SBX_MAX_WAYS];
};

/* Opens sbx-proxy or sbx-tls; -1 if there is none that may be trusted, which
 * the text of that name says.  proxy_open() refuses (125) then; what it gives is a
 * sealed copy where the command could write the program itself. */
int proxy_find(const char *name);
extern const char proxy_missing[], tls_missing[];
int proxy_open(const char *name, const char *missing);

/* A sealed file with the policy's bytes, or -1 and errno. */
int proxy_policy(const void *bytes, size_t size);

/* Starts it; its process, or -1 and errno.  The caller keeps its descriptors. */
pid_t proxy_run(const struct proxy_start *start);

/* --- route.c ----------------------------------------------------------- */

/*
 * Addresses that a network of the sandbox's own takes for itself.
 */

struct routing {
	bool names; /* wanted */
	bool v6;    /* the answer: there is IPv6, too */
};

/*
 * Makes the addresses of the policy's endpoints, and with names those that the
 * resolver hands out, local ones: what listens on any address inside gets
 * the connections to them.  `socket` is of rtnetlink.  False with errno.
 */
bool route_add(int socket, struct arena *arena, const struct sbx_blob *blob,
    struct routing *routing);

#endif
