/*
 * Connections as they come, by the way on which they come.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- what the supervisor says --------------------------------------------- */

/* At level standard: only sockets that the supervisor connects may come.  Or a
 * socket to who is asked, in place of a port. */
static ssize_t
hear_control(uint16_t *port, int *asker)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { port, sizeof *port };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	ssize_t len = recvmsg(FD_CONTROL, &message,
	    MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*asker = -1;
	if (len > 0 && CMSG_FIRSTHDR(&message) != NULL &&
	    control.header.cmsg_type == SCM_RIGHTS)
		memcpy(asker, CMSG_DATA(&control.header), sizeof *asker);
	return len;
}

static void
control_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	uint16_t port;
	ssize_t len;
	int asker;

	(void)source;
	(void)events;
	while ((len = hear_control(&port, &asker)) == sizeof port) {
		if (asker >= 0)
			ask_begin(proxy, asker);
		else if (proxy->told != NULL)
			proxy->told[port] =
			    (uint32_t)((proxy->now + TOLD_TIME) / 1000);
	}
	if (len < 0 && errno == EAGAIN)
		return;
	for (struct conn *conn = proxy->conns; conn != NULL; conn = conn->next)
		conn_close(proxy, conn);
	events_finish(proxy);
	_exit(0);
}

/* The port of the proxy is the host's, so that anybody there can try it. */
static bool
was_told(struct proxy *proxy, const union socket_address *from)
{
	uint8_t address[SBX_ADDRESS_SIZE];
	uint16_t port;
	uint32_t until;

	if (proxy->full)
		return true;
	if (!address_from_socket(from, address, &port))
		return false;
	control_ready(proxy, &proxy->control, 0);
	until = proxy->told[port];
	proxy->told[port] = 0;
	return until != 0 && until >= proxy->now / 1000;
}

/* --- where a connection goes ---------------------------------------------- */

static bool
is_loopback(const uint8_t address[SBX_ADDRESS_SIZE])
{
	static const uint8_t v6[SBX_ADDRESS_SIZE] = { [15] = 1 };

	return (sbx_address_is_v4(address) && address[12] == 127) ||
	    memcmp(address, v6, sizeof v6) == 0;
}

/* The address that the client has connected to says what it wants. */
static void
open_address(struct proxy *proxy, struct conn *conn)
{
	union socket_address own;
	socklen_t size = sizeof own;
	uint8_t address[SBX_ADDRESS_SIZE];
	const char *name;
	uint16_t port;
	uint32_t fake;

	if (getsockname(conn->client.fd, &own.any, &size) != 0 ||
	    !address_from_socket(&own, address, &port)) {
		conn_reset(proxy, conn);
		return;
	}
	target_address(&conn->target, address, port);
	conn->via = PROXY_BY_ENDPOINT;
	if (is_loopback(address)) {
		conn->via = PROXY_BY_HOST;
	} else if (sbx_address_is_fake(address, &fake)) {
		conn->via = PROXY_BY_ADDRESS;
		name = fakes_name(proxy->fakes, fake);
		if (name == NULL) {
			client_refused(proxy, conn, PROXY_NO_SUCH_NAME);
			return;
		}
		conn->target.by_name = true;
		strcpy(conn->target.name, name);
	}
	decide(proxy, conn);
}

static void
open_conn(struct proxy *proxy, struct conn *conn, const struct sbx_way *way)
{
	conn->form = FORM_BARE;
	conn->target.port = way->port;
	switch ((enum sbx_way_kind)way->kind) {
	case SBX_WAY_RESOLVER:
		break;
	case SBX_WAY_RESOLVER_TCP:
		conn->stage = STAGE_QUERY;
		conn->deadline = proxy->now + HANDSHAKE_TIME;
		break;
	case SBX_WAY_PROXY:
		conn->via = PROXY_BY_HTTP;
		if (proxy->relays) {
			connect_upstream(proxy, conn);
			return;
		}
		conn->stage = STAGE_HEAD;
		conn->deadline = proxy->now + HANDSHAKE_TIME;
		break;
	case SBX_WAY_PORT:
	case SBX_WAY_HOST:
		open_address(proxy, conn);
		break;
	case SBX_WAY_PUBLISH:
		conn->via = PROXY_BY_PUBLISH;
		strcpy(conn->target.name, "127.0.0.1");
		decide(proxy, conn);
		break;
	}
}

/* --- listening ------------------------------------------------------------ */

/* One that is too many is reset, and not left to wait. */
static void
turn_away(struct proxy *proxy, const struct sbx_way *way, int fd)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	struct conn refused = {
		.via = PROXY_BY_ADDRESS,
		.rule = UINT32_MAX,
		.target = { .port = way->port },
	};

	tell(proxy, &refused, PROXY_LIMIT);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
}

static void
listener_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	struct listener *listener = (struct listener *)(void *)source;

	(void)events;
	for (int i = 0; i < BATCH; i++) {
		union socket_address from;
		socklen_t size = sizeof from;
		struct conn *conn;
		int fd = accept4(listener->fd, &from.any, &size,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);

		/* The client may be gone again. */
		if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
			continue;
		if (fd < 0)
			return;
		if (proxy->conn_count >= proxy->conn_max) {
			turn_away(proxy, &listener->way, fd);
			continue;
		}
		if (!was_told(proxy, &from)) {
			close(fd);
			continue;
		}
		conn = conn_new(proxy, fd, PROXY_BY_ADDRESS);
		if (conn != NULL)
			open_conn(proxy, conn, &listener->way);
	}
}

static bool
is_v6(int fd)
{
	union socket_address own = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof own;

	return getsockname(fd, &own.any, &size) == 0 &&
	    own.any.sa_family == AF_INET6;
}

bool
accept_start(struct proxy *proxy)
{
	struct epoll_event event = { .events = EPOLLIN };

	for (size_t i = 0; i < proxy->listener_count; i++) {
		struct listener *listener = &proxy->listeners[i];
		static const char reno[] = "reno";

		/*
		 * Whoever comes here comes over loopback, where nothing is lost
		 * and nothing has to be sent slowly, as the machine's own
		 * choice (BBR, say) might have it.  The kernel always has Reno
		 * (tcp(7)).
		 */
		if (listener->way.kind != SBX_WAY_RESOLVER)
			setsockopt(listener->fd, IPPROTO_TCP, TCP_CONGESTION,
			    reno, sizeof reno - 1);

		listener->source.ready = listener->way.kind ==
			SBX_WAY_RESOLVER ?
		    resolve_datagrams :
		    listener_ready;
		event.data.ptr = &listener->source;
		proxy->has_v6 |= listener->way.kind == SBX_WAY_PORT &&
		    is_v6(listener->fd);
		if (fcntl(listener->fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0 ||
		    epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, listener->fd,
			&event) != 0)
			return false;
	}
	event.data.ptr = &proxy->control;
	proxy->control.ready = control_ready;
	/* Who is asked has to be there before somebody comes. */
	control_ready(proxy, &proxy->control, 0);
	return epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, FD_CONTROL, &event) == 0;
}
