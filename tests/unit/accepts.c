/*
 * Connections as they come to sbx-proxy (runtime/proxy/accept.c): whom it takes,
 * and where they go by the way on which they come.  What the kernel says of
 * sockets is the test's word.
 */
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { NOW = 5000000, PORT = 4711, FAKE = 1 };

static struct tap tap;
static struct proxy proxy;
static struct conn conn;
static uint32_t told[UINT16_MAX + 1];

/* What came of it, in words. */
static char became[512];

/* Of accept4(2): so many clients, before each of which it fails so. */
static unsigned clients, failures;
static int failure;
static const char *peer; /* their address, and at our end: */
static const char *own;
static bool has_memory = true;

__attribute__((format(printf, 1, 2))) static void
become(const char *format, ...)
{
	size_t used = strlen(became);
	va_list args;

	va_start(args, format);
	if (used > 0)
		used += (size_t)snprintf(became + used, sizeof became - used,
		    ", ");
	vsnprintf(became + used, sizeof became - used, format, args);
	va_end(args);
}

/* --- in place of the kernel ----------------------------------------------- */

/* NULL: of no family that has ports. */
static socklen_t
fill(union socket_address *address, const char *text)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(PORT) };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons(PORT) };

	if (text == NULL) {
		address->any.sa_family = AF_UNIX;
		return sizeof(sa_family_t);
	}
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(address, &v4, sizeof v4);
		return sizeof v4;
	}
	inet_pton(AF_INET6, text, &v6.sin6_addr);
	memcpy(address, &v6, sizeof v6);
	return sizeof v6;
}

int
accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	int ends[2];

	(void)fd;
	if (failures > 0) {
		failures--;
		errno = failure;
		return -1;
	}
	if (clients == 0 || flags != (SOCK_CLOEXEC | SOCK_NONBLOCK)) {
		errno = EAGAIN;
		return -1;
	}
	clients--;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return -1;
	close(ends[1]);
	*len = fill((union socket_address *)(void *)address, peer);
	return ends[0];
}

int
getsockname(int fd, struct sockaddr *address, socklen_t *len)
{
	(void)fd;
	if (own != NULL && strcmp(own, "error") == 0)
		return -1;
	*len = fill((union socket_address *)(void *)address, own);
	return 0;
}

int
setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	const struct linger *linger = value;

	(void)fd;
	if (level == IPPROTO_TCP && name == TCP_CONGESTION)
		become("%.*s", (int)len, (const char *)value);
	if (level == SOL_SOCKET && name == SO_LINGER && linger->l_onoff != 0 &&
	    linger->l_linger == 0)
		become("reset at once");
	return 0;
}

/* --- in place of the other parts ------------------------------------------ */

struct conn *
conn_new(struct proxy *serving, int fd, enum proxy_via via)
{
	(void)serving;
	close(fd);
	conn = (struct conn){ .via = (uint8_t)via, .stage = STAGE_DRAIN };
	return has_memory ? &conn : NULL;
}

void
conn_reset(struct proxy *serving, struct conn *one)
{
	(void)serving;
	(void)one;
	become("reset");
}

void
client_refused(struct proxy *serving, struct conn *one,
    enum proxy_verdict verdict)
{
	(void)serving;
	(void)one;
	become("refused %d", verdict);
}

void
connect_upstream(struct proxy *serving, struct conn *one)
{
	(void)serving;
	(void)one;
	become("to the user's proxy");
}

void
decide(struct proxy *serving, struct conn *one)
{
	static const char *const ways[] = { "resolver", "http", "socks",
		"address", "endpoint", "host", "publish" };

	(void)serving;
	become("%s %s%s:%u", ways[one->via], one->target.by_name ? "name " : "",
	    one->target.name, one->target.port);
}

void
tell(struct proxy *serving, const struct conn *one, enum proxy_verdict verdict)
{
	(void)serving;
	become("told %d of %d:%u by %u", verdict, one->via, one->target.port,
	    one->rule);
}

const char *
fakes_name(struct fakes *fakes, uint32_t address)
{
	(void)fakes;
	return (address & 0xff) == FAKE ? "good.example" : NULL;
}

void
resolve_datagrams(struct proxy *serving, struct source *source, uint32_t events)
{
	(void)serving;
	(void)source;
	(void)events;
	become("resolved");
}

/* --- the stage ------------------------------------------------------------ */

/* The supervisor's end of the socket by which it tells of ports. */
static int supervisor = -1;

static void
open_control(void)
{
	int ends[2];

	if (supervisor >= 0)
		close(supervisor);
	tap_must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ==
		    0 &&
		dup2(ends[0], FD_CONTROL) == FD_CONTROL,
	    "a socket");
	close(ends[0]);
	supervisor = ends[1];
}

static void
begin(bool full)
{
	proxy = (struct proxy){ .now = NOW,
		.full = full,
		.told = full ? NULL : told,
		.conn_max = 8,
		.listener_count = 1,
		.epoll = epoll_create1(EPOLL_CLOEXEC) };
	memset(told, 0, sizeof told);
	memset(&conn, 0, sizeof conn);
	*became = '\0';
	clients = failures = 0;
	has_memory = true;
	peer = "127.0.0.1";
	own = "127.0.0.1";
}

