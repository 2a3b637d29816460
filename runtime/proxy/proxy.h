/* sbx-proxy: its connections, resolver and confinement. */
#ifndef SBX_RUNTIME_PROXY_PROXY_H
#define SBX_RUNTIME_PROXY_PROXY_H

#include "format/blob.h"
#include "format/model.h"
#include "runtime/network/event.h"
#include "runtime/proxy/protocols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- confine.c --------------------------------------------------------- */

enum confined {
	CONFINED_RELAY,      /* sockets alone; no file can be opened */
	CONFINED_RELAY_PATH, /* the same, and sockets by path */
	CONFINED_LOOKUP,     /* what a resolver reads, and its sockets */
	CONFINED_INSIDE,     /* makes sockets and hands them out */
	CONFINED_TLS,        /* sockets that it was handed, and locked memory */
	CONFINED_END,
};

/*
 * What Landlock takes away, but where a rule gives some back: all rights on files
 * of that ABI.  From ABI 9 on, connecting to a socket by path is one.  It is
 * left to the one whose proxy has a path: that socket may be made anew anywhere.
 */
struct sbx_landlock confined_rights(int abi, enum confined kind);

/* Ends the process if it cannot be done. */
void confine_process(enum confined kind);

/* A process of ours that has this socket alone, besides stderr and the
 * descriptor FD_INSIDE, and ends with us; false with errno. */
bool process_start(void (*serve)(int socket), int socket);

/* Ends the process when its parent does. */
void end_with_parent(int parent);

/* "PROGRAM: TEXT: STRERROR" on stderr; ends the process with status 125. */
void proxy_fail(const char *text, int error) __attribute__((noreturn));

/* --- filter.c ---------------------------------------------------------- */

/* The system calls that a process of sbx-proxy may make: see filter.c. */

/* False with errno.  no_new_privs must be set. */
bool filter_install(enum confined kind);

/* --- flow.c ------------------------------------------------------------ */

/* One socket of a connection.  epoll(7) tells of changes alone, so what it said
 * last is kept here until the socket says otherwise. */
struct end {
	int fd; /* -1: none yet */
	bool readable, writable;
	bool hung_up; /* nothing more will come from it */
};

enum { PIPES_KEPT = 32 };

struct pipe {
	int read, write; /* -1: none */
	bool large;
};

/* Empty pipes, for who needs one next. */
struct pipes {
	size_t count;
	size_t large; /* here and lent */
	struct pipe kept[PIPES_KEPT];
};

struct flow {
	struct end *from, *to;
	struct pipe pipe;
	size_t held;     /* bytes in the pipe */
	uint64_t moved;  /* bytes that have reached `to` */
	uint64_t budget; /* bytes that may still be taken from `from` */
	bool ended;      /* `from` has sent all it will */
	bool done;       /* and `to` was told */
};

#define FLOW_ENDLESS UINT64_MAX

enum flow_result {
	FLOW_WAITS,
	FLOW_BUSY, /* there is more to do, but others want their turn */
	FLOW_DONE,
	FLOW_BROKEN, /* one of the sockets was reset */
};

void flow_init(struct flow *flow, struct end *from, struct end *to);
enum flow_result flow_run(struct flow *flow, struct pipes *pipes);
/* Bytes of ours that go first.  False: they do not fit, or there is no pipe. */
bool flow_put(struct flow *flow, struct pipes *pipes, const void *bytes,
    size_t len);
void flow_close(struct flow *flow, struct pipes *pipes);

/*
 * The state of sbx-proxy, and what its files ask of each other.
 *
 *	inside                     here                        outside
 *	a query for a name    ->   resolve.c: an address of ours
 *	a connection to it    ->   accept.c, conn.c: the name of the address
 *	HTTP, SOCKS           ->   client.c: the name that is asked for
 *	                           decide.c: may it be?
 *	                           ask.c: if no rule says so  <->  a person
 *	                           lookup.c: its addresses  <->  a process of ours
 *	                           connect.c: to one of these  ->  a server
 *	                           relay.c, flow.c: bytes
 *
 * One thread waits for all sockets with epoll(7), which tells of changes alone.
 * Names are looked up in a second process, because that may take long, loads
 * whatever modules the system's resolver has, and must open files, which this
 * process cannot.
 */

