/*
 * The names in a directory, read at once.  A profile speaks of a hundred
 * places in the home directory, most of which no one person has: to ask the
 * kernel for each would take longer than all the rest of a launch.
 */
#ifndef SBX_LISTING_H
#define SBX_LISTING_H

#include "format/model.h"

#include <stdbool.h>

enum {
	LISTINGS_MAX = 4,
	/* A directory whose names do not fit is not listed; each of them then
	 * has to be asked for. */
	LISTINGS_SIZE = 32 << 10,
	LISTINGS_SLOTS = 2048, /* above LISTINGS_SIZE / 24, the least entry */
	/* To list costs as much as to ask for so many. */
	LISTINGS_WORTH = 8,
};

struct listing {
	struct sbx_place directory;
	uint32_t begin, end; /* of its entries */
	bool whole;          /* every name is among them */
};

/* Few pages: that each is touched costs more than what is done in it.  What is
 * always looked at comes last, beside what follows in struct binding. */
struct listings {
	_Alignas(8) char entries[LISTINGS_SIZE];
	uint16_t slots[LISTINGS_SLOTS]; /* offset / 8 + 1; 0: free */
	struct listing of[LISTINGS_MAX];
	uint32_t count, used;
};

/* Lists a directory, unless that was tried before, there are enough of them,
 * or it cannot be done. */
void listings_add(struct listings *listings, struct sbx_place directory);

enum listed {
	LISTED_UNKNOWN, /* ask the kernel */
	LISTED_MISSING,
	LISTED_ENTRY, /* it is there and is no symbolic link */
};

/*
 * What the component of `path` is that comes next below a listed directory; of
 * an ENTRY its end in the path goes to *end.  UNKNOWN for a path that is not
 * below one.
 */
enum listed listings_look(const struct listings *listings,
    struct sbx_place path, uint32_t *end);

#endif
