/*
 * Addresses that a network of the sandbox's own takes for itself.
 */
#ifndef SBX_NETWORK_ROUTE_H
#define SBX_NETWORK_ROUTE_H

#include "format/blob.h"
#include "runtime/base/arena.h"

struct routing {
	bool names; /* wanted */
	bool v6;    /* the answer: there is IPv6, too */
};

/*
 * Makes the addresses of the policy's endpoints, and with names those that the
 * resolver hands out, local ones: what listens on any address inside gets
 * the connections to them.  `socket` is of rtnetlink.  False with errno.
 */
bool route_add(int socket, struct arena *arena, const struct sbx_blob *blob,
    struct routing *routing);

#endif
