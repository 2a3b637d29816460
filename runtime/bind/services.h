/*
 * Whether services of the host may listen in what a policy lets read.
 */
#ifndef SBX_SERVICES_H
#define SBX_SERVICES_H

#include "runtime/bind/bind.h"

/* Whether some place is only to be read in which a socket may lie, now or later:
 * a socket itself, or a directory other than those that programs are kept in. */
bool bind_shows_services(const struct binding *binding);

#endif