static void
end(void)
{
	close(proxy.epoll);
}

/* Starts with one way, and has a client come. */
static void
come(enum sbx_way_kind kind)
{
	struct listener *listener = &proxy.listeners[0];

	listener->way = (struct sbx_way){ PORT + 1, (uint8_t)kind };
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!accept_start(&proxy))
		become("not started");
	if ((fcntl(listener->fd, F_GETFL) & O_NONBLOCK) == 0)
		become("it blocks");
	*became = '\0';
	clients++;
	listener->source.ready(&proxy, &listener->source, EPOLLIN);
	close(listener->fd);
}

static bool
is(const char *expected)
{
	if (strcmp(became, expected) == 0)
		return true;
	printf("# %s\n", became);
	return false;
}

/* --- ways ----------------------------------------------------------------- */

static void
check_ways(void)
{
	static const struct {
		const char *what;
		enum sbx_way_kind kind;
		const char *own, *became;
		enum stage stage; /* STAGE_DRAIN: none was set */
	} cases[] = {
		{ "the resolver", SBX_WAY_RESOLVER, "127.0.0.1", "resolved",
		    0 },
		{ "the resolver's stream", SBX_WAY_RESOLVER_TCP, "127.0.0.1",
		    "", STAGE_QUERY },
		{ "the proxy's port", SBX_WAY_PROXY, "127.0.0.1", "",
		    STAGE_HEAD },
		{ "a service of the host", SBX_WAY_HOST, "127.0.0.1",
		    "host 127.0.0.1:4711", STAGE_DRAIN },
		{ "any address of the machine", SBX_WAY_PORT, "127.255.0.1",
		    "host 127.255.0.1:4711", STAGE_DRAIN },
		{ "that of IPv6", SBX_WAY_PORT, "::1", "host ::1:4711",
		    STAGE_DRAIN },
		{ "one of IPv6 with 127 in it", SBX_WAY_PORT,
		    "2001:db8::7f00:1", "endpoint 2001:db8::7f00:1:4711",
		    STAGE_DRAIN },
		{ "an address", SBX_WAY_PORT, "192.0.2.1",
		    "endpoint 192.0.2.1:4711", STAGE_DRAIN },
		{ "one that stands for a name", SBX_WAY_PORT, "198.18.0.1",
		    "address name good.example:4711", STAGE_DRAIN },
		{ "for none any more", SBX_WAY_PORT, "198.18.0.2", "refused 6",
		    STAGE_DRAIN },
		{ "none", SBX_WAY_PORT, "error", "reset", STAGE_DRAIN },
		{ "no address of IP", SBX_WAY_PORT, NULL, "reset",
		    STAGE_DRAIN },
		{ "a published port", SBX_WAY_PUBLISH, "192.0.2.1",
		    "publish 127.0.0.1:4712", STAGE_DRAIN },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		bool waits = cases[i].kind == SBX_WAY_RESOLVER_TCP ||
		    cases[i].kind == SBX_WAY_PROXY;

		begin(true);
		own = cases[i].own;
		come(cases[i].kind);
		tap_ok(&tap,
		    is(cases[i].became) && conn.stage == cases[i].stage &&
			conn.form == FORM_BARE &&
			conn.deadline == (waits ? NOW + HANDSHAKE_TIME : 0) &&
			(cases[i].kind != SBX_WAY_PROXY ||
			    conn.via == PROXY_BY_HTTP),
		    "%s", cases[i].what);
		end();
	}
	begin(true);
	proxy.relays = true;
	come(SBX_WAY_PROXY);
	tap_ok(&tap,
	    is("to the user's proxy") && conn.deadline == 0 &&
		conn.via == PROXY_BY_HTTP,
	    "the proxy's port where it is the user's own");
	end();
	begin(true);
	has_memory = false;
	come(SBX_WAY_PUBLISH);
	tap_ok(&tap, is(""), "no room for a connection");
	end();
}

/* Only ports have addresses of IPv6, and only streams are sent. */
static void
check_start(void)
{
	static const struct {
		enum sbx_way_kind kind;
		const char *own, *became;
		bool has_v6;
	} cases[] = {
		{ SBX_WAY_RESOLVER, "::1", "", false },
		{ SBX_WAY_RESOLVER_TCP, "::1", "reno", false },
		{ SBX_WAY_PROXY, "::1", "reno", false },
		{ SBX_WAY_PORT, "::1", "reno", true },
		{ SBX_WAY_PORT, "127.0.0.1", "reno", false },
		{ SBX_WAY_PORT, "error", "reno", false },
		{ SBX_WAY_HOST, "::1", "reno", false },
		{ SBX_WAY_PUBLISH, "::1", "reno", false },
	};
	struct listener *listener = &proxy.listeners[0];

	for (size_t i = 0; i < countof(cases); i++) {
		bool started;

		begin(true);
		own = cases[i].own;
		listener->way.kind = (uint8_t)cases[i].kind;
		listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		started = accept_start(&proxy);
		tap_ok(&tap,
		    started && is(cases[i].became) &&
			proxy.has_v6 == cases[i].has_v6 &&
			(fcntl(listener->fd, F_GETFL) & O_NONBLOCK) != 0 &&
			proxy.control.ready == control_ready,
		    "way %d at %s", cases[i].kind, cases[i].own);
		close(listener->fd);
		tap_ok(&tap, !accept_start(&proxy), "and none that is closed");
		end();
	}
}

