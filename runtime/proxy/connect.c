/*
 * Connecting: the addresses of a name one after another, until one takes us.
 * They are those that were judged; no name is looked up again.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Waits for the socket; false: it can be told at once that it will not do. */
static bool
attempt(struct proxy *proxy, struct conn *conn, const struct sockaddr *to,
    socklen_t size)
{
	if (connect(conn->server.fd, to, size) != 0 && errno != EINPROGRESS)
		return false;
	conn->server.readable = conn->server.writable = false;
	conn->server.hung_up = false;
	return end_watch(proxy, &conn->server, &conn->server_source);
}

static int
make_socket(const struct proxy *proxy, const struct conn *conn, int family)
{
	if (conn->via == PROXY_BY_PUBLISH)
		return inside_socket(proxy, family);
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void
give_up_socket(struct conn *conn)
{
	if (conn->server.fd >= 0)
		close(conn->server.fd);
	conn->server.fd = -1;
}

void
connect_next(struct proxy *proxy, struct conn *conn)
{
	give_up_socket(conn);
	while (conn->address_next < conn->address_count) {
		const uint8_t *address = conn->addresses[conn->address_next++];
		bool last = conn->address_next == conn->address_count;
		union socket_address to;
		socklen_t size = address_to_socket(address, conn->target.port,
		    &to);

		conn->server.fd = make_socket(proxy, conn, to.any.sa_family);
		conn->deadline = last ? conn->connect_end :
					proxy->now + ATTEMPT_TIME;
		if (conn->deadline > conn->connect_end)
			conn->deadline = conn->connect_end;
		if (conn->server.fd >= 0 && attempt(proxy, conn, &to.any, size))
			return;
		give_up_socket(conn);
	}
	client_refused(proxy, conn, PROXY_FAILED);
}

void
connect_start(struct proxy *proxy, struct conn *conn)
{
	conn->stage = STAGE_CONNECT;
	conn->address_next = 0;
	conn->connect_end = proxy->now + CONNECT_TIME;
	connect_next(proxy, conn);
}

/* The user's own proxy: a socket by path, or a port of the host. */
void
connect_upstream(struct proxy *proxy, struct conn *conn)
{
	static const uint8_t local[SBX_ADDRESS_SIZE] = { [10] = 0xff,
		[11] = 0xff,
		[12] = 127,
		[15] = 1 };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	union socket_address to;
	socklen_t size = sizeof path;
	const struct sockaddr *address = (const struct sockaddr *)&path;
	bool by_path = proxy->upstream_path != NULL;

	conn->stage = STAGE_CONNECT;
	conn->address_count = conn->address_next = 0;
	conn->deadline = conn->connect_end = proxy->now + CONNECT_TIME;
	if (by_path) {
		strcpy(path.sun_path, proxy->upstream_path);
	} else {
		size = address_to_socket(local, proxy->upstream->port, &to);
		address = &to.any;
	}
	conn->server.fd = socket(by_path ? AF_UNIX : AF_INET,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (conn->server.fd < 0 || !attempt(proxy, conn, address, size))
		client_refused(proxy, conn, PROXY_FAILED);
}

void
connect_check(struct proxy *proxy, struct conn *conn)
{
	int error = 0;
	socklen_t size = sizeof error;

	if (!conn->server.writable)
		return;
	if (getsockopt(conn->server.fd, SOL_SOCKET, SO_ERROR, &error, &size) !=
	    0)
		error = errno;
	if (error != 0) {
		connect_next(proxy, conn);
		return;
	}
	conn->deadline = 0;
	relay_start(proxy, conn);
}
