/*
 * How an attempt to connect over TCP is judged below level full
 * (runtime/listen/internet.c): which sockets, what is read of an address and what
 * is left of it, and who is announced to sbx-proxy.
 */
#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/listen/answers.h"
#include "runtime/network/network.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ALLOWED_PORT = 443,
	DENIED_PORT = 25,
	SERVICE_PORT = 5432, /* of the host */
	SCOPE = 3,
	MPTCP = 262, /* IPPROTO_MPTCP */
	ANSWER_INSIDE = -77,
};

static uint16_t proxy_port, announced_port;
static unsigned announced, told;
static struct proxy_event last;

bool
inside_is_meant(struct endpoint *endpoint)
{
	(void)endpoint;
	return false;
}

bool
inside_is_taken(const struct caller *caller, const struct endpoint *endpoint)
{
	(void)caller;
	(void)endpoint;
	return false;
}

int
inside_connect(const struct caller *caller, int socket,
    const struct endpoint *endpoint)
{
	(void)caller;
	(void)socket;
	(void)endpoint;
	return ANSWER_INSIDE;
}

int
inside_listen(const struct caller *caller, int socket,
    const struct endpoint *endpoint)
{
	(void)caller;
	(void)socket;
	(void)endpoint;
	return ANSWER_INSIDE;
}

/* The key of the socket that listens: whether it is on, and was then. */
static bool is_signed, was_signed;

bool
inside_sign(struct servers *servers, int socket)
{
	(void)servers;
	(void)socket;
	is_signed = true;
	return true;
}

bool
inside_unsign(int socket)
{
	(void)socket;
	is_signed = false;
	return true;
}

int
listen(int socket, int backlog)
{
	was_signed = is_signed;
	return (int)syscall(SYS_listen, socket, backlog);
}

/* What the next call is told; family 0: the truth. */
static struct sockaddr_in stale;

int
getsockname(int socket, struct sockaddr *address, socklen_t *len)
{
	if (stale.sin_family == 0)
		return (int)syscall(SYS_getsockname, socket, address, len);
	memcpy(address, &stale, sizeof stale);
	*len = sizeof stale;
	stale.sin_family = 0;
	return 0;
}

uint16_t
network_host_port(const struct network *network)
{
	(void)network;
	return proxy_port;
}

int
network_announce(struct network *network, uint16_t source)
{
	(void)network;
	announced++;
	announced_port = source;
	return 0;
}

void
decisions_take(struct decisions *decisions, const struct proxy_event *event,
    size_t size)
{
	(void)decisions;
	told += size == sizeof *event;
	last = *event;
}

/* --- the stage ------------------------------------------------------------- */

static const struct sbx_meta meta = {
	.net = SBX_NET_SELECTED,
	.net_source = SBX_NO_SOURCE,
};
static const struct sbx_endpoint endpoints[] = {
	{ .low = ALLOWED_PORT,
	    .high = ALLOWED_PORT,
	    .effect = SBX_ALLOW,
	    .platforms = KERNEL_WHERE },
	{ .low = DENIED_PORT,
	    .high = DENIED_PORT,
	    .effect = SBX_DENY,
	    .platforms = KERNEL_WHERE },
};
static const struct sbx_port ports[] = {
	{ .low = 1,
	    .high = UINT16_MAX,
	    .effect = SBX_ALLOW,
	    .op = SBX_PUBLISH_TCP,
	    .platforms = KERNEL_WHERE },
	{ .low = SERVICE_PORT,
	    .high = SERVICE_PORT,
	    .effect = SBX_ALLOW,
	    .op = SBX_HOST_TCP,
	    .platforms = KERNEL_WHERE },
};
static const struct sbx_blob blob = {
	.meta = &meta,
	.endpoints = endpoints,
	.endpoint_count = sizeof endpoints / sizeof *endpoints,
	.ports = ports,
	.port_count = sizeof ports / sizeof *ports,
};
static const struct binding binding = { .blob = &blob };
static struct network network;
static struct listening listening = {
	.binding = &binding,
	.network = &network,
	.selected = true,
	.inside = true,
};
static const struct caller caller = { .listening = &listening };

