/*
 * Whether a connection to 127.0.0.1 or ::1 fails because the network is the
 * sandbox's own: a service of the host listens there, and none inside.
 */
#ifndef SBX_LOOPBACK_H
#define SBX_LOOPBACK_H

#include "format/addresses.h"
#include "runtime/listen/caller.h"

bool loopback_judge(const struct caller *caller,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial);

#endif
