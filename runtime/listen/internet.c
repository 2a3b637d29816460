/*
 * TCP at level standard, in the network of the host, for a policy that names
 * single ways out or wants a network of its own.  Landlock's rules have no
 * address, so it opens no port to connect to: the supervisor judges the address
 * and connects its copy of the socket.  It does listen(2) as well.  What is
 * meant for the sandbox itself, inside.c does.
 *
 * 127.0.0.1:3128 stands for sbx-proxy, which listens on a port of the kernel's
 * choice.  There it takes only connections from ports that it was told before.
 */
#include "runtime/listen/answers.h"

#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/network/event.h"
#include "runtime/network/network.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum { STATE_CLOSED = 7 /* TCP_CLOSE */ };

/* Up to here an address of IPv6 was long once. */
enum { V6_LEAST = offsetof(struct sockaddr_in6, sin6_scope_id) };

const uint8_t address_v4_prefix[] = { [10] = 0xff, [11] = 0xff };
const uint8_t address_here[] = { 127, 0, 0, 1 };

static int
option(int socket, int level, int name)
{
	int value;
	socklen_t len = sizeof value;

	return getsockopt(socket, level, name, &value, &len) == 0 ? value : -1;
}

bool
internet_is_judged(const struct listening *listening, int socket)
{
	int domain = option(socket, SOL_SOCKET, SO_DOMAIN);

	return listening->inside && (domain == AF_INET || domain == AF_INET6) &&
	    option(socket, SOL_SOCKET, SO_TYPE) == SOCK_STREAM &&
	    option(socket, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP;
}

bool
internet_is_ready(int socket)
{
	struct pollfd wait = { .fd = socket, .events = POLLOUT };

	return poll(&wait, 1, 0) != 0;
}

/* --- addresses ------------------------------------------------------------ */

static bool
read_endpoint(const union address *address, uint32_t len,
    struct endpoint *endpoint)
{
	if (address->any.sa_family == AF_INET && len >= sizeof address->in) {
		memcpy(endpoint->address, address_v4_prefix,
		    sizeof address_v4_prefix);
		memcpy(endpoint->address + sizeof address_v4_prefix,
		    &address->in.sin_addr, sizeof address_here);
		endpoint->port = ntohs(address->in.sin_port);
		return true;
	}
	if (address->any.sa_family == AF_INET6 && len >= V6_LEAST) {
		memcpy(endpoint->address, &address->in6.sin6_addr,
		    sizeof endpoint->address);
		endpoint->port = ntohs(address->in6.sin6_port);
		return true;
	}
	return false;
}

bool
internet_name(int socket, struct endpoint *endpoint)
{
	union address address = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t len = sizeof address;

	return getsockname(socket, &address.any, &len) == 0 &&
	    read_endpoint(&address, len, endpoint);
}

/* 127.0.0.1, whichever way it is written. */
static bool
is_here(const struct endpoint *endpoint)
{
	return memcmp(endpoint->address, address_v4_prefix,
		   sizeof address_v4_prefix) == 0 &&
	    memcmp(endpoint->address + sizeof address_v4_prefix, address_here,
		sizeof address_here) == 0;
}

static bool
is_loopback(const struct endpoint *endpoint)
{
	return is_here(endpoint) ||
	    memcmp(endpoint->address, &in6addr_loopback,
		sizeof endpoint->address) == 0;
}

/* Nothing of what the caller wrote stays but what was judged. */
static void
write_endpoint(const struct endpoint *endpoint, int family,
    struct waiting *attempt)
{
	uint32_t scope = attempt->len >= sizeof attempt->address.in6 ?
	    attempt->address.in6.sin6_scope_id :
	    0;

	memset(&attempt->address, 0, sizeof attempt->address);
	attempt->address.any.sa_family = (sa_family_t)family;
	if (family == AF_INET) {
		attempt->address.in.sin_port = htons(endpoint->port);
		memcpy(&attempt->address.in.sin_addr,
		    endpoint->address + sizeof address_v4_prefix,
		    sizeof address_here);
		attempt->len = sizeof attempt->address.in;
		return;
	}
	attempt->address.in6.sin6_port = htons(endpoint->port);
	attempt->address.in6.sin6_scope_id = scope;
	memcpy(&attempt->address.in6.sin6_addr, endpoint->address,
	    sizeof endpoint->address);
	attempt->len = sizeof attempt->address.in6;
}

/* --- the proxy ------------------------------------------------------------ */

bool
internet_is_closed(int socket)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof info;

	return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	    info.tcpi_state == STATE_CLOSED;
}

static uint16_t
port_of(int socket)
{
	struct endpoint endpoint;

	return internet_name(socket, &endpoint) ? endpoint.port : 0;
}

/* The proxy must know the port before it sees the connection. */
static int
introduce(const struct listening *listening, struct waiting *attempt,
    int family)
{
	struct endpoint any = { .port = 0 };
	struct waiting from = { .len = 0 };
	uint16_t port;

	memcpy(any.address, address_v4_prefix, sizeof address_v4_prefix);
	memcpy(any.address + sizeof address_v4_prefix, address_here,
	    sizeof address_here);
	write_endpoint(&any, family, &from);
	if (port_of(attempt->socket) == 0 &&
	    bind(attempt->socket, &from.address.any, from.len) != 0)
		return -errno;
	port = port_of(attempt->socket);
	return port != 0 ? network_announce(listening->network, port) :
			   -ECONNREFUSED;
}

