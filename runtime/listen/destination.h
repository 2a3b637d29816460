/*
 * Where a program would have connected to that got no socket: it did not come to
 * say that, but its command line often does.
 */
#ifndef SBX_DESTINATION_H
#define SBX_DESTINATION_H

#include "format/denial.h"
#include "runtime/listen/caller.h"

/* Fills in the name or address as `path`, and the port if there is one. */
void destination_guess(const struct caller *caller, struct sbx_denial *denial);

#endif
