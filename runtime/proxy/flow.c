/*
 * One direction of a relay: bytes go from socket to pipe to socket inside the
 * kernel.  A flow has a pipe only while it holds bytes, so that connections at
 * rest cost no more than their two sockets.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	TURNS = 16, /* until others have theirs */
	CHUNK = 1 << 20,
	PIPE_SIZE = 1 << 18, /* 64 pages, each of which may be a large one */
};

static const struct pipe no_pipe = { -1, -1, false };

/*
 * All pipes of a user together may have 16384 pages, from where on each new one
 * gets two (pipe(7)).  So only as many as are kept are larger than usual.
 */
static bool
make_pipe(struct flow *flow, struct pipes *pipes)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	flow->pipe = (struct pipe){ ends[0], ends[1],
		pipes->large < PIPES_KEPT &&
		    fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE) >= 0 };
	pipes->large += flow->pipe.large;
	return true;
}

static void
close_pipe(struct flow *flow, struct pipes *pipes)
{
	close(flow->pipe.read);
	close(flow->pipe.write);
	pipes->large -= flow->pipe.large;
}

static bool
borrow_pipe(struct flow *flow, struct pipes *pipes)
{
	if (flow->pipe.read >= 0)
		return true;
	if (pipes->count == 0)
		return make_pipe(flow, pipes);
	flow->pipe = pipes->kept[--pipes->count];
	return true;
}

/* Only an empty pipe is given back: the next bytes in it are somebody
 * else's. */
static void
return_pipe(struct flow *flow, struct pipes *pipes)
{
	if (flow->pipe.read < 0 || flow->held > 0)
		return;
	if (pipes->count == PIPES_KEPT)
		close_pipe(flow, pipes);
	else
		pipes->kept[pipes->count++] = flow->pipe;
	flow->pipe = no_pipe;
}

void
flow_init(struct flow *flow, struct end *from, struct end *to)
{
	*flow = (struct flow){
		.from = from,
		.to = to,
		.pipe = no_pipe,
		.budget = FLOW_ENDLESS,
	};
}

void
flow_close(struct flow *flow, struct pipes *pipes)
{
	if (flow->pipe.read >= 0)
		close_pipe(flow, pipes);
	flow->pipe = no_pipe;
	flow->held = 0;
}

bool
flow_put(struct flow *flow, struct pipes *pipes, const void *bytes, size_t len)
{
	if (!borrow_pipe(flow, pipes))
		return false;
	if (write(flow->pipe.write, bytes, len) != (ssize_t)len)
		return false;
	flow->held += len;
	return true;
}

static enum flow_result
pass_on(struct flow *flow)
{
	ssize_t count;

	if (!flow->to->writable)
		return FLOW_WAITS;
	count = splice(flow->pipe.read, NULL, flow->to->fd, NULL, flow->held,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (count > 0) {
		flow->held -= (size_t)count;
		flow->moved += (uint64_t)count;
		return FLOW_BUSY;
	}
	if (count == 0 || errno != EAGAIN)
		return FLOW_BROKEN;
	flow->to->writable = false;
	return FLOW_WAITS;
}

/* The pipe is empty, so EAGAIN can only be the socket's. */
static enum flow_result
take_in(struct flow *flow, struct pipes *pipes)
{
	size_t size = flow->budget < CHUNK ? (size_t)flow->budget : CHUNK;
	ssize_t count;

	if (!flow->from->readable || size == 0)
		return FLOW_WAITS;
	if (!borrow_pipe(flow, pipes))
		return FLOW_BROKEN;
	count = splice(flow->from->fd, NULL, flow->pipe.write, NULL, size,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (count < 0 && errno != EAGAIN)
		return FLOW_BROKEN;
	if (count < 0) {
		flow->from->readable = false;
		return FLOW_WAITS;
	}
	flow->held += (size_t)count;
	flow->ended = count == 0;
	if (flow->budget != FLOW_ENDLESS)
		flow->budget -= (uint64_t)count;
	return FLOW_BUSY;
}

static enum flow_result
finish(struct flow *flow)
{
	/* ENOTCONN: it is gone already, which reading from it shows. */
	shutdown(flow->to->fd, SHUT_WR);
	flow->done = true;
	return FLOW_DONE;
}

enum flow_result
flow_run(struct flow *flow, struct pipes *pipes)
{
	enum flow_result result = FLOW_BUSY;

	if (flow->done)
		return FLOW_DONE;
	for (int turn = 0; turn < TURNS && result == FLOW_BUSY; turn++) {
		if (flow->held > 0)
			result = pass_on(flow);
		else if (flow->ended)
			result = finish(flow);
		else
			result = take_in(flow, pipes);
	}
	return_pipe(flow, pipes);
	return result;
}
