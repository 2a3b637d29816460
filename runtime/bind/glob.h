/*
 * Globs: which places match a pattern now.  The walk goes only where a match
 * can lie, follows no symbolic link, does not look into what matches, since a
 * match is meant with all that lies in it, and is bounded: what could make it
 * endless may have been put there by an earlier run.
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

/* Called with each match, which stays in the arena. */
typedef void glob_visitor(void *context, struct sbx_place match);

struct glob_search {
	struct arena *arena;
	glob_visitor *visit;
	void *context;
	bool gives; /* for an allow: what is shut to us is then no matter */
	uint32_t entries, matches; /* so far, of all globs */
	uint32_t closed;   /* directories that were passed over, so far */
	const char *fault; /* what ended the search early, or NULL */
	int error;         /* and its errno, or 0 */
};

/* Finds what matches a verified pattern below a place without links. */
void glob_find(struct glob_search *search, struct sbx_place place,
    const char *pattern);

#endif
