/*
 * Addresses of hosts: which rule is about one, and which addresses are public.
 * An address has 16 bytes in network order; one of IPv4 is ::ffff:a.b.c.d.
 */
#include "format/model.h"

struct net {
	uint8_t address[SBX_ADDRESS_SIZE];
	uint8_t prefix;
};

/* clang-format off */
#define V4(a, b, c, d, bits) \
	{ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d }, \
	    96 + (bits) }
#define V6(a, b, c, d, e, f, bits) \
	{ { (a) >> 8, (a) & 0xff, (b) >> 8, (b) & 0xff, (c) >> 8, (c) & 0xff, \
	    (d) >> 8, (d) & 0xff, (e) >> 8, (e) & 0xff, (f) >> 8, (f) & 0xff, \
	    0, 0, 0, 0 }, (bits) }

/* What does not lead to a host of the internet (the registries of IANA for
 * special addresses), or leads to a machine's own services. */
static const struct net special[] = {
	V4(0, 0, 0, 0, 8),		/* this network */
	V4(10, 0, 0, 0, 8),		/* private */
	V4(100, 64, 0, 0, 10),		/* of a provider's translation */
	V4(127, 0, 0, 0, 8),		/* loopback */
	V4(168, 63, 129, 16, 32),	/* the services of a machine in Azure */
	V4(169, 254, 0, 0, 16),		/* link-local: metadata of clouds */
	V4(172, 16, 0, 0, 12),		/* private */
	V4(192, 0, 0, 0, 24),		/* of protocols */
	V4(192, 0, 2, 0, 24),		/* documentation */
	V4(192, 88, 99, 0, 24),		/* relays of 6to4 */
	V4(192, 168, 0, 0, 16),		/* private */
	V4(198, 18, 0, 0, SBX_FAKE_PREFIX),	/* benchmarks: SBX_FAKE_NET */
	V4(198, 51, 100, 0, 24),	/* documentation */
	V4(203, 0, 113, 0, 24),		/* documentation */
	V4(224, 0, 0, 0, 3),		/* multicast, reserved, broadcast */
	V6(0x2001, 0, 0, 0, 0, 0, 23),	/* of protocols: Teredo, benchmarks */
	V6(0x2001, 0xdb8, 0, 0, 0, 0, 32),	/* documentation */
	V6(0x2002, 0, 0, 0, 0, 0, 16),	/* 6to4, which wraps any of IPv4 */
	V6(0x3fff, 0, 0, 0, 0, 0, 20),	/* documentation */
};

static const struct net v4 = V4(0, 0, 0, 0, 0);
/* All addresses of IPv6 that are given to hosts of the internet. */
static const struct net unicast = V6(0x2000, 0, 0, 0, 0, 0, 3);

static const struct net reserved[] = {
	V4(0, 0, 0, 0, 8),		/* 0.0.0.0 is the machine itself */
	V4(127, 0, 0, 0, 8),
	V4(198, 18, 0, 0, SBX_FAKE_PREFIX),
	V4(224, 0, 0, 0, 3),		/* no TCP */
	V6(0, 0, 0, 0, 0, 0, 127),	/* :: and ::1 */
	V6(0x100, 0, 0, 0, 0, 0, SBX_FAKE_V6_PREFIX),
	V6(0xff00, 0, 0, 0, 0, 0, 8),	/* multicast */
};

/* Where clouds give a machine its own services, keys included. */
static const struct net metadata[] = {
	V4(100, 100, 100, 200, 32),	/* Alibaba */
	V4(168, 63, 129, 16, 32),	/* Azure */
	V4(169, 254, 0, 0, 16),		/* link-local: nearly all */
	V4(192, 0, 0, 192, 32),		/* Oracle, formerly */
	V6(0xfd00, 0xec2, 0, 0, 0, 0, 32),	/* Amazon */
	{ { 0xfd, 0x20, 0, 0xce, [14] = 2, 0x54 }, 128 },	/* Google */
	V6(0xfe80, 0, 0, 0, 0, 0, 10),	/* link-local */
};

/* These wrap any address of IPv4, a metadata service's included. */
static const struct net wrappers[] = {
	V6(0, 0, 0, 0, 0, 0, 96),	/* IPv4-compatible */
	V6(0, 0, 0, 0, 0xffff, 0, 96),	/* IPv4-translated (RFC 2765) */
	V6(0x64, 0xff9b, 1, 0, 0, 0, 48),	/* a network's own NAT64 */
	V6(0x2001, 0, 0, 0, 0, 0, 32),	/* Teredo */
	V6(0x2002, 0, 0, 0, 0, 0, 16),	/* 6to4 */
};
static const struct net nat64 = V6(0x64, 0xff9b, 0, 0, 0, 0, 96);
/* clang-format on */

