/*
 * Names that are looked up: what the proxy asks and is told.  At most so many
 * questions are under way that they fit into the socket; other connections wait
 * in a row.
 */
#include "runtime/proxy/proxy.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

bool
lookup_start(struct proxy *proxy)
{
	int ends[2];
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLRDHUP,
		.data.ptr = &proxy->lookups,
	};

	proxy->waiting_end = &proxy->waiting;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	if (!process_start(lookup_serve, ends[1]))
		return false;
	close(ends[1]);
	proxy->lookup_fd = ends[0];
	proxy->lookups.ready = lookups_ready;
	return epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, ends[0], &event) == 0;
}

/* Whoever waits is asked for, as far as there is room. */
static void
ask_more(struct proxy *proxy)
{
	while (proxy->waiting != NULL && proxy->lookup_count < LOOKUPS_MAX) {
		struct conn *conn = proxy->waiting;
		struct lookup_query query = { .id = conn->id };

		strcpy(query.name, conn->target.name);
		if (send(proxy->lookup_fd, &query, sizeof query,
			MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof query) {
			/* That it is gone is seen elsewhere. */
			if (errno != EAGAIN && errno != EPIPE)
				proxy_fail("cannot ask for the address of a "
					   "name",
				    errno);
			return;
		}
		proxy->lookup_count++;
		proxy->waiting = conn->waiting;
		if (proxy->waiting == NULL)
			proxy->waiting_end = &proxy->waiting;
		conn->waiting = NULL;
		conn->asked = true;
	}
}

void
lookup_ask(struct proxy *proxy, struct conn *conn)
{
	conn->stage = STAGE_LOOKUP;
	conn->deadline = proxy->now + LOOKUP_TIME;
	conn->asked = false;
	conn->waiting = NULL;
	*proxy->waiting_end = conn;
	proxy->waiting_end = &conn->waiting;
	ask_more(proxy);
}

void
lookup_forget(struct proxy *proxy, struct conn *conn)
{
	struct conn **at = &proxy->waiting;

	if (conn->stage != STAGE_LOOKUP || conn->asked)
		return;
	while (*at != conn && *at != NULL)
		at = &(*at)->waiting;
	if (*at == NULL)
		return;
	*at = conn->waiting;
	if (*at == NULL)
		proxy->waiting_end = at;
	conn->asked = true;
}

static struct conn *
find_conn(const struct proxy *proxy, uint64_t id)
{
	for (struct conn *conn = proxy->conns; conn != NULL;
	     conn = conn->next) {
		if (conn->id == id && !conn->dead)
			return conn;
	}
	return NULL;
}

/* The word `private` would have opened one of them, or a rule is about one, or
 * no name may lead to them. */
static enum proxy_verdict
why_closed(const struct proxy *proxy, struct conn *conn,
    const struct lookup_answer *answer)
{
	uint32_t denied = UINT32_MAX;

	for (unsigned i = 0; i < answer->count && i < ADDRESSES_MAX; i++) {
		const uint8_t *address = answer->addresses[i];
		struct sbx_verdict verdict = sbx_endpoint_verdict(&proxy->blob,
		    KERNEL_WHERE, address, conn->target.port);

		if (verdict.reason == SBX_BECAUSE_DENIED)
			denied = verdict.rule;
		else if (!conn->is_private && address_may_be_private(address))
			return PROXY_PRIVATE;
	}
	if (denied == UINT32_MAX)
		return PROXY_RESERVED;
	conn->via = PROXY_BY_ENDPOINT;
	conn->rule = denied;
	return PROXY_DENIED;
}

/* Only addresses that may be connected to are kept, and nobody looks again. */
static void
take_answer(struct proxy *proxy, struct conn *conn,
    const struct lookup_answer *answer)
{
	conn->address_count = 0;
	for (unsigned i = 0; i < answer->count && i < ADDRESSES_MAX; i++) {
		if (!address_is_open(proxy, conn, answer->addresses[i]))
			continue;
		memcpy(conn->addresses[conn->address_count++],
		    answer->addresses[i], SBX_ADDRESS_SIZE);
	}
	if (answer->outcome == LOOKUP_FOUND && conn->address_count > 0)
		connect_start(proxy, conn);
	else
		client_refused(proxy, conn,
		    answer->outcome == LOOKUP_FOUND ?
			why_closed(proxy, conn, answer) :
			answer->outcome == LOOKUP_NO_SUCH_NAME ?
			PROXY_NO_SUCH_NAME :
			PROXY_FAILED);
}

void
lookups_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	struct lookup_answer answer;

	(void)source;
	(void)events;
	for (int i = 0; i < BATCH; i++) {
		ssize_t len = recv(proxy->lookup_fd, &answer, sizeof answer,
		    MSG_DONTWAIT);
		struct conn *conn;

		if (len < 0 && errno == EAGAIN)
			break;
		/* Without it nothing can be served any more; it has said why
		 * it ended, and sbxrun says that this one did. */
		if (len != sizeof answer)
			_exit(EXIT_REFUSED);
		proxy->lookup_count--;
		conn = find_conn(proxy, answer.id);
		if (conn != NULL && conn->stage == STAGE_LOOKUP && conn->asked)
			take_answer(proxy, conn, &answer);
	}
	ask_more(proxy);
}
