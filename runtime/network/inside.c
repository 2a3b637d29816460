/* What the first process of a sandbox does for its ways out: see network.h. */
#include "runtime/network/network.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* ioctl(2) of a socket: its network namespace; Linux 4.9. */
#define SOCKET_NAMESPACE 0x894c /* SIOCGSKNS */

enum { ROUTE_PROTOCOL = 0 /* NETLINK_ROUTE */ };

/* "TEXT PORT: ERRNO" */
__attribute__((noreturn)) static void
refuse_way(const struct sbx_way *way, const char *text, int error)
{
	struct out port;

	out_init(&port, -1);
	out_print(&port, "port %u of the sandbox's network",
	    (unsigned)way->port);
	refuse(port.text, text, error);
}

static int
bind_v4(in_addr_t host, uint16_t port, int type)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(host),
	};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	return fd >= 0 &&
		bind(fd, (struct sockaddr *)&address, sizeof address) == 0 ?
	    fd :
	    -1;
}

/*
 * IPv4 and IPv6, or IPv4 alone where the machine has nothing else.  By the
 * family sbx-proxy knows whether names have addresses of IPv6, too.  In a new
 * network net.ipv6.bindv6only is off.
 */
static int
bind_any(uint16_t port, bool v6)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
		.sin6_port = htons(port) };
	int fd = v6 ? socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	if (fd >= 0)
		return bind(fd, (struct sockaddr *)&address, sizeof address) ==
			0 ?
		    fd :
		    -1;
	if (v6 && errno != EAFNOSUPPORT)
		return -1;
	return bind_v4(INADDR_ANY, port, SOCK_STREAM);
}

static int
open_way(const struct sbx_way *way, bool v6)
{
	bool datagrams = way->kind == SBX_WAY_RESOLVER;
	int fd = way->kind == SBX_WAY_PORT ?
	    bind_any(way->port, v6) :
	    bind_v4(INADDR_LOOPBACK, way->port,
		datagrams ? SOCK_DGRAM : SOCK_STREAM);

	if (fd < 0)
		refuse_way(way, "cannot be bound", errno);
	if (!datagrams && listen(fd, SOMAXCONN) != 0)
		refuse_way(way, "cannot be listened on", errno);
	return fd;
}

static bool
has_names(const struct network *network)
{
	return network->count > 0 && network->ways[0].kind == SBX_WAY_RESOLVER;
}

static int
open_network(int socket)
{
	int fd = ioctl(socket, SOCKET_NAMESPACE);

	if (fd < 0)
		refuse("network", "cannot open the sandbox's network", errno);
	return fd;
}

void
network_make(struct network *network, struct arena *arena)
{
	struct handing handing = { .count = 0 };
	struct routing routing = { .names = has_names(network) };
	int route;

	if (network->count == 0)
		return;
	route = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, ROUTE_PROTOCOL);
	if (route < 0 || !route_add(route, arena, network->blob, &routing))
		refuse("network",
		    "cannot make the addresses of the sandbox's network",
		    errno);
	if (network_publishes(network))
		handing.descriptors[handing.count++] = open_network(route);
	for (uint32_t i = 0; i < network->count; i++) {
		if (network->ways[i].kind != SBX_WAY_PUBLISH)
			handing.descriptors[handing.count++] =
			    open_way(&network->ways[i], routing.v6);
	}
	if (!handing_send(network->send, &handing))
		refuse("network",
		    "cannot hand over the sockets of the sandbox's network",
		    errno);
	/* No process inside may ever have one of these. */
	for (uint32_t i = 0; i < handing.count; i++)
		close(handing.descriptors[i]);
	close(route);
	network_forget(network);
}