/* What the supervisor hands over. */
enum {
	FD_BLOB = 3,
	FD_EVENTS,
	FD_CONTROL, /* its end ends the proxy */
	FD_INSIDE,  /* pidfd of a process in the sandbox's network */
	FD_TLS,     /* sbx-tls, which judges requests; or no socket */
	FD_WAYS,    /* the first of the sockets, in the order of sbx_ways() */
};

/* All times are in milliseconds. */
enum {
	CONNS_MAX = 1000,
	CONN_DESCRIPTORS = 6, /* two sockets, two pipes */
	OWN_DESCRIPTORS = 256,
	BATCH = 64, /* connections or queries that are taken in one turn */
	TICK = 250,
	HANDSHAKE_TIME = 10000,
	LOOKUP_TIME = 10000,
	ATTEMPT_TIME = 2000, /* to connect, if there are more addresses */
	CONNECT_TIME = 30000,
	DRAIN_TIME = 2000,
	TOLD_TIME = 5000,
	ADDRESSES_MAX = 16,
	LOOKUPS_MAX = 64, /* that the other process is asked for at a time */
	EVENTS_MAX = 1024,
	ASKERS_MAX = 8,
	ASKED_MAX = 256,    /* names in the life of a proxy */
	ASKED_AT_ONCE = 12, /* that nobody has answered yet */
	HELD_MAX = 256,     /* connections that wait for an answer */
	HELD_TIME = 120000, /* and for how long: several are asked about */
	ONCE_TIME = 10000,  /* who has given up tries again */
};

struct proxy;
struct conn;

/* What epoll(7) gives back. */
struct source {
	void (*ready)(struct proxy *proxy, struct source *source,
	    uint32_t events);
};

struct listener {
	struct source source;
	struct sbx_way way;
	int fd;
};

enum stage {
	STAGE_QUERY,   /* DNS over TCP */
	STAGE_HEAD,    /* HTTP, or the greeting of SOCKS */
	STAGE_REQUEST, /* of SOCKS */
	STAGE_ASKED,
	STAGE_LOOKUP,
	STAGE_CONNECT,
	STAGE_UPSTREAM, /* the user's proxy is to answer our CONNECT */
	STAGE_RELAY,
	STAGE_DRAIN, /* the client was refused, and is to read why */
};

/* Who is asked about names: see ask.c. */
struct asker {
	struct source source;
	int fd;       /* 0: this place is free */
	uint64_t age; /* the latest has the greatest */
};

struct asked;

/* What the client has to be answered with. */
enum form { FORM_BARE, FORM_TUNNEL, FORM_REQUEST, FORM_SOCKS };

struct conn {
	struct source client_source, server_source;
	struct end client, server;
	struct flow up, down;
	struct conn *next, **link; /* of all */
	struct conn *waiting;      /* the next one that waits for a look-up */
	uint64_t id;
	int64_t deadline;    /* of this stage; 0: none */
	int64_t connect_end; /* of all attempts to connect */
	uint8_t stage, form, via;
	bool dead;          /* freed at the end of this turn */
	bool again;         /* it has more to do */
	bool asked;         /* the look-up is under way */
	bool hello_pending; /* the client's first bytes are to be judged */
	bool is_web;        /* and have to be TLS or HTTP for the name */
	bool is_judged;     /* sbx-tls gets it, with its requests */
	bool chunked;       /* the end of the body is to be found */
	bool is_private;
	bool counted;    /* it was allowed: its bytes are told at its end */
	bool answered;   /* by who was asked, and by no rule */
	uint32_t number; /* of the name that is asked about */
	uint32_t rule;
	struct target target;
	struct http_chunks chunks;
	char *head; /* for the server, before the client's own bytes */
	size_t head_len;
	uint64_t body; /* bytes behind the head */
	uint8_t addresses[ADDRESSES_MAX][SBX_ADDRESS_SIZE];
	uint8_t address_count, address_next;
};