/* The first way that has IPv6 is enough, wherever it stands. */
static void
check_several(void)
{
	begin(true);
	own = "::1";
	proxy.listener_count = 3;
	for (int i = 0; i < 3; i++) {
		proxy.listeners[i].way.kind = i == 1 ? SBX_WAY_PORT :
						       SBX_WAY_PROXY;
		proxy.listeners[i].fd = socket(AF_UNIX,
		    SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	tap_ok(&tap,
	    accept_start(&proxy) && proxy.has_v6 && is("reno, reno, reno"),
	    "several ways");
	for (int i = 0; i < 3; i++)
		close(proxy.listeners[i].fd);
	end();
}

/* --- who comes ------------------------------------------------------------ */

static void
check_many(void)
{
	begin(true);
	clients = 2 * BATCH - 1;
	come(SBX_WAY_RESOLVER_TCP);
	tap_ok(&tap, clients == BATCH, "so many in one turn");
	end();
	for (int i = 0; i < 2; i++) {
		begin(true);
		failure = i == 0 ? ECONNABORTED : EINTR;
		failures = 2;
		come(SBX_WAY_PUBLISH);
		tap_ok(&tap, is("publish 127.0.0.1:4712"),
		    "one that is gone again hinders nobody: %d", i);
		end();
	}
	begin(true);
	failure = EMFILE;
	failures = 2;
	come(SBX_WAY_PUBLISH);
	tap_ok(&tap, is("") && failures == 1, "another error ends the turn");
	end();
	for (size_t count = 7; count <= 9; count++) {
		int before = tap_descriptors();

		begin(true);
		proxy.conn_count = count;
		come(SBX_WAY_PUBLISH);
		end();
		tap_ok(&tap,
		    is(count == 7 ? "publish 127.0.0.1:4712" :
				    "told 8 of 3:4712 by 4294967295, "
				    "reset at once") &&
			tap_descriptors() == before,
		    "where there are %zu of 8", count);
	}
}

/* At level standard those whose port the supervisor has told, once. */
static void
check_told(void)
{
	static const struct {
		uint32_t until;
		bool taken;
	} cases[] = {
		{ 0, false },
		{ NOW / 1000 - 1, false },
		{ NOW / 1000, true },
		{ NOW / 1000 + 1, true },
	};
	const uint16_t port = PORT, other = PORT + 2;

	for (size_t i = 0; i < countof(cases); i++) {
		int before = tap_descriptors();

		begin(false);
		told[PORT] = cases[i].until;
		come(SBX_WAY_PUBLISH);
		end();
		tap_ok(&tap,
		    is(cases[i].taken ? "publish 127.0.0.1:4712" : "") &&
			told[PORT] == 0 && tap_descriptors() == before,
		    "one that may come until %u", cases[i].until);
	}
	begin(false);
	send(supervisor, &other, sizeof other, 0);
	send(supervisor, &port, sizeof port, 0);
	come(SBX_WAY_PUBLISH);
	tap_ok(&tap,
	    is("publish 127.0.0.1:4712") && told[PORT] == 0 &&
		told[PORT + 2] == (NOW + TOLD_TIME) / 1000,
	    "one that was told just now");
	end();
	begin(false);
	told[PORT] = NOW;
	peer = NULL;
	come(SBX_WAY_PUBLISH);
	tap_ok(&tap, is("") && told[PORT] == NOW, "one that has no port");
	end();
	begin(true);
	send(supervisor, &port, sizeof port, 0);
	control_ready(&proxy, &proxy.control, EPOLLIN);
	come(SBX_WAY_PUBLISH);
	tap_ok(&tap, is("publish 127.0.0.1:4712"),
	    "at level full nobody has to be told");
	end();
}

/* Whatever the supervisor says else is the end, and so is its own. */
static void
check_end(bool says)
{
	int status = -1;
	pid_t pid;

	begin(true);
	fflush(stdout);
	open_control();
	if (says)
		send(supervisor, "x", 1, 0);
	else
		shutdown(supervisor, SHUT_RDWR);
	pid = fork();
	if (pid == 0) {
		control_ready(&proxy, &proxy.control, EPOLLIN);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	tap_ok(&tap, status == 0, "the supervisor %s: the proxy ends",
	    says ? "says something else" : "has ended");
	end();
}

int
main(void)
{
	open_control();
	check_ways();
	check_start();
	check_several();
	check_many();
	check_told();
	check_end(true);
	check_end(false);
	return tap_done(&tap);
}
