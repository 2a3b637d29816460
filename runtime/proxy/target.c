/*
 * Where a connection shall go: a name or an address, and a port.
 */
#include "runtime/proxy/protocols.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

enum { MAPPED = 12 }; /* bytes before an address of IPv4 */

static const uint8_t mapped[MAPPED] = { [10] = 0xff, [11] = 0xff };

void
target_address(struct target *target, const uint8_t address[SBX_ADDRESS_SIZE],
    uint16_t port)
{
	bool v4 = sbx_address_is_v4(address);

	*target = (struct target){ .port = port };
	memcpy(target->address, address, SBX_ADDRESS_SIZE);
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + MAPPED : address,
	    target->name, sizeof target->name);
}

bool
target_parse(struct target *target, struct text host, uint16_t port)
{
	uint8_t address[SBX_ADDRESS_SIZE];
	char text[INET6_ADDRSTRLEN];

	*target = (struct target){ .port = port };
	if (host.len < sizeof text && memchr(host.at, '\0', host.len) == NULL) {
		memcpy(text, host.at, host.len);
		text[host.len] = '\0';
		memcpy(address, mapped, MAPPED);
		if (inet_pton(AF_INET, text, address + MAPPED) == 1 ||
		    inet_pton(AF_INET6, text, address) == 1) {
			target_address(target, address, port);
			return true;
		}
	}
	target->by_name = sbx_name_normal(host.at, host.len, target->name);
	return target->by_name;
}

socklen_t
address_to_socket(const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    union socket_address *to)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (sbx_address_is_v4(address)) {
		v4.sin_port = htons(port);
		memcpy(&v4.sin_addr, address + MAPPED, sizeof v4.sin_addr);
		memcpy(to, &v4, sizeof v4);
		return sizeof v4;
	}
	v6.sin6_port = htons(port);
	memcpy(&v6.sin6_addr, address, sizeof v6.sin6_addr);
	memcpy(to, &v6, sizeof v6);
	return sizeof v6;
}

bool
address_from_socket(const union socket_address *from,
    uint8_t address[SBX_ADDRESS_SIZE], uint16_t *port)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (from->any.sa_family == AF_INET) {
		memcpy(&v4, from, sizeof v4);
		memcpy(address, mapped, MAPPED);
		memcpy(address + MAPPED, &v4.sin_addr, sizeof v4.sin_addr);
		*port = ntohs(v4.sin_port);
		return true;
	}
	if (from->any.sa_family != AF_INET6)
		return false;
	memcpy(&v6, from, sizeof v6);
	memcpy(address, &v6.sin6_addr, SBX_ADDRESS_SIZE);
	*port = ntohs(v6.sin6_port);
	return true;
}
