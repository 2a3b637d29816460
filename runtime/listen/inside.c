/*
 * TCP between processes of the sandbox at level standard, where the loopback
 * device is the host's.
 *
 * Whoever looks first whose server is there, and connects then, may come to
 * another one that has taken the port meanwhile.  So the kernel tells them
 * apart: the supervisor listens and connects for the command, and before that
 * gives the socket a key of this run (TCP_MD5SIG, RFC 2385).  The kernel drops
 * what comes without the key to a socket that has it, and what comes with a key
 * to a socket that has none.  The filter keeps the command from setting keys.
 *
 * Dropped is not refused: a client would wait for minutes.  So the supervisor
 * also knows the servers of the sandbox, and refuses where there is none.
 */
#include "runtime/listen/answers.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

/* Of linux/tcp.h and of socket(7), which older headers do not have. */
enum {
	SIGN = 32,   /* TCP_MD5SIG_EXT */
	PREFIX = 1,  /* TCP_MD5SIG_FLAG_PREFIX */
	COOKIE = 57, /* SO_COOKIE */
	KEY_MAX = 80,
	HERE_V4 = 127, /* 127.0.0.0/8 */
};

/* A key, and the addresses of the other side that it is for. */
struct signing {
	struct sockaddr_storage peer;
	uint8_t flags, prefix;
	uint16_t len;
	int device;
	uint8_t key[KEY_MAX];
};
_Static_assert(sizeof(struct signing) == 216, "as the kernel has it");

/* --- addresses ------------------------------------------------------------ */

bool
inside_is_meant(struct endpoint *endpoint)
{
	uint8_t *v4 = endpoint->address + sizeof address_v4_prefix;
	static const uint8_t nothing[SBX_ADDRESS_SIZE];

	if (memcmp(endpoint->address, nothing, sizeof nothing) == 0)
		memcpy(endpoint->address, &in6addr_loopback, sizeof nothing);
	if (!sbx_address_is_v4(endpoint->address))
		return memcmp(endpoint->address, &in6addr_loopback,
			   sizeof nothing) == 0;
	if (memcmp(v4, nothing, ADDRESS_V4_SIZE) == 0)
		memcpy(v4, address_here, ADDRESS_V4_SIZE);
	return v4[0] == HERE_V4;
}

/* --- keys ----------------------------------------------------------------- */

/* The key is for every address, given as one of this family that is all 0; one
 * of no length takes it off. */
static bool
sign_for(const struct tcp_servers *servers, int socket,
    const union address *nowhere, size_t len)
{
	struct signing signing = { .flags = PREFIX };

	memcpy(&signing.peer, nowhere, len);
	if (servers != NULL) {
		signing.len = sizeof servers->key;
		memcpy(signing.key, servers->key, sizeof servers->key);
	}
	return setsockopt(socket, IPPROTO_TCP, SIGN, &signing,
		   sizeof signing) == 0;
}

/* A socket of IPv6 may be a peer of one of IPv4 as well. */
static bool
sign_for_all(const struct tcp_servers *servers, int socket)
{
	union address v4 = { .in = { .sin_family = AF_INET } };
	union address v6 = { .in6 = { .sin6_family = AF_INET6 } };
	union address both = v6;
	int family;
	socklen_t len = sizeof family;

	if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &len) != 0)
		return false;
	if (family == AF_INET)
		return sign_for(servers, socket, &v4, sizeof v4.in);
	memcpy(&both.in6.sin6_addr, address_v4_prefix,
	    sizeof address_v4_prefix);
	return sign_for(servers, socket, &v6, sizeof v6.in6) &&
	    sign_for(servers, socket, &both, sizeof both.in6);
}

bool
inside_sign(struct servers *servers, int socket)
{
	struct tcp_servers *tcp = &servers->tcp;

	if (!tcp->has_key &&
	    getrandom(tcp->key, sizeof tcp->key, 0) != sizeof tcp->key)
		return false;
	tcp->has_key = true;
	return sign_for_all(tcp, socket);
}

bool
inside_unsign(int socket)
{
	return sign_for_all(NULL, socket);
}

/* --- servers -------------------------------------------------------------- */

static bool
is_known(const struct tcp_servers *servers, uint64_t cookie)
{
	for (uint32_t i = 0; i < servers->count; i++) {
		if (servers->list[i].cookie == cookie)
			return true;
	}
	return false;
}

/* Which socket takes a connection to there; 0: none. */
static uint64_t
listener_at(const struct servers *servers, const struct endpoint *endpoint)
{
	return diagnosis_listener(servers->diagnosis, endpoint->address,
	    endpoint->port);
}

bool
inside_is_taken(const struct caller *caller, const struct endpoint *endpoint)
{
	const struct servers *servers = caller->listening->servers;
	uint64_t cookie = listener_at(servers, endpoint);

	return cookie != 0 && !is_known(&servers->tcp, cookie);
}

/* One that has ended leaves its entry. */
static struct tcp_server *
free_entry(struct servers *servers)
{
	struct tcp_servers *tcp = &servers->tcp;

	if (tcp->count < TCP_SERVERS_MAX)
		return &tcp->list[tcp->count++];
	for (uint32_t i = 0; i < TCP_SERVERS_MAX; i++) {
		struct endpoint endpoint = { .port = tcp->list[i].port };

		memcpy(endpoint.address, tcp->list[i].address,
		    sizeof endpoint.address);
		if (!is_known(tcp, listener_at(servers, &endpoint)))
			return &tcp->list[i];
	}
	return NULL;
}

/* A socket that had no port until now got one by listen(2). */
static int
remember(struct servers *servers, int socket, uint64_t cookie)
{
	struct tcp_server *entry;
	struct endpoint endpoint;

	if (is_known(&servers->tcp, cookie))
		return 0;
	if (!internet_name(socket, &endpoint))
		return -EACCES;
	entry = free_entry(servers);
	if (entry == NULL)
		return -ENOBUFS;
	inside_is_meant(&endpoint);
	entry->cookie = cookie;
	entry->port = endpoint.port;
	memcpy(entry->address, endpoint.address, sizeof entry->address);
	return 0;
}

/* --- answers -------------------------------------------------------------- */

/* The key comes in any case: what a socket is connected to may end meanwhile,
 * and then the kernel connects it anew. */
int
inside_connect(const struct caller *caller, int socket,
    const struct endpoint *endpoint)
{
	struct servers *servers = caller->listening->servers;

	if (internet_is_closed(socket) &&
	    !is_known(&servers->tcp, listener_at(servers, endpoint)))
		return -ECONNREFUSED;
	return inside_sign(servers, socket) ? 0 : -EACCES;
}

/*
 * Under SO_REUSEPORT two servers of one user may share a port.  One of the host
 * would then lose the half of its clients, which have no key.
 */
int
inside_listen(const struct caller *caller, int socket,
    const struct endpoint *endpoint)
{
	struct servers *servers = caller->listening->servers;
	struct endpoint place = *endpoint;
	uint64_t cookie;
	socklen_t len = sizeof cookie;
	int error;

	inside_is_meant(&place);
	if (place.port != 0 && inside_is_taken(caller, &place))
		return -EADDRINUSE;
	if (getsockopt(socket, SOL_SOCKET, COOKIE, &cookie, &len) != 0 ||
	    !inside_sign(servers, socket))
		return -EACCES;
	if (listen(socket, (int)caller->call.args[1]) != 0)
		return -errno;
	error = remember(servers, socket, cookie);
	/* Nobody would find it. */
	if (error != 0)
		shutdown(socket, SHUT_RDWR);
	return error;
}
