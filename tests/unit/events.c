/*
 * What sbx-proxy tells a supervisor that is slow: what has no place any more is
 * lost, and that it was is told before what comes next.
 */
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SENT_MAX = 4 * EVENTS_MAX };

static struct proxy proxy;
static struct conn conn;

static void
tell_number(unsigned number)
{
	conn.target.port = (uint16_t)number;
	tell(&proxy, &conn, PROXY_NO_RULE);
}

/* Takes what is there; how many come in the order of their numbers. */
static unsigned
take(int supervisor, unsigned from)
{
	struct proxy_event event;
	unsigned count = 0;

	while (recv(supervisor, &event, sizeof event, MSG_DONTWAIT) ==
		(ssize_t)sizeof event &&
	    event.port == from + count && event.verdict == PROXY_NO_RULE)
		count++;
	return count;
}

/* The socket's room and the ring are both full when something is lost. */
static unsigned
fill_up(void)
{
	unsigned number = 0;

	while (!proxy.events.lost && number < SENT_MAX)
		tell_number(number++);
	return number - 1;
}

/* Whoever waits for the socket to take more is called. */
static void
go_on(void)
{
	struct epoll_event event;

	while (epoll_wait(proxy.epoll, &event, 1, 0) == 1) {
		struct source *source = event.data.ptr;

		source->ready(&proxy, source, event.events);
	}
}

static void
test_lost(struct tap *tap, int supervisor)
{
	unsigned kept = fill_up(), taken = 0, step;
	struct proxy_event event = { .verdict = PROXY_ALLOWED };

	tap_ok(tap, kept > EVENTS_MAX && proxy.events.count == EVENTS_MAX,
	    "nobody takes records: %u are kept", kept);
	tell_number(kept + 1);
	do {
		step = take(supervisor, taken);
		taken += step;
		go_on();
	} while (step > 0);
	tap_ok(tap, taken == kept, "they come in their order: %u", taken);
	tell_number(7);
	recv(supervisor, &event, sizeof event, MSG_DONTWAIT);
	tap_ok(tap,
	    event.version == PROXY_EVENT_VERSION &&
		event.verdict == PROXY_LIMIT && event.rule == UINT32_MAX &&
		event.name[0] == '\0',
	    "then, that some were lost");
	tap_ok(tap, take(supervisor, 7) == 1, "and the next one");
	tell_number(8);
	tap_ok(tap, take(supervisor, 8) == 1, "which is told once");
}

/* A name is cut, and ends. */
static void
test_names(struct tap *tap)
{
	static char name[2 * sizeof((struct proxy_event *)NULL)->name];
	const size_t room = sizeof((struct proxy_event *)NULL)->name;
	struct proxy_event event;

	for (size_t len = room - 2; len <= room + 1; len++) {
		size_t kept = len < room ? len : room - 1;

		memset(name, 'a', len);
		name[len] = '\0';
		memset(&event, 'x', sizeof event);
		event_fill(&event, &conn, PROXY_NO_RULE, name);
		tap_ok(tap,
		    event.name[kept] == '\0' && strlen(event.name) == kept,
		    "of a name of %zu bytes %zu are told", len, kept);
	}
}

int
main(void)
{
	struct tap tap = { 0 };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ||
	    dup2(ends[1], 10) != 10 || dup2(ends[0], 11) != 11 ||
	    dup2(10, FD_EVENTS) != FD_EVENTS)
		return 99;
	close(10);
	conn.rule = UINT32_MAX;
	proxy.epoll = epoll_create1(EPOLL_CLOEXEC);
	tap_ok(&tap, events_start(&proxy), "it waits for the supervisor");
	test_lost(&tap, 11);
	test_names(&tap);
	return tap_done(&tap);
}
