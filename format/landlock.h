/*
 * The rows of masks: what format/landlock.def says, for one ABI and one policy.
 * The compiler writes them into a blob, and the verifier holds a blob to them.
 */
#ifndef SBX_FORMAT_LANDLOCK_H
#define SBX_FORMAT_LANDLOCK_H

#include "format/blob.h"

enum {
	SBX_LANDLOCK_LAST_ABI = 10,   /* the newest that the table knows */
	SBX_LANDLOCK_LEAST_ROWS = 10, /* that every blob of format 1 has */
};

/* The one right that rules about sockets by path give, and no other rule. */
#define SBX_LANDLOCK_RESOLVE_UNIX (UINT64_C(1) << 16)

/* The row of an ABI of the table.  What the policy leaves open as a whole (the
 * network, signals, abstract sockets) is not handled. */
struct sbx_landlock sbx_landlock_row(uint32_t abi,
    const struct sbx_meta *policy);

/*
 * Whether a row is that.  For an ABI that the table does not know, a newer
 * compiler may have added rights that this reader does not know either; of the
 * others the row says what the last known row says.
 */
bool sbx_landlock_is_implied(const struct sbx_landlock *row,
    const struct sbx_meta *policy);

#endif