static int
lead_to_proxy(const struct listening *listening, struct waiting *attempt,
    struct endpoint *endpoint, int family)
{
	uint16_t port = network_host_port(listening->network);
	int error = 0;

	if (port == 0)
		return -ECONNREFUSED;
	/* A program may ask again how its attempt goes on. */
	if (internet_is_closed(attempt->socket))
		error = introduce(listening, attempt, family);
	endpoint->port = port;
	write_endpoint(endpoint, family, attempt);
	return error;
}

/* --- verdicts ------------------------------------------------------------- */

/* What is refused here is told with what sbx-proxy refuses. */
static int
take_verdict(const struct listening *listening, const struct endpoint *endpoint,
    enum proxy_via via, struct sbx_verdict verdict)
{
	struct proxy_event event = {
		.version = PROXY_EVENT_VERSION,
		.via = (uint8_t)via,
		.verdict = verdict.reason == SBX_BECAUSE_DENIED ? PROXY_DENIED :
								  PROXY_NO_RULE,
		.port = endpoint->port,
		.rule = verdict.rule,
	};
	struct out name;

	if (verdict.reason == SBX_BECAUSE_ALLOWED)
		return 0;
	out_into(&name, event.name, sizeof event.name);
	out_address(&name, endpoint->address);
	decisions_take(&listening->network->decisions, &event, sizeof event);
	return -EACCES;
}

static bool
is_service(const struct listening *listening, const struct endpoint *endpoint)
{
	struct sbx_verdict verdict = sbx_port_verdict(listening->binding->blob,
	    KERNEL_WHERE, SBX_HOST_TCP, endpoint->port);

	return listening->selected && is_here(endpoint) &&
	    sbx_verdict_allows(verdict);
}

static bool
is_published(const struct listening *listening, const struct endpoint *endpoint)
{
	struct sbx_verdict verdict = sbx_port_verdict(listening->binding->blob,
	    KERNEL_WHERE, SBX_PUBLISH_TCP, endpoint->port);

	return listening->selected && endpoint->port != 0 &&
	    is_loopback(endpoint) && sbx_verdict_allows(verdict);
}

/* A service of the host is not there, as in a network of its own; one that a
 * rule could name is told. */
static int
judge_inside(const struct caller *caller, struct waiting *attempt,
    const struct endpoint *endpoint)
{
	const struct listening *listening = caller->listening;
	int error = inside_connect(caller, attempt->socket, endpoint);

	attempt->servers = listening->servers;
	return error == -ECONNREFUSED && listening->selected &&
		is_here(endpoint) && inside_is_taken(caller, endpoint) ?
	    take_verdict(listening, endpoint, PROXY_BY_HOST,
		sbx_port_verdict(listening->binding->blob, KERNEL_WHERE,
		    SBX_HOST_TCP, endpoint->port)) :
	    error;
}

static int
judge_connection(const struct caller *caller, struct waiting *attempt,
    struct endpoint *endpoint)
{
	const struct listening *listening = caller->listening;

	if (is_service(listening, endpoint))
		return 0;
	if (inside_is_meant(endpoint))
		return judge_inside(caller, attempt, endpoint);
	if (!listening->selected)
		return -ENETUNREACH;
	return take_verdict(listening, endpoint, PROXY_BY_ENDPOINT,
	    sbx_endpoint_verdict(listening->binding->blob, KERNEL_WHERE,
		endpoint->address, endpoint->port));
}

int
internet_judge(const struct caller *caller, struct waiting *attempt)
{
	const struct listening *listening = caller->listening;
	int family = option(attempt->socket, SOL_SOCKET, SO_DOMAIN);
	struct endpoint endpoint;
	int error;

	/* That takes an attempt back. */
	if (attempt->address.any.sa_family == AF_UNSPEC &&
	    attempt->len >= sizeof attempt->address.any) {
		attempt->len = sizeof attempt->address.any;
		return 0;
	}
	if (attempt->address.any.sa_family != family)
		return -EAFNOSUPPORT;
	if (!read_endpoint(&attempt->address, attempt->len, &endpoint))
		return -EINVAL;
	if (listening->selected && is_here(&endpoint) &&
	    endpoint.port == SBX_PROXY_PORT)
		return lead_to_proxy(listening, attempt, &endpoint, family);
	error = judge_connection(caller, attempt, &endpoint);
	if (error == 0)
		write_endpoint(&endpoint, family, attempt);
	return error;
}

/*
 * Others who share the socket may change its name until it listens: shutdown(2)
 * while it connects makes 0.0.0.0 of 127.0.0.1.  So what counts is the name that
 * it has then, which stays while it listens, and up to there the key keeps
 * everybody out.  It listens no more after a shutdown(2), and not again but by
 * another call that comes here.
 */
static int
publish(const struct caller *caller, int socket)
{
	struct endpoint endpoint;

	if (!inside_sign(caller->listening->servers, socket))
		return -EACCES;
	if (listen(socket, (int)caller->call.args[1]) != 0)
		return -errno;
	if (internet_name(socket, &endpoint) &&
	    is_published(caller->listening, &endpoint) && inside_unsign(socket))
		return 0;
	shutdown(socket, SHUT_RDWR);
	return -EACCES;
}

int
internet_listen(const struct caller *caller, int socket)
{
	struct endpoint endpoint;

	if (!internet_name(socket, &endpoint))
		return -EACCES;
	if (!is_published(caller->listening, &endpoint))
		return inside_listen(caller, socket, &endpoint);
	return publish(caller, socket);
}
