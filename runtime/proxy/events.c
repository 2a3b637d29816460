/*
 * What the supervisor is told: see runtime/network/event.h.  No relay waits for
 * it.  What it is too slow for is kept, and beyond that lost, which it is told.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static void
send_waiting(struct events *events, int flags)
{
	while (events->count > 0) {
		const struct proxy_event *event =
		    &events->waiting[events->first];

		if (send(FD_EVENTS, event, sizeof *event,
			flags | MSG_NOSIGNAL) < 0 &&
		    errno == EAGAIN)
			return;
		/* A supervisor that is gone ends the proxy otherwise. */
		events->first = (events->first + 1) % EVENTS_MAX;
		events->count--;
	}
}

static void
events_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	(void)source;
	(void)events;
	send_waiting(&proxy->events, MSG_DONTWAIT);
}

void
events_finish(struct proxy *proxy)
{
	send_waiting(&proxy->events, 0);
}

bool
events_start(struct proxy *proxy)
{
	struct epoll_event event = {
		.events = EPOLLOUT | EPOLLET,
		.data.ptr = &proxy->events.source,
	};

	proxy->events.source.ready = events_ready;
	return epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, FD_EVENTS, &event) == 0;
}

static void
add_event(struct events *events, const struct proxy_event *event)
{
	unsigned at = (events->first + events->count) % EVENTS_MAX;

	events->waiting[at] = *event;
	events->count++;
}

void
event_fill(struct proxy_event *event, const struct conn *conn,
    enum proxy_verdict verdict, const char *name)
{
	size_t len = strlen(name);

	*event = (struct proxy_event){
		.version = PROXY_EVENT_VERSION,
		.via = conn->via,
		.verdict = (uint8_t)verdict,
		.port = conn->target.port,
		.rule = conn->rule,
	};
	if (len >= sizeof event->name)
		len = sizeof event->name - 1;
	memcpy(event->name, name, len);
}

static void
send_event(struct proxy *proxy, const struct proxy_event *event)
{
	static const struct proxy_event lost = {
		.version = PROXY_EVENT_VERSION,
		.verdict = PROXY_LIMIT,
		.rule = UINT32_MAX,
	};
	struct events *events = &proxy->events;

	if (events->lost && events->count < EVENTS_MAX) {
		add_event(events, &lost);
		events->lost = false;
	}
	if (events->count < EVENTS_MAX)
		add_event(events, event);
	else
		events->lost = true;
	send_waiting(events, MSG_DONTWAIT);
}

void
tell_name(struct proxy *proxy, const struct conn *conn,
    enum proxy_verdict verdict, const char *name)
{
	struct proxy_event event;

	event_fill(&event, conn, verdict, name);
	send_event(proxy, &event);
}

void
tell_bytes(struct proxy *proxy, const struct conn *conn)
{
	struct proxy_event event;

	event_fill(&event, conn,
	    conn->answered ? PROXY_ANSWERED : PROXY_ALLOWED, conn->target.name);
	event.kind = PROXY_BYTES;
	event.sent = conn->up.moved;
	event.received = conn->down.moved;
	send_event(proxy, &event);
}

void
tell(struct proxy *proxy, const struct conn *conn, enum proxy_verdict verdict)
{
	tell_name(proxy, conn, verdict, conn->target.name);
}
