/* Bytes, ends and numbers: what a relay must not lose, and what it must bear. */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 1000, FLOOD = 10000 };

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
fill(char *bytes, size_t size, uint64_t from)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)((from + i) % 251);
}

/* --- ends ----------------------------------------------------------------------- */

static void
try_half_close(struct stage *stage)
{
	static char bytes[1000000];
	int fd = dial_name(stage, "good.example", PORT_HALF);
	char room[8];
	size_t len;

	stage->shared->counted = 0;
	fill(bytes, sizeof bytes, 0);
	len = read_all(fd, room, sizeof room, NULL);
	tap_ok(&stage->tap, len == 3 && memcmp(room, "bye", 3) == 0,
	    "the end of the server's side reaches the client");
	send_all(fd, bytes, sizeof bytes);
	shutdown(fd, SHUT_WR);
	tap_ok(&stage->tap, becomes(&stage->shared->counted, sizeof bytes),
	    "a million bytes that are sent then arrive");
	close(fd);
}

static void
try_reset(struct stage *stage)
{
	const struct linger at_once = { .l_onoff = 1 };
	int fd = dial_name(stage, "good.example", PORT_RESET);
	uint64_t before = stage->shared->resets;
	uint64_t received;
	char room[8];
	bool reset;
	size_t len;

	send_all(fd, "x", 1);
	len = read_all(fd, room, sizeof room, &reset);
	tap_ok(&stage->tap, len == 4 && reset,
	    "a reset of the server's reaches the client, after the word "
	    "before");
	close(fd);
	received = stage->shared->received;
	fd = dial_name(stage, "good.example", PORT_SINK);
	send_all(fd, "", 1);
	/* Before the proxy knows that it is connected there is nothing to reset. */
	becomes(&stage->shared->received, received + 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
	tap_ok(&stage->tap, becomes(&stage->shared->resets, before + 1),
	    "a reset of the client's reaches the server");
}

/* --- amounts -------------------------------------------------------------------- */

static void
try_bulk(struct stage *stage, int fd, const char *way, uint64_t size)
{
	static char bytes[251 * 4099];
	uint64_t sent = 0, counted = 0;
	double begin = seconds();

	/* As long as the pattern's period fits, each piece is the same. */
	fill(bytes, sizeof bytes, 0);
	while (sent < size && send_all(fd, bytes, sizeof bytes))
		sent += sizeof bytes;
	shutdown(fd, SHUT_WR);
	read_all(fd, (char *)&counted, sizeof counted, NULL);
	close(fd);
	tap_ok(&stage->tap, sent >= size && counted == sent,
	    "%s: %llu MB arrive without a loss", way,
	    (unsigned long long)(sent / 1000000));
	printf("# %.2f GB/s\n", (double)sent / 1e9 / (seconds() - begin));
}

static void
try_many(struct stage *stage)
{
	static int fds[MANY];
	struct pollfd probe = { .events = POLLIN };
	char address[64], byte;
	double begin = seconds();
	int opened = 0, echoed = 0;

	if (ask(stage, "good.example", 1, address) != 0)
		*address = '\0';
	for (int i = 0; i < MANY; i++) {
		fds[i] = dial(stage, address, PORT_ECHO);
		opened += fds[i] >= 0 && send_all(fds[i], "x", 1);
	}
	for (int i = 0; i < MANY; i++)
		echoed += fds[i] >= 0 && recv(fds[i], &byte, 1, 0) == 1;
	tap_ok(&stage->tap, opened == MANY && echoed == MANY,
	    "%d connections at once, %d of them echo", opened, echoed);
	printf("# %.2f s\n", seconds() - begin);
	/* One more is too many, and is told so at once. */
	probe.fd = dial(stage, address, PORT_ECHO);
	tap_ok(&stage->tap,
	    probe.fd < 0 ||
		(poll(&probe, 1, 20000) == 1 &&
		    recv(probe.fd, &byte, 1, 0) < 0),
	    "one more is reset");
	close(probe.fd);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	forget_events(stage);
}

/* Connections of which nothing more is heard: in batches, since this process
 * cannot have as many. */
static void
try_flood(struct stage *stage)
{
	enum { BATCH = 500 };
	const struct linger at_once = { .l_onoff = 1 };
	int fds[BATCH], count = tap_rounds(FLOOD);
	char room[64];
	int fd;

	for (int i = 0; i < count; i++) {
		struct sockaddr_in to = {
			.sin_family = AF_INET,
			.sin_port = htons(SBX_PROXY_PORT),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};
		int *at = &fds[i % BATCH];

		if (i >= BATCH) {
			setsockopt(*at, SOL_SOCKET, SO_LINGER, &at_once,
			    sizeof at_once);
			close(*at);
		}
		*at = socket_in(stage, stage->inside, AF_INET,
		    SOCK_STREAM | SOCK_NONBLOCK);
		connect(*at, (void *)&to, sizeof to);
		send(*at, "GET ", 4, MSG_NOSIGNAL);
		forget_events(stage);
	}
	for (int i = 0; i < BATCH && i < count; i++)
		close(fds[i]);
	fd = dial_name(stage, "good.example", PORT_SSH);
	tap_ok(&stage->tap, fd >= 0 && read_all(fd, room, 14, NULL) == 14,
	    "%d connections that ask for nothing do no harm", count);
	close(fd);
	forget_events(stage);
}

static void
try_slow(struct stage *stage)
{
	static const char request[] =
	    "CONNECT good.example:22 HTTP/1.1\r\nHost: x\r\n\r\n";
	char room[64] = "";
	int slow = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	int never = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	int next = dial_name(stage, "first.example", PORT_FULL);
	bool reset;

	send_all(never, "CONNECT go", 10);
	for (size_t i = 0; i + 1 < sizeof request; i++) {
		send_all(slow, request + i, 1);
		usleep(1000);
	}
	read_all(slow, room, 39, NULL);
	tap_ok(&stage->tap, strncmp(room, "HTTP/1.1 200 ", 13) == 0,
	    "a request that comes byte by byte is served");
	close(slow);
	read_all(never, room, 1, &reset);
	tap_ok(&stage->tap, reset, "one that never ends is reset");
	close(never);
	tap_ok(&stage->tap, read_all(next, room, 14, NULL) == 14,
	    "an address that never answers is given up for the next one");
	close(next);
	forget_events(stage);
}

/* Names that nobody answers for hold up no other connection. */
static void
try_dead_names(struct stage *stage)
{
	enum { DEAD = 8 };
	int fds[DEAD], fd;
	char room[64];
	bool reset;

	fd = dial_name(stage, "good.example", PORT_SSH);
	for (int i = 0; i < DEAD; i++) {
		snprintf(room, sizeof room, "n%d.slow.example", i);
		fds[i] = dial_name(stage, room, PORT_ECHO);
	}
	tap_ok(&stage->tap,
	    read_all(fd, room, 14, NULL) == 14 && send_all(fd, "abc", 3) &&
		read_all(fd, room, 3, NULL) == 3,
	    "a relay goes on while names are looked up");
	close(fd);
	for (int i = 0; i < DEAD; i++) {
		reset = false;
		read_all(fds[i], room, 1, &reset);
		if (!reset)
			break;
		close(fds[i]);
	}
	tap_ok(&stage->tap, reset, "a name without an answer ends in a reset");
	forget_events(stage);
}

/* --- a port of the sandbox's, on the host ------------------------------------------ */

void
try_published(struct stage *stage)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT_PUBLISHED),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd, served, listener, on = 1;
	char room[8];
	bool reset;

	fd = dial_outside(stage, "127.0.0.1", PORT_PUBLISHED);
	read_all(fd, room, 1, &reset);
	tap_ok(&stage->tap, reset, "a published port without a server resets");
	close(fd);
	listener = socket_in(stage, stage->inside, AF_INET, SOCK_STREAM);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	bind(listener, (void *)&own, sizeof own);
	listen(listener, 8);
	fd = dial_outside(stage, "127.0.0.1", PORT_PUBLISHED);
	served = accept(listener, NULL, NULL);
	send_all(served, "inside", 6);
	tap_ok(&stage->tap,
	    read_all(fd, room, 6, NULL) == 6 && memcmp(room, "inside", 6) == 0,
	    "with one, it is reached from the host");
	send_all(fd, "outside", 7);
	tap_ok(&stage->tap,
	    read_all(served, room, 7, NULL) == 7 &&
		memcmp(room, "outside", 7) == 0,
	    "and in the other direction");
	close(fd);
	close(served);
	close(listener);
	forget_events(stage);
}