static struct waiting
attempt_v4(int socket, const char *address, uint16_t port)
{
	struct waiting attempt = {
		.socket = socket,
		.len = sizeof attempt.address.in,
		.address.in = { .sin_family = AF_INET,
		    .sin_port = htons(port) },
	};

	inet_pton(AF_INET, address, &attempt.address.in.sin_addr);
	return attempt;
}

static struct waiting
attempt_v6(int socket, uint32_t len)
{
	struct waiting attempt = {
		.socket = socket,
		.len = len,
		.address.in6 = { .sin6_family = AF_INET6,
		    .sin6_port = htons(ALLOWED_PORT),
		    .sin6_flowinfo = htonl(1),
		    .sin6_scope_id = SCOPE },
	};

	inet_pton(AF_INET6, "fe80::1", &attempt.address.in6.sin6_addr);
	return attempt;
}

/* --- the cases ------------------------------------------------------------- */

static void
test_sockets(struct tap *tap)
{
	static const struct {
		const char *what;
		int family, type, protocol;
		bool judged;
	} cases[] = {
		{ "TCP", AF_INET, SOCK_STREAM, 0, true },
		{ "UDP", AF_INET, SOCK_DGRAM, 0, false },
		{ "a socket by path", AF_UNIX, SOCK_STREAM, 0, false },
		{ "MPTCP", AF_INET, SOCK_STREAM, MPTCP, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int fd = socket(cases[i].family, cases[i].type | SOCK_CLOEXEC,
		    cases[i].protocol);

		if (fd < 0) {
			tap_skip(tap, "the kernel has none", "%s",
			    cases[i].what);
			continue;
		}
		tap_ok(tap,
		    internet_is_judged(&listening, fd) == cases[i].judged,
		    "%s is%s judged here", cases[i].what,
		    cases[i].judged ? "" : " not");
		close(fd);
	}
}

static void
test_back(struct tap *tap, int fd)
{
	struct waiting attempt = attempt_v4(fd, "192.0.2.1", ALLOWED_PORT);

	attempt.address.any.sa_family = AF_UNSPEC;
	attempt.len = sizeof attempt.address;
	tap_ok(tap,
	    internet_judge(&caller, &attempt) == 0 &&
		attempt.len == sizeof attempt.address.any &&
		attempt.address.any.sa_family == AF_UNSPEC,
	    "an attempt is taken back");
	attempt.len = sizeof attempt.address.any - 1;
	tap_ok(tap, internet_judge(&caller, &attempt) == -EAFNOSUPPORT,
	    "not by half of an address");
}

static void
test_refused(struct tap *tap, int fd)
{
	struct waiting attempt = attempt_v4(fd, "192.0.2.1", ALLOWED_PORT);

	tap_ok(tap, internet_judge(&caller, &attempt) == 0 && told == 0,
	    "what is allowed is not told");
	attempt = attempt_v4(fd, "192.0.2.1", DENIED_PORT);
	tap_ok(tap,
	    internet_judge(&caller, &attempt) == -EACCES && told == 1 &&
		last.verdict == PROXY_DENIED && last.port == DENIED_PORT &&
		last.rule == 1 && strcmp(last.name, "192.0.2.1") == 0,
	    "what is denied is");
	attempt = attempt_v4(fd, "192.0.2.1", 1);
	tap_ok(tap,
	    internet_judge(&caller, &attempt) == -EACCES && told == 2 &&
		last.verdict == PROXY_NO_RULE,
	    "and what no rule allows");
}

static void
test_addresses(struct tap *tap)
{
	const uint32_t least = offsetof(struct sockaddr_in6, sin6_scope_id);
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct waiting attempt;

	if (fd < 0) {
		tap_skip(tap, "the kernel has no IPv6", "addresses of IPv6");
		return;
	}
	attempt = attempt_v6(fd, sizeof attempt.address.in6);
	tap_ok(tap,
	    internet_judge(&caller, &attempt) == 0 &&
		attempt.address.in6.sin6_scope_id == SCOPE &&
		attempt.address.in6.sin6_flowinfo == 0,
	    "an address keeps its scope, and nothing else");
	attempt = attempt_v6(fd, least);
	tap_ok(tap,
	    internet_judge(&caller, &attempt) == 0 &&
		attempt.address.in6.sin6_scope_id == 0 &&
		attempt.len == sizeof attempt.address.in6,
	    "which a short one has not");
	attempt = attempt_v6(fd, least - 1);
	tap_ok(tap, internet_judge(&caller, &attempt) == -EINVAL,
	    "a shorter one is none");
	close(fd);
}

/* A service of the host is the one on 127.0.0.1: on ::1 may be somebody else. */
static void
test_service(struct tap *tap, int fd)
{
	int v6 = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct waiting attempt = attempt_v4(fd, "127.0.0.1", SERVICE_PORT);

	tap_ok(tap, internet_judge(&caller, &attempt) == 0,
	    "a service of the host is connected to");
	attempt = attempt_v4(fd, "127.0.0.1", SERVICE_PORT + 1);
	tap_ok(tap, internet_judge(&caller, &attempt) == -EACCES,
	    "at its port alone");
	if (v6 < 0) {
		tap_skip(tap, "the kernel has no IPv6", "a service on ::1");
		return;
	}
	attempt = attempt_v6(v6, sizeof attempt.address.in6);
	attempt.address.in6.sin6_addr = in6addr_loopback;
	attempt.address.in6.sin6_port = htons(SERVICE_PORT);
	tap_ok(tap, internet_judge(&caller, &attempt) == -EACCES,
	    "and not on ::1");
	close(v6);
}

/* A port that the proxy was told twice might be somebody else's by then. */
static void
test_proxy(struct tap *tap)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof at;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct waiting attempt = attempt_v4(fd, "127.0.0.1", SBX_PROXY_PORT);
	struct endpoint own;

	tap_ok(tap, internet_judge(&caller, &attempt) == -ECONNREFUSED,
	    "without a proxy nobody is led to it");
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&at, sizeof at) != 0 ||
	    listen(server, 1) != 0 ||
	    getsockname(server, (struct sockaddr *)&at, &len) != 0)
		printf("Bail out! no server\n");
	proxy_port = ntohs(at.sin_port);
	tap_ok(tap,
	    internet_judge(&caller, &attempt) == 0 && announced == 1 &&
		internet_name(fd, &own) && own.port == announced_port &&
		attempt.address.in.sin_port == at.sin_port,
	    "who is led to the proxy is announced by the port that he has");
	tap_ok(tap,
	    connect(fd, &attempt.address.any, attempt.len) == 0 &&
		!internet_is_closed(fd),
	    "and comes from there");
	attempt = attempt_v4(fd, "127.0.0.1", SBX_PROXY_PORT);
	tap_ok(tap, internet_judge(&caller, &attempt) == 0 && announced == 1,
	    "who asks how it goes on is not announced again");
	close(fd);
	close(server);
}

