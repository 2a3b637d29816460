/*
 * The names in one directory, read at once.  A profile speaks of a hundred
 * places in the home directory, most of which no one person has: to ask the
 * kernel for each would take longer than all the rest of a launch.
 */
#ifndef SBX_LISTING_H
#define SBX_LISTING_H

#include "format/model.h"

#include <stdbool.h>

enum {
	/* A directory with more is not listed; each of its entries then has
	 * to be asked for. */
	LISTING_SIZE = 16 << 10,
	LISTING_SLOTS = 1024, /* above LISTING_SIZE / 24, the least entry */
};

struct listing {
	struct sbx_place directory;
	bool whole; /* every name is here */
	uint16_t slots[LISTING_SLOTS]; /* offset / 8 + 1 in entries; 0: free */
	_Alignas(8) char entries[LISTING_SIZE];
};

/* Lists a directory; where that cannot be done every answer is UNKNOWN. */
void listing_read(struct listing *listing, struct sbx_place directory);

enum listed {
	LISTED_UNKNOWN, /* ask the kernel */
	LISTED_MISSING,
	LISTED_ENTRY,   /* it is there and is no symbolic link */
};

/*
 * What the component of `path` that comes next below the directory is; of an
 * ENTRY its end in the path goes to *end.  UNKNOWN for a path that is not
 * below the directory.
 */
enum listed listing_look(const struct listing *listing, struct sbx_place path,
    uint32_t *end);

#endif
