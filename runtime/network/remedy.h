/*
 * A rule that would allow what was refused, as it stands in a policy.  The
 * client of sbx-proxy reads it, and so do the receipt and people.
 */
#ifndef SBX_NETWORK_REMEDY_H
#define SBX_NETWORK_REMEDY_H

#include "format/addresses.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"

/*
 * False, and nothing is written: no single rule would.  A rule denies it, which
 * stands elsewhere; or it was no matter of a rule.
 */
bool remedy_put(struct out *out, const struct proxy_event *event);

/* An address in its usual spelling; of IPv4 without the prefix. */
void out_address(struct out *out, const uint8_t address[SBX_ADDRESS_SIZE]);

#endif
