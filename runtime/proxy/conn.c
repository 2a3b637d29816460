/*
 * The life of a connection.  It is closed at once but freed at the end of the
 * turn, since epoll(7) may have told of both of its sockets in one answer.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- its sockets ---------------------------------------------------------- */

bool
end_watch(struct proxy *proxy, struct end *end, struct source *source)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = source,
	};
	const int on = 1;

	/* What is relayed was sent in such pieces for a reason.  A socket by
	 * path has neither option. */
	setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(end->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	return epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, end->fd, &event) == 0;
}

static void
end_note(struct end *end, uint32_t events)
{
	if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
		end->readable = true;
	if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0)
		end->writable = true;
	if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
		end->hung_up = true;
}

static void
end_close(struct end *end, bool reset)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (end->fd < 0)
		return;
	if (reset)
		setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &at_once,
		    sizeof at_once);
	close(end->fd);
	end->fd = -1;
}

/* A reset has been noticed where nobody reads or writes any more. */
static bool
is_gone(const struct flow *from, const struct flow *to, uint32_t events)
{
	return (events & EPOLLERR) != 0 && from->done && to->held == 0;
}

static void
server_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	struct conn *conn = (struct conn *)(void *)((char *)source -
	    offsetof(struct conn, server_source));

	if (conn->dead)
		return;
	end_note(&conn->server, events);
	conn_run(proxy, conn);
	if (!conn->dead && conn->stage == STAGE_RELAY &&
	    is_gone(&conn->down, &conn->up, events))
		conn_reset(proxy, conn);
}

static void
client_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	struct conn *conn = (struct conn *)(void *)((char *)source -
	    offsetof(struct conn, client_source));

	if (conn->dead)
		return;
	end_note(&conn->client, events);
	/* Who was to be served has given up. */
	if ((events & EPOLLERR) != 0 && conn->stage != STAGE_RELAY)
		conn_close(proxy, conn);
	else
		conn_run(proxy, conn);
	if (!conn->dead && conn->stage == STAGE_RELAY &&
	    is_gone(&conn->up, &conn->down, events))
		conn_reset(proxy, conn);
}

ssize_t
conn_peek(struct proxy *proxy, struct conn *conn, struct end *end, size_t size)
{
	ssize_t len;

	if (!end->readable)
		return -1;
	len = recv(end->fd, proxy->bytes, size, MSG_PEEK | MSG_DONTWAIT);
	if (len >= 0)
		return len;
	if (errno == EAGAIN)
		end->readable = false;
	else
		conn_reset(proxy, conn);
	return -1;
}

void
end_take(struct proxy *proxy, struct end *end, size_t len)
{
	while (len > 0) {
		ssize_t count = recv(end->fd, proxy->bytes,
		    len < sizeof proxy->bytes ? len : sizeof proxy->bytes,
		    MSG_DONTWAIT);

		if (count <= 0)
			return;
		len -= (size_t)count;
	}
}

/* --- beginning and end ---------------------------------------------------- */

struct conn *
conn_new(struct proxy *proxy, int fd, enum proxy_via via)
{
	struct conn *conn = calloc(1, sizeof *conn);

	if (conn == NULL) {
		close(fd);
		return NULL;
	}
	conn->client_source.ready = client_ready;
	conn->server_source.ready = server_ready;
	conn->client.fd = fd;
	conn->server.fd = -1;
	conn->via = (uint8_t)via;
	conn->rule = UINT32_MAX;
	conn->id = ++proxy->last_id;
	flow_init(&conn->up, &conn->client, &conn->server);
	flow_init(&conn->down, &conn->server, &conn->client);
	conn->next = proxy->conns;
	conn->link = &proxy->conns;
	if (conn->next != NULL)
		conn->next->link = &conn->next;
	proxy->conns = conn;
	proxy->conn_count++;
	if (!end_watch(proxy, &conn->client, &conn->client_source)) {
		conn_reset(proxy, conn);
		return NULL;
	}
	return conn;
}