static bool
listens(int fd)
{
	int value = 0;
	socklen_t len = sizeof value;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) == 0 &&
	    value != 0;
}

/* A socket at a port of this address. */
static int
bound(uint32_t address, struct sockaddr_in *at)
{
	socklen_t len = sizeof *at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(address) };
	if (bind(fd, (struct sockaddr *)at, sizeof *at) != 0 ||
	    getsockname(fd, (struct sockaddr *)at, &len) != 0)
		printf("Bail out! no port\n");
	is_signed = was_signed = false;
	return fd;
}

/* shutdown(2) of a socket that connects takes its address back at any time. */
static void
test_published(struct tap *tap)
{
	struct sockaddr_in at;
	int fd = bound(INADDR_LOOPBACK, &at);

	tap_ok(tap,
	    internet_listen(&caller, fd) == 0 && listens(fd) && was_signed &&
		!is_signed,
	    "a published server is open once it is seen where it listens");
	close(fd);
	fd = bound(INADDR_ANY, &at);
	tap_ok(tap,
	    internet_listen(&caller, fd) == ANSWER_INSIDE && !listens(fd),
	    "one at all addresses is not published");
	stale = at;
	stale.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tap_ok(tap,
	    internet_listen(&caller, fd) == -EACCES && !listens(fd) &&
		is_signed,
	    "and not either if it was somewhere else just before");
	tap_ok(tap, was_signed, "nor meanwhile");
	close(fd);
}

int
main(void)
{
	struct tap tap = { 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	test_sockets(&tap);
	test_back(&tap, fd);
	test_refused(&tap, fd);
	test_addresses(&tap);
	test_service(&tap, fd);
	test_proxy(&tap);
	test_published(&tap);
	close(fd);
	return tap_done(&tap);
}
