/*
 * Where a connection shall go: a name or an address, and a port.
 */
#ifndef SBX_PROXY_TARGET_H
#define SBX_PROXY_TARGET_H

#include "format/addresses.h"
#include "format/names.h"
#include "runtime/proxy/text.h"

#include <sys/socket.h>

struct target {
	bool by_name;
	uint16_t port;
	char name[SBX_NAME_SIZE]; /* of an address: as text */
	uint8_t address[SBX_ADDRESS_SIZE];
};

/* A name, or an address in its one usual spelling.  Another spelling is
 * neither: a resolver would take 127.1 for an address that nobody has
 * judged. */
bool target_parse(struct target *target, struct text host, uint16_t port);
void target_address(struct target *target,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port);

/* The two forms of an address: that of the kernel, and ours. */
union socket_address {
	struct sockaddr any;
	struct sockaddr_storage storage;
};
socklen_t address_to_socket(const uint8_t address[SBX_ADDRESS_SIZE],
    uint16_t port, union socket_address *to);
/* False: it is of neither IPv4 nor IPv6. */
bool address_from_socket(const union socket_address *from,
    uint8_t address[SBX_ADDRESS_SIZE], uint16_t *port);

#endif