static void
conn_end(struct proxy *proxy, struct conn *conn, bool reset)
{
	if (conn->dead)
		return;
	if (conn->counted)
		tell_bytes(proxy, conn);
	lookup_forget(proxy, conn);
	ask_forget(proxy, conn);
	flow_close(&conn->up, &proxy->pipes);
	flow_close(&conn->down, &proxy->pipes);
	end_close(&conn->client, reset);
	end_close(&conn->server, reset);
	conn->dead = true;
	proxy->conn_count--;
	proxy->unready = true;
}

void
conn_reset(struct proxy *proxy, struct conn *conn)
{
	conn_end(proxy, conn, true);
}

void
conn_close(struct proxy *proxy, struct conn *conn)
{
	conn_end(proxy, conn, false);
}

static void
conn_free(struct conn *conn)
{
	*conn->link = conn->next;
	if (conn->next != NULL)
		conn->next->link = conn->link;
	free(conn->head);
	free(conn);
}

void
conns_sweep(struct proxy *proxy)
{
	struct conn *conn = proxy->conns, *next;

	if (!proxy->unready)
		return;
	proxy->unready = false;
	for (; conn != NULL; conn = next) {
		next = conn->next;
		if (!conn->dead && conn->again)
			conn_run(proxy, conn);
		if (conn->dead)
			conn_free(conn);
		else if (conn->again)
			proxy->unready = true;
	}
}

/* --- what comes next ------------------------------------------------------ */

void
conn_drain(struct proxy *proxy, struct conn *conn)
{
	shutdown(conn->client.fd, SHUT_WR);
	lookup_forget(proxy, conn);
	ask_forget(proxy, conn);
	conn->stage = STAGE_DRAIN;
	conn->deadline = proxy->now + DRAIN_TIME;
	conn_run(proxy, conn);
}

/* What the client is told goes out, and what it sends does not matter. */
static void
drain(struct proxy *proxy, struct conn *conn)
{
	for (int i = 0; i < BATCH; i++) {
		ssize_t len = conn_peek(proxy, conn, &conn->client,
		    sizeof proxy->bytes);

		if (len < 0)
			return;
		if (len == 0) {
			conn_close(proxy, conn);
			return;
		}
		end_take(proxy, &conn->client, (size_t)len);
	}
	conn->again = proxy->unready = true;
}

void
conn_run(struct proxy *proxy, struct conn *conn)
{
	conn->again = false;
	switch ((enum stage)conn->stage) {
	case STAGE_QUERY:
		resolve_stream(proxy, conn);
		return;
	case STAGE_HEAD:
		client_head(proxy, conn);
		return;
	case STAGE_REQUEST:
		client_request(proxy, conn);
		return;
	case STAGE_ASKED:
	case STAGE_LOOKUP:
		return;
	case STAGE_CONNECT:
		connect_check(proxy, conn);
		return;
	case STAGE_UPSTREAM:
		relay_upstream(proxy, conn);
		return;
	case STAGE_RELAY:
		relay_run(proxy, conn);
		return;
	case STAGE_DRAIN:
		drain(proxy, conn);
		return;
	}
}

static void
conn_late(struct proxy *proxy, struct conn *conn)
{
	switch ((enum stage)conn->stage) {
	case STAGE_HEAD:
	case STAGE_REQUEST:
		tell(proxy, conn, PROXY_LIMIT);
		conn_reset(proxy, conn);
		return;
	case STAGE_ASKED:
		decide_answered(proxy, conn, PROXY_UNANSWERED);
		return;
	case STAGE_LOOKUP:
	case STAGE_UPSTREAM:
		client_refused(proxy, conn, PROXY_FAILED);
		return;
	case STAGE_CONNECT:
		connect_next(proxy, conn);
		return;
	case STAGE_RELAY: /* of the first bytes of TLS */
		tell(proxy, conn, PROXY_LIMIT);
		conn_reset(proxy, conn);
		return;
	case STAGE_QUERY:
	case STAGE_DRAIN:
		conn_close(proxy, conn);
		return;
	}
}

void
conns_tick(struct proxy *proxy)
{
	proxy->ticks = false;
	for (struct conn *conn = proxy->conns; conn != NULL;
	     conn = conn->next) {
		if (!conn->dead && conn->deadline != 0 &&
		    conn->deadline <= proxy->now)
			conn_late(proxy, conn);
		proxy->ticks |= !conn->dead && conn->deadline != 0;
	}
}
