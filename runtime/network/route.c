/*
 * See network.h.  All routes are in one message to the kernel, which has carried
 * it out when send(2) returns.  It answers each route that it does not take,
 * and the last one in any case.
 */
#include "runtime/network/network.h"

#include "format/model.h"
#include "runtime/base/kernel.h"

#include <string.h>
#include <sys/socket.h>

/* rtnetlink(7); linux/netlink.h and linux/rtnetlink.h. */
enum {
	NETLINK_ERROR = 2,
	NEW_ROUTE = 24,
	FLAG_REQUEST = 1,
	FLAG_ACK = 4,
	FLAG_CREATE = 0x400,
	TABLE_LOCAL = 255,
	PROTOCOL_BOOT = 3,
	SCOPE_HOST = 254,
	TYPE_LOCAL = 2,
	ATTRIBUTE_DESTINATION = 1,
	ATTRIBUTE_DEVICE = 4,
};

/* The first device of a network namespace is lo. */
enum { LOOPBACK_INDEX = 1 };

enum { V4_BYTES = 4, V4_BEGIN = SBX_ADDRESS_SIZE - V4_BYTES, V4_BITS = 96 };

struct message_header {
	uint32_t size;
	uint16_t type, flags;
	uint32_t number, port;
};

struct route_header {
	uint8_t family, prefix, source_prefix, service, table, protocol, scope,
	    type;
	uint32_t flags;
};

struct attribute {
	uint16_t size, type;
};

/* A route to one network; of IPv4, the message ends after four bytes. */
struct route {
	struct message_header header;
	struct route_header route;
	struct attribute device_attribute;
	uint32_t device;
	struct attribute attribute;
	uint8_t address[SBX_ADDRESS_SIZE];
};

struct answer {
	struct message_header header;
	int32_t error; /* negative; 0: it was carried out */
	struct message_header about;
};

struct routes {
	char *bytes; /* with room for all */
	uint32_t used;
	uint32_t last; /* where the last one begins */
};

static void
add(struct routes *routes, const uint8_t address[SBX_ADDRESS_SIZE],
    uint8_t prefix)
{
	bool v4 = sbx_address_is_v4(address);
	uint16_t size = v4 ? V4_BYTES : SBX_ADDRESS_SIZE;
	struct route route = {
		.header = {
			.size = (uint32_t)sizeof route - SBX_ADDRESS_SIZE +
			    size,
			.type = NEW_ROUTE,
			.flags = FLAG_REQUEST | FLAG_CREATE,
			/* The answer has it again. */
			.number = v4 ? AF_INET : AF_INET6,
		},
		.route = {
			.family = v4 ? AF_INET : AF_INET6,
			.prefix = v4 ? prefix - V4_BITS : prefix,
			.table = TABLE_LOCAL,
			.protocol = PROTOCOL_BOOT,
			.scope = v4 ? SCOPE_HOST : 0,
			.type = TYPE_LOCAL,
		},
		.device_attribute = { sizeof(struct attribute) +
			sizeof(uint32_t), ATTRIBUTE_DEVICE },
		.device = LOOPBACK_INDEX,
		.attribute = { (uint16_t)(sizeof(struct attribute) + size),
		    ATTRIBUTE_DESTINATION },
	};

	memcpy(route.address, address + (v4 ? V4_BEGIN : 0), size);
	routes->last = routes->used;
	memcpy(routes->bytes + routes->used, &route, route.header.size);
	routes->used += route.header.size;
}

/* Rules are sorted by address, and several are about ports of one. */
static bool
is_same(const struct sbx_endpoint *rule, const struct sbx_endpoint *other)
{
	return other != NULL && rule->prefix == other->prefix &&
	    memcmp(rule->address, other->address, SBX_ADDRESS_SIZE) == 0;
}

static void
add_all(struct routes *routes, const struct sbx_blob *blob, bool names)
{
	static const uint8_t handed_out[SBX_ADDRESS_SIZE] = {
		[10] = 0xff,
		[11] = 0xff,
		[12] = SBX_FAKE_NET >> 24,
		[13] = SBX_FAKE_NET >> 16 & 0xff,
	};
	const struct sbx_endpoint *added = NULL;

	if (names) {
		add(routes, sbx_fake_v6, SBX_FAKE_V6_PREFIX);
		add(routes, handed_out, V4_BITS + SBX_FAKE_PREFIX);
	}
	for (uint32_t i = 0; i < blob->endpoint_count; i++) {
		const struct sbx_endpoint *rule = &blob->endpoints[i];

		if ((rule->platforms & KERNEL_WHERE) == 0 ||
		    rule->effect != SBX_ALLOW || is_same(rule, added))
			continue;
		add(routes, rule->address, rule->prefix);
		added = rule;
	}
}

/*
 * EEXIST: there is such a route.  Where the machine has no IPv6, or it is
 * switched off, its addresses lead nowhere, as outside.
 */
static bool
is_fault(const struct answer *answer)
{
	int error = -answer->error;

	if (error == 0 || error == EEXIST)
		return false;
	return answer->about.number != AF_INET6 ||
	    (error != EOPNOTSUPP && error != EAFNOSUPPORT && error != EACCES &&
		error != ENODEV);
}

static bool
read_answers(int socket, const struct message_header *last,
    struct routing *routing)
{
	struct answer answer = { .error = 0 };
	ssize_t got;

	do {
		got = recv(socket, &answer, sizeof answer, MSG_DONTWAIT);
		if (got < 0)
			return false;
		if ((size_t)got < sizeof answer ||
		    answer.header.type != NETLINK_ERROR) {
			errno = EPROTO;
			return false;
		}
		routing->v6 &= answer.error == 0 || answer.error == -EEXIST ||
		    answer.about.number != AF_INET6;
		if (is_fault(&answer)) {
			errno = -answer.error;
			return false;
		}
	} while ((answer.about.flags & FLAG_ACK) == 0);
	return answer.about.type == last->type;
}

bool
route_add(int socket, struct arena *arena, const struct sbx_blob *blob,
    struct routing *routing)
{
	struct routes routes = {
		.bytes = arena_take(arena, blob->endpoint_count + 2,
		    sizeof(struct route)),
	};
	struct message_header last;

	routing->v6 = true;
	add_all(&routes, blob, routing->names);
	if (routes.used == 0)
		return true;
	memcpy(&last, routes.bytes + routes.last, sizeof last);
	last.flags |= FLAG_ACK;
	memcpy(routes.bytes + routes.last, &last, sizeof last);
	return send(socket, routes.bytes, routes.used, 0) ==
	    (ssize_t)routes.used &&
	    read_answers(socket, &last, routing);
}