void
try_flows(struct stage *stage)
{
	uint64_t size = tap_rounds(100) < 100 ? 200000000 : 1000000000;

	try_half_close(stage);
	try_reset(stage);
	try_published(stage);
	try_bulk(stage, dial_name(stage, "good.example", PORT_SINK), "relayed",
	    size);
	try_bulk(stage, dial_outside(stage, "11.22.33.44", PORT_SINK), "direct",
	    size);
	try_slow(stage);
	try_dead_names(stage);
	try_flood(stage);
	try_many(stage);
}

/* --- other policies ------------------------------------------------------------------ */

static const char connect_good[] = "CONNECT good.example:443 HTTP/1.1\r\n\r\n",
		  connect_evil[] = "CONNECT evil.net:443 HTTP/1.1\r\n\r\n",
		  word[] = "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n";

static bool
is_echoed(int fd, const char *request, const char *answer)
{
	char room[256] = "";
	size_t len = strlen(answer);

	send_all(fd, request, strlen(request));
	read_all(fd, room, len, NULL);
	if (strncmp(room, answer, len) != 0) {
		printf("# got: %s\n", room);
		return false;
	}
	send_all(fd, word, sizeof word - 1);
	return read_all(fd, room, sizeof word - 1, NULL) == sizeof word - 1 &&
	    memcmp(room, word, sizeof word - 1) == 0;
}

