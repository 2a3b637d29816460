/*
 * What a policy opens, or shuts, that filters depend on.
 */
#ifndef SBX_OPENINGS_H
#define SBX_OPENINGS_H

#include "compiler/lower/filter.h"

/* Whether it lets the command listen on some port. */
bool policy_listens(const struct policy *policy, uint8_t platforms);

/* Whether level full shows sockets of the host's services. */
bool policy_shows_sockets(const struct policy *policy, uint8_t platforms);

/* Whether some rule about sockets opens one. */
bool policy_opens_sockets(const struct policy *policy, uint8_t platforms);

/* Makes `deny spawn` of a filter that has all the rest. */
void filter_deny_spawn(const struct policy *policy, struct filter *filter);

#endif
