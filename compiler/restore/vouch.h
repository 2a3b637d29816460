/*
 * Whether a blob does what it says.  Its rules are what people read, its masks
 * and filters are what a kernel gets, and anybody may have changed one of the
 * two in a file.  So the rules are compiled once more.
 */
#ifndef SBX_VOUCH_H
#define SBX_VOUCH_H

#include "compiler/policy/policy.h"

enum vouch {
	VOUCH_SAME,    /* its rules compile to it, to the byte */
	VOUCH_FOREIGN, /* they do not; it says that another version wrote it */
	VOUCH_CHANGED, /* they do not; it says that this version wrote it */
};

/* Complains in one line unless it is the same. */
enum vouch vouch(struct arena *arena, const char *path,
    const struct sbx_blob *blob);

#endif
