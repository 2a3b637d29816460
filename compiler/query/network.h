/*
 * What a policy says of a host, by its name or its address, before the rules
 * about hosts are asked: they count in a network of the sandbox's own.
 */
#ifndef SBX_QUERY_NETWORK_H
#define SBX_QUERY_NETWORK_H

#include "compiler/query/remedy.h"
#include "compiler/query/why.h"

/*
 * Whether the network as a whole decides about a TCP port of any host: in the
 * host's network a port rule has no address, so it lets through to all.
 */
bool network_decides(const struct subject *subject, uint16_t port,
    struct verdict *verdict);

/* What a network of the sandbox's own says of a port, inside: any is open where
 * there is such a network, at level full. */
struct verdict network_inside(const struct subject *subject);

/* The verdict of a rule about hosts at the subject's level: below standard no
 * socket opens. */
struct verdict network_at_level(const struct subject *subject,
    struct verdict verdict);

/* Says what an allowed host still lacks. */
void network_say(const struct why *why);

/* What holds a denial at a level. */
const char *network_enforcer(const struct why *why, enum sbx_level level);

/* Offers what opens the network for rules about hosts; false if something else
 * has been said, after which no rule about a host would help. */
bool network_remedy(struct remedy *remedy);

#endif
