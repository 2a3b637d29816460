/*
 * One direction of a relay: bytes go from socket to pipe to socket inside the
 * kernel.  A flow has a pipe only while it holds bytes, so that connections at
 * rest cost no more than their two sockets.
 */
#ifndef SBX_PROXY_FLOW_H
#define SBX_PROXY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