/* What the supervisor has not taken yet, in a ring. */
struct events {
	struct source source;
	unsigned first, count;
	bool lost; /* there were more */
	struct proxy_event waiting[EVENTS_MAX];
};

struct proxy {
	struct sbx_blob blob;
	bool full;    /* the level */
	bool relays;  /* every connection to the proxy's port is the user's
	               * own proxy's */
	bool unready; /* somebody has more to do in the next turn */
	bool has_v6;  /* inside, too */
	bool ticks;   /* somebody may have waited for too long */
	int epoll, inside;
	const struct sbx_proxy *upstream; /* or NULL */
	const char *upstream_path;        /* of its socket; NULL: TCP */
	size_t listener_count;
	struct listener listeners[SBX_MAX_WAYS];
	struct source control, lookups;
	struct events events;
	int lookup_fd;
	unsigned lookup_count;               /* under way */
	struct conn *waiting, **waiting_end; /* for one */
	struct fakes *fakes;
	struct pipes pipes;
	struct conn *conns;
	size_t conn_count, conn_max;
	uint64_t last_id;
	struct asker askers[ASKERS_MAX];
	uint64_t last_asker;
	struct asked *asked; /* NULL: nothing was */
	uint32_t asker_count, asked_count, asked_waiting, held_count;
	int64_t now;
	uint32_t *told; /* level standard: for each source port until when it
	                 * may connect, in seconds */
	/* What was peeked at, the longest that is looked at. */
	uint8_t bytes[TLS_HELLO_MAX];
};

/* --- accept.c ------------------------------------------------------------- */

/* Registers the sockets; false with errno. */
bool accept_start(struct proxy *proxy);

/* --- resolve.c ------------------------------------------------------------ */

void resolve_datagrams(struct proxy *proxy, struct source *source,
    uint32_t events);
void resolve_stream(struct proxy *proxy, struct conn *conn);

/* --- conn.c --------------------------------------------------------------- */

/* Takes the socket; NULL: it was closed, since there is no memory. */
struct conn *conn_new(struct proxy *proxy, int fd, enum proxy_via via);
/* Does what can be done now. */
void conn_run(struct proxy *proxy, struct conn *conn);
/* Closes it, with a reset for whoever is still there. */
void conn_reset(struct proxy *proxy, struct conn *conn);
void conn_close(struct proxy *proxy, struct conn *conn);
/* No more is said; what the client still sends is read for a while, or the
 * kernel would answer it with a reset that overtakes what was said. */
void conn_drain(struct proxy *proxy, struct conn *conn);
/* What has waited for too long. */
void conns_tick(struct proxy *proxy);
/* What was closed is freed; what has more to do does it. */
void conns_sweep(struct proxy *proxy);
bool end_watch(struct proxy *proxy, struct end *end, struct source *source);
/* Looks at what came without taking it: bytes, 0 at the end, -1: nothing yet,
 * or the connection was reset and is closed. */
ssize_t conn_peek(struct proxy *proxy, struct conn *conn, struct end *end,
    size_t size);
/* Takes bytes that were looked at. */
void end_take(struct proxy *proxy, struct end *end, size_t len);

/* --- client.c ------------------------------------------------------------- */

void client_head(struct proxy *proxy, struct conn *conn);
void client_request(struct proxy *proxy, struct conn *conn);
/* Tells the client that the way is open; false: it is closed. */
bool client_granted(struct proxy *proxy, struct conn *conn);
/* Tells the supervisor and the client, and ends the connection. */
void client_refused(struct proxy *proxy, struct conn *conn,
    enum proxy_verdict verdict);
/* Bytes that the client must get at once, since nothing waits to be sent. */
bool client_send(struct proxy *proxy, struct conn *conn, const void *bytes,
    size_t len);

/* --- decide.c ------------------------------------------------------------- */

/* Judges conn->target, and goes on with a look-up, a connection or a
 * refusal. */
void decide(struct proxy *proxy, struct conn *conn);
/* Whether a name may lead to this address. */
bool address_is_open(const struct proxy *proxy, const struct conn *conn,
    const uint8_t address[SBX_ADDRESS_SIZE]);

