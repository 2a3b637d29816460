/*
 * Addresses of hosts: which rule is about one, and which addresses are public.
 * An address has 16 bytes in network order; one of IPv4 is ::ffff:a.b.c.d.
 */
#ifndef SBX_ADDRESSES_H
#define SBX_ADDRESSES_H

#include "format/model.h"

enum { SBX_ADDRESS_SIZE = 16, SBX_ADDRESS_BITS = 128 };

/* Of the addresses that the sandbox's resolver hands out, one for each name:
 * 198.18.0.0/15, which RFC 2544 keeps for benchmarks; and with the same bits at
 * the end 100::/64, which RFC 6666 keeps for what leads nowhere. */
#define SBX_FAKE_NET 0xc6120000u
enum { SBX_FAKE_PREFIX = 15, SBX_FAKE_V6_PREFIX = 64 };
extern const uint8_t sbx_fake_v6[SBX_ADDRESS_SIZE];

/* Whether it is one of them; its last bits, or NULL, are that of IPv4. */
bool sbx_address_is_fake(const uint8_t address[SBX_ADDRESS_SIZE],
    uint32_t *fake);

/* Whether the first `prefix` bits of both are the same. */
bool sbx_address_covers(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix,
    const uint8_t address[SBX_ADDRESS_SIZE]);

/* Whether no bit is set beyond the prefix. */
bool sbx_address_is_net(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix);

bool sbx_address_is_v4(const uint8_t address[SBX_ADDRESS_SIZE]);

/*
 * Whether a network has an address of the machine itself or of the resolver's
 * own range, or is all of one family: then no rule may name it.
 */
bool sbx_address_is_reserved(const uint8_t net[SBX_ADDRESS_SIZE],
    uint8_t prefix);

/* Whether a name may lead to it without the word `private`. */
bool sbx_address_is_public(const uint8_t address[SBX_ADDRESS_SIZE]);

/* Whether it is link-local or of a cloud's metadata: no name may lead to it,
 * not even with that word. */
bool sbx_address_is_metadata(const uint8_t address[SBX_ADDRESS_SIZE]);

/* The number-th network of such addresses; NULL at the end. */
const uint8_t *sbx_address_metadata(size_t number, uint8_t *prefix);

/* Whether a translator or a tunnel takes it to an address of IPv4 that may be
 * of that kind, too: NAT64 of what is not public, 6to4, Teredo. */
bool sbx_address_is_wrapped(const uint8_t address[SBX_ADDRESS_SIZE]);

/* The verdict on a TCP port of an address, by the rules of section ENDPOINTS;
 * verdict.rule is an index into them. */
struct sbx_verdict sbx_endpoint_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port);

#endif
