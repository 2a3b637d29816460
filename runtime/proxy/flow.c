/* See flow.h. */
#include "runtime/proxy/flow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	TURNS = 16, /* until others have theirs */
	CHUNK = 1 << 16,
};

static bool
borrow_pipe(struct flow *flow, struct pipes *pipes)
{
	if (flow->pipe[0] >= 0)
		return true;
	if (pipes->count == 0)
		return pipe2(flow->pipe, O_CLOEXEC | O_NONBLOCK) == 0;
	pipes->count--;
	flow->pipe[0] = pipes->kept[pipes->count][0];
	flow->pipe[1] = pipes->kept[pipes->count][1];
	return true;
}

/* Only an empty pipe is given back: the next bytes in it are somebody
 * else's. */
static void
return_pipe(struct flow *flow, struct pipes *pipes)
{
	if (flow->pipe[0] < 0 || flow->held > 0)
		return;
	if (pipes->count == PIPES_KEPT) {
		close(flow->pipe[0]);
		close(flow->pipe[1]);
	} else {
		pipes->kept[pipes->count][0] = flow->pipe[0];
		pipes->kept[pipes->count][1] = flow->pipe[1];
		pipes->count++;
	}
	flow->pipe[0] = flow->pipe[1] = -1;
}

void
flow_init(struct flow *flow, struct end *from, struct end *to)
{
	*flow = (struct flow){
		.from = from,
		.to = to,
		.pipe = { -1, -1 },
		.budget = FLOW_ENDLESS,
	};
}

void
flow_close(struct flow *flow)
{
	if (flow->pipe[0] >= 0) {
		close(flow->pipe[0]);
		close(flow->pipe[1]);
	}
	flow->pipe[0] = flow->pipe[1] = -1;
	flow->held = 0;
}

bool
flow_put(struct flow *flow, struct pipes *pipes, const void *bytes, size_t len)
{
	if (!borrow_pipe(flow, pipes))
		return false;
	if (write(flow->pipe[1], bytes, len) != (ssize_t)len)
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
	count = splice(flow->pipe[0], NULL, flow->to->fd, NULL, flow->held,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (count > 0) {
		flow->held -= (size_t)count;
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
	count = splice(flow->from->fd, NULL, flow->pipe[1], NULL, size,
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