void
try_standard(struct stage *stage, int listener)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	struct sockaddr_in own = { .sin_family = AF_INET };
	struct sockaddr_in to;
	socklen_t size = sizeof to;
	int fd = socket_in(stage, stage->outside, AF_INET, SOCK_STREAM);
	char byte;

	getsockname(listener, (void *)&to, &size);
	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(fd, (void *)&own, sizeof own);
	size = sizeof own;
	getsockname(fd, (void *)&own, &size);
	uint16_t port = ntohs(own.sin_port);
	send(stage->control, &port, sizeof port, 0);
	connect(fd, (void *)&to, sizeof to);
	tap_ok(&stage->tap,
	    is_echoed(fd, connect_good,
		"HTTP/1.1 200 Connection established\r\n\r\n"),
	    "standard: a connection of the supervisor's is served");
	/* With a reset, so that the port is free at once. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
	fd = socket_in(stage, stage->outside, AF_INET, SOCK_STREAM);
	bind(fd, (void *)&own, sizeof own);
	connect(fd, (void *)&to, sizeof to);
	send_all(fd, connect_good, sizeof connect_good - 1);
	tap_ok(&stage->tap, recv(fd, &byte, 1, 0) <= 0,
	    "standard: the next one of its port is closed");
	close(fd);
	fd = dial_outside(stage, "127.0.0.1", ntohs(to.sin_port));
	send_all(fd, connect_good, sizeof connect_good - 1);
	tap_ok(&stage->tap, recv(fd, &byte, 1, 0) <= 0,
	    "standard: anybody else's is closed");
	close(fd);
}

void
try_upstream(struct stage *stage, bool names)
{
	static const char get[] = "GET http://good.example/ HTTP/1.1\r\n\r\n";
	int fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	char room[256] = "";

	tap_ok(&stage->tap,
	    is_echoed(fd, connect_good,
		names ? "HTTP/1.1 200 Connection established\r\n\r\n" :
			"HTTP/1.1 200 yes\r\nVia: x\r\n\r\n"),
	    names ? "the user's proxy behind ours" :
		    "the user's proxy, untouched");
	close(fd);
	fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	send_all(fd, connect_evil, sizeof connect_evil - 1);
	read_all(fd, room, 12, NULL);
	tap_ok(&stage->tap,
	    strcmp(room, names ? "HTTP/1.1 403" : "HTTP/1.1 407") == 0,
	    "a refusal is %s", names ? "ours" : "its own");
	close(fd);
	if (!names)
		return;
	fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	send_all(fd, get, sizeof get - 1);
	read_all(fd, room, 50, NULL);
	tap_ok(&stage->tap, strstr(room, "\r\nGET http://good") != NULL,
	    "a request without a tunnel goes on as one to a proxy");
	close(fd);
	fd = dial_name(stage, "good.example", 443);
	tap_ok(&stage->tap, is_echoed(fd, "", ""),
	    "an address of the resolver's leads through it, too");
	close(fd);
	/* Which host it is that the user's proxy leads to, TLS says. */
	try_tunnel_hello(stage, "good.example", true);
	try_tunnel_hello(stage, "other.example", false);
}