/* And with the word `private`, unless a rule is about the address itself. */
bool address_may_be_private(const uint8_t address[SBX_ADDRESS_SIZE]);

/* Somebody has answered about conn->target, or nobody. */
void decide_answered(struct proxy *proxy, struct conn *conn,
    enum proxy_verdict verdict);

/* --- ask.c ---------------------------------------------------------------- */

/* Takes the socket of one who is to be asked from now on. */
void ask_begin(struct proxy *proxy, int fd);

/* Whether a name that no rule knows may still be asked about. */
bool ask_may_lead(const struct proxy *proxy, const char *name);

/* Asks about conn->target, which no rule is about, unless that was answered: sooner
 * or later decide_answered() is called. */
void ask(struct proxy *proxy, struct conn *conn);

/* The connection does not wait any more. */
void ask_forget(struct proxy *proxy, struct conn *conn);

/* --- events.c ------------------------------------------------------------- */

/* Waits for the supervisor's socket; false with errno. */
bool events_start(struct proxy *proxy);

/* The last ones, for which the supervisor waits. */
void events_finish(struct proxy *proxy);

/* What would be told. */
void event_fill(struct proxy_event *event, const struct conn *conn,
    enum proxy_verdict verdict, const char *name);

void tell(struct proxy *proxy, const struct conn *conn,
    enum proxy_verdict verdict);
/* The connection ends: what it has moved. */
void tell_bytes(struct proxy *proxy, const struct conn *conn);
/* With another name than the connection's own. */
void tell_name(struct proxy *proxy, const struct conn *conn,
    enum proxy_verdict verdict, const char *name);

/* --- lookup.c ------------------------------------------------------------- */

/* Starts the process; false with errno. */
bool lookup_start(struct proxy *proxy);
void lookup_ask(struct proxy *proxy, struct conn *conn);
/* The connection does not wait any more. */
void lookup_forget(struct proxy *proxy, struct conn *conn);
void lookups_ready(struct proxy *proxy, struct source *source, uint32_t events);

/* --- inside.c ------------------------------------------------------------- */

/* Starts the process that makes sockets inside; false with errno. */
bool inside_start(struct proxy *proxy);
/* A socket in the sandbox's network, or -1 with errno. */
int inside_socket(const struct proxy *proxy, int family);

/* --- connect.c ------------------------------------------------------------ */

/* To conn->addresses, or to the user's proxy. */
void connect_start(struct proxy *proxy, struct conn *conn);
void connect_upstream(struct proxy *proxy, struct conn *conn);
/* Something happened at the socket of the server. */
void connect_check(struct proxy *proxy, struct conn *conn);
/* The next address; if there is none, the client is refused. */
void connect_next(struct proxy *proxy, struct conn *conn);

/* --- relay.c -------------------------------------------------------------- */

/* The server is there: what goes first, and then all else. */
void relay_start(struct proxy *proxy, struct conn *conn);
void relay_upstream(struct proxy *proxy, struct conn *conn);
void relay_run(struct proxy *proxy, struct conn *conn);

/* --- handover.c ----------------------------------------------------------- */

/* sbx-tls gets both sockets, and the head that was taken; the connection is
 * forgotten. */
void hand_over(struct proxy *proxy, struct conn *conn, bool plain);

/* --- lookup.c ---------------------------------------------------------- */

/*
 * What the proxy and the process that looks names up say to each other, a
 * message each.
 */

enum lookup_outcome { LOOKUP_FOUND, LOOKUP_NO_SUCH_NAME, LOOKUP_FAILED };

struct lookup_query {
	uint64_t id;
	char name[SBX_NAME_SIZE];
};

struct lookup_answer {
	uint64_t id;
	uint8_t outcome; /* enum lookup_outcome */
	uint8_t count;
	uint8_t addresses[ADDRESSES_MAX][SBX_ADDRESS_SIZE];
};

/* The process; it ends when the socket does. */
void lookup_serve(int socket) __attribute__((noreturn));

#endif
