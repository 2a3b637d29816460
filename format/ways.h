/*
 * The ways out of a network of the sandbox's own (SBX_NET_SELECTED), in the
 * order in which the loader makes their sockets and the proxy serves them.  The
 * order is part of what the two have agreed on.
 */
#ifndef SBX_WAYS_H
#define SBX_WAYS_H

#include "format/blob.h"

enum {
	SBX_RESOLVER_PORT = 53,
	SBX_PROXY_PORT = 3128, /* where squid and its kin listen */
};

/* Each kind stands behind the one before it, its ports in ascending order. */
enum sbx_way_kind {
	SBX_WAY_RESOLVER,     /* UDP 127.0.0.1:53, if some name is allowed */
	SBX_WAY_RESOLVER_TCP, /* the same over TCP */
	SBX_WAY_PROXY,   /* TCP 127.0.0.1:3128, with names or a user's proxy */
	SBX_WAY_PORT,    /* TCP, any address: a port of names, of addresses, and
	                  * of the host's service of that number */
	SBX_WAY_HOST,    /* TCP 127.0.0.1: of the host's service alone */
	SBX_WAY_PUBLISH, /* TCP 127.0.0.1 of the host */
};

struct sbx_way {
	uint16_t port;
	uint8_t kind; /* enum sbx_way_kind */
};

/* How many there are; more than SBX_MAX_WAYS of a policy that has too many,
 * which no verified blob is. */
size_t sbx_ways(const struct sbx_blob *blob, uint8_t platforms,
    struct sbx_way ways[SBX_MAX_WAYS]);

/* Whether SBX_WAY_RESOLVER is among them: some name is allowed. */
bool sbx_ways_names(const struct sbx_blob *blob, uint8_t platforms);

/* Whether SBX_WAY_PROXY is among them: programs are then told of it. */
bool sbx_ways_proxy(const struct sbx_blob *blob, uint8_t platforms);

/* Whether a port inside is the resolver's or the proxy's, so that no rule may
 * name it. */
bool sbx_way_is_reserved(uint16_t port);

#endif
