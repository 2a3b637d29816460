/*
 * A connection whose requests are judged, or may carry a secret, goes on in
 * sbx-tls, with both sockets as they are.  Nothing of what the client has sent was
 * taken but the head of a request to this proxy.
 */
#include "runtime/proxy/proxy.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

void
hand_over(struct proxy *proxy, struct conn *conn, bool plain)
{
	struct tls_work work = {
		.version = TLS_VERSION,
		.port = conn->target.port,
		.via = conn->via,
		.plain = plain,
		.rule = conn->rule,
		.head_size = (uint32_t)conn->head_len,
	};
	struct iovec parts[] = { { &work, sizeof work },
		{ conn->head, conn->head_len } };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr message = {
		.msg_iov = parts,
		.msg_iovlen = countof(parts),
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes,
	};
	const int sockets[2] = { conn->client.fd, conn->server.fd };

	strcpy(work.name, conn->target.name);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof sockets);
	memcpy(CMSG_DATA(&control.header), sockets, sizeof sockets);
	/* Where sbx-tls is not there any more, or cannot keep up, nobody else
	 * may serve the name. */
	if (sendmsg(FD_TLS, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		/* Who was told that the way is open expects TLS. */
		if (conn->form != FORM_REQUEST)
			conn->form = FORM_BARE;
		client_refused(proxy, conn, PROXY_FAILED);
		return;
	}
	/* They stay open there, and this epoll(7) would go on about them. */
	for (size_t i = 0; i < countof(sockets); i++)
		epoll_ctl(proxy->epoll, EPOLL_CTL_DEL, sockets[i], NULL);
	conn_close(proxy, conn);
}