/* From the end, where addresses of one place differ. */
bool
sbx_address_covers(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix,
    const uint8_t address[SBX_ADDRESS_SIZE])
{
	unsigned whole = prefix / 8, rest = prefix % 8;

	if (rest > 0 && (net[whole] ^ address[whole]) >> (8 - rest) != 0)
		return false;
	while (whole > 0 && net[whole - 1] == address[whole - 1])
		whole--;
	return whole == 0;
}

bool
sbx_address_is_net(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix)
{
	for (unsigned bit = prefix; bit < SBX_ADDRESS_BITS; bit++) {
		if ((net[bit / 8] & 0x80u >> bit % 8) != 0)
			return false;
	}
	return true;
}

static bool
is_in(const struct net *nets, size_t count,
    const uint8_t address[SBX_ADDRESS_SIZE])
{
	for (size_t i = 0; i < count; i++) {
		if (sbx_address_covers(nets[i].address, nets[i].prefix,
			address))
			return true;
	}
	return false;
}

bool
sbx_address_is_v4(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return is_in(&v4, 1, address);
}

const uint8_t sbx_fake_v6[SBX_ADDRESS_SIZE] = { 1 };

bool
sbx_address_is_fake(const uint8_t address[SBX_ADDRESS_SIZE], uint32_t *fake)
{
	const uint8_t *last = address + SBX_ADDRESS_SIZE - 4;
	uint32_t number = (uint32_t)last[0] << 24 | (uint32_t)last[1] << 16 |
	    (uint32_t)last[2] << 8 | last[3];

	if (fake != NULL)
		*fake = number;
	return (sbx_address_is_v4(address) ||
		   sbx_address_covers(sbx_fake_v6, SBX_ADDRESS_BITS - 32,
		       address)) &&
	    (number ^ SBX_FAKE_NET) >> (32 - SBX_FAKE_PREFIX) == 0;
}

bool
sbx_address_is_reserved(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix)
{
	for (size_t i = 0; i < countof(reserved); i++) {
		const struct net *other = &reserved[i];

		/* Of two networks one has the other, or they share nothing. */
		if (sbx_address_covers(other->address,
			other->prefix < prefix ? other->prefix : prefix, net))
			return true;
	}
	return false;
}

bool
sbx_address_is_public(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return (is_in(&v4, 1, address) || is_in(&unicast, 1, address)) &&
	    !is_in(special, countof(special), address);
}

bool
sbx_address_is_metadata(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return is_in(metadata, countof(metadata), address);
}

const uint8_t *
sbx_address_metadata(size_t number, uint8_t *prefix)
{
	if (number >= countof(metadata))
		return NULL;
	*prefix = metadata[number].prefix;
	return metadata[number].address;
}

bool
sbx_address_is_wrapped(const uint8_t address[SBX_ADDRESS_SIZE])
{
	uint8_t inner[SBX_ADDRESS_SIZE] = { [10] = 0xff, [11] = 0xff };

	if (!is_in(&nat64, 1, address))
		return is_in(wrappers, countof(wrappers), address);
	/* RFC 6052, section 3.1: this prefix is for public addresses alone. */
	for (unsigned i = SBX_ADDRESS_SIZE - 4; i < SBX_ADDRESS_SIZE; i++)
		inner[i] = address[i];
	return !sbx_address_is_public(inner);
}

struct sbx_verdict
sbx_endpoint_verdict(const struct sbx_blob *blob, uint8_t platforms,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port)
{
	struct sbx_verdict verdict = { .rule = SBX_NO_RULE };

	for (uint32_t i = 0; i < blob->endpoint_count; i++) {
		const struct sbx_endpoint *rule = &blob->endpoints[i];

		if ((rule->platforms & platforms) == 0 || port < rule->low ||
		    port > rule->high ||
		    !sbx_address_covers(rule->address, rule->prefix, address))
			continue;
		verdict.rule = i;
		verdict.preferred = rule->effect == SBX_PREFER_DENY;
		verdict.reason = SBX_BECAUSE_DENIED;
		if (rule->effect != SBX_ALLOW)
			return verdict;
		verdict.reason = SBX_BECAUSE_ALLOWED;
	}
	return verdict;
}
