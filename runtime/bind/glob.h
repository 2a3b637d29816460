/*
 * Globs: which places match a pattern now.  The walk goes only where a match
 * can lie and follows no symbolic link.  It does not look into what matches,
 * since a match stands for all that lies in it.  It is bounded: what would make
 * it endless may have been put there by an earlier run.
 */
#ifndef SBX_GLOB_WALK_H
#define SBX_GLOB_WALK_H

#include "runtime/base/arena.h"

enum {
	/* Bounds for all globs of a policy together. */
	GLOB_MAX_ENTRIES = 262144, /* that are looked at */
	GLOB_MAX_MATCHES = 4096,
	GLOB_MAX_DEPTH = 128,
};

struct glob_search {
	struct arena *arena;
	struct sbx_place *matches; /* room for GLOB_MAX_MATCHES */
	uint32_t entries, count;   /* of entries and matches, of all globs */
	bool gives; /* it allows: what is shut to us does not matter */
	/* Of the last glob. */
	uint32_t closed;   /* directories that were passed over */
	const char *fault; /* what ended the search early, or NULL */
	int error;         /* and its errno, or 0 */
};

/*
 * Adds the places that match a verified pattern below a place without links.
 * With a name: those that would, if the place had that name below where the
 * pattern begins; the place itself may be one then.
 */
void glob_find(struct glob_search *search, struct sbx_place place,
    const char *name, const char *pattern);

#endif
