/*
 * Whether services of the host may listen in what a policy shows.
 */
#ifndef SBX_SERVICES_H
#define SBX_SERVICES_H

#include "runtime/bind/bind.h"

/* Whether there is a place, one that may be written or one that is only to be
 * read, in which a socket may lie, now or later: a socket itself, or a
 * directory other than those that programs are kept in, and the scratch
 * directory. */
bool bind_shows_services(const struct binding *binding, bool written);

#endif
