/*
 * sbx-proxy without a sandbox: two networks, one as the outside with servers and
 * a DNS server, one as the inside with the sockets that sbxrun would hand over.
 */
#ifndef SBX_TEST_PROXY_H
#define SBX_TEST_PROXY_H

#include "format/model.h"
#include "runtime/network/event.h"
#include "tests/lib/tap.h"

#include <sys/types.h>

/* Ports of the servers outside, by what they do. */
enum {
	PORT_SSH = 22,      /* speaks first, then echoes */
	PORT_HTTP = 80,     /* answers a head with that head, then echoes */
	PORT_ECHO = 443,    /* echoes */
	PORT_RESET = 8001,  /* resets after a word */
	PORT_HALF = 8002,   /* ends its side at once, then counts */
	PORT_SILENT = 8003, /* never reads */
	PORT_SINK = 8004,   /* counts, and says at the end how much came */
	PORT_LAST = 8005,   /* as SSH, on the last of the addresses alone */
	PORT_FULL = 8006,   /* the same; the first one never answers */
	PORT_UPSTREAM = 3129,
	PORT_HOST = 5432,     /* a service of the host: echoes */
	PORT_HOST_SIX = 5433, /* one that listens on ::1 alone */
	PORT_PUBLISHED = 3000,
};

/* The same proxy of the user's, as a socket: in a directory of the test's. */
#define UPSTREAM_PATH "/etc/proxy.sock"

/* What the servers and the test both see. */
struct shared {
	volatile uint64_t counted, received, queries, accepted, resets;
	volatile uint64_t ready; /* servers */
};

struct stage {
	struct tap tap;
	const char *proxy_path;
	struct shared *shared;
	int outside, inside; /* network namespaces */
	int inner;           /* pidfd of a process inside */
	pid_t keeper, servers, dns, proxy;
	bool apart; /* the proxy is begun by a process between, which waits */
	int control, events;
	int listener; /* at level standard */
	struct sbx_blob blob;
	void *bytes;
	size_t size;
};

/* A rule of the policy that the proxy gets. */
struct rule {
	const char *name;    /* of a host; or NULL */
	const char *address; /* of an endpoint; or NULL: a port */
	uint16_t port;
	uint8_t effect, flags, op;
};

/* Ends the test, with errno, if what it needs is not to be had. */
void must(bool held, const char *what);

/* False: namespaces are not to be had. */
bool stage_open(struct stage *stage);
void stage_close(struct stage *stage);
void policy_make(struct stage *stage, const struct rule *rules, size_t count,
    const struct sbx_proxy *upstream);
void proxy_begin(struct stage *stage, const char *level, const char *path);
/* The exit status of the proxy, which has got no signal but its end. */
int proxy_end(struct stage *stage);

/* A socket inside, connected; -1. */
int dial(const struct stage *stage, const char *address, uint16_t port);
int dial_outside(const struct stage *stage, const char *address, uint16_t port);
int socket_in(const struct stage *stage, int network, int family, int type);
/* The rcode; the address as text, "" if there is none. */
int ask(const struct stage *stage, const char *name, uint16_t type,
    char address[64]);
/* Asks and dials. */
int dial_name(const struct stage *stage, const char *name, uint16_t port);
bool send_all(int fd, const void *bytes, size_t len);
/* Bytes until the end, or until `wanted`; *reset: it ended with a reset. */
size_t read_all(int fd, char *bytes, size_t wanted, bool *reset);
/* Says the word and closes the socket: "echo", "reset" or what was read. */
const char *exchange(int fd, const char *word, char *room, size_t size);
/* Waits for an event; false: there was none in time. */
bool saw(const struct stage *stage, enum proxy_via via,
    enum proxy_verdict verdict, const char *name);
void forget_events(const struct stage *stage);
/* Waits for what another process counts. */
bool becomes(const volatile uint64_t *value, uint64_t wanted);

/* proxy_requests.c */
void try_requests(struct stage *stage);
void try_socks(struct stage *stage);
void try_tunnel_hello(struct stage *stage, const char *asked, bool passes);
void try_tls(struct stage *stage);

/* proxy_flows.c */
void try_flows(struct stage *stage);
void try_published(struct stage *stage);
void try_standard(struct stage *stage, int listener);
void try_upstream(struct stage *stage, bool names);

void serve_all(struct shared *shared) __attribute__((noreturn));
void serve_dns(struct shared *shared) __attribute__((noreturn));

#endif
