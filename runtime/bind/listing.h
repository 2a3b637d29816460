/*
 * The names in a directory, read at once.  A profile names a hundred places in
 * the home directory, and one person has few of them.  To ask the kernel for
 * each would take longer than all the rest of a launch.
 */
#ifndef SBX_LISTING_H
#define SBX_LISTING_H

#include "format/model.h"

#include <stdbool.h>

enum {
	LISTINGS_MAX = 8,
	/* If the names of a directory do not fit, it is not listed, and the
	 * kernel is asked for each of them. */
	LISTINGS_SIZE = 32 << 10,
	LISTINGS_SLOTS = 2048, /* above LISTINGS_SIZE / 24, the least entry */
	/* To list a directory takes as long as to ask for so many names. */
	LISTINGS_WORTH = 8,
};

struct listing {
	struct sbx_place directory;
	uint32_t begin, end; /* of its entries */
	bool whole;          /* every name is among them */
};

/* Small, because touching a page takes longer than what is done in it.  The
 * fields that are always read come last, beside what follows in struct
 * binder. */
struct listings {
	_Alignas(8) char entries[LISTINGS_SIZE];
	uint16_t slots[LISTINGS_SLOTS]; /* offset / 8 + 1; 0: free */
	struct listing of[LISTINGS_MAX];
	uint32_t count, used;
};

/* Lists a directory, unless that was tried before, LISTINGS_MAX are listed, or
 * it cannot be read. */
void listings_add(struct listings *listings, struct sbx_place directory);

enum listed {
	LISTED_UNKNOWN, /* ask the kernel */
	LISTED_MISSING,
	LISTED_ENTRY, /* it is there and is no symbolic link */
};

/*
 * What is known of the component of `path` that comes next below a listed
 * directory; for an ENTRY, *end is where that component ends in the path.
 * UNKNOWN for a path that is not below a listed directory.
 */
enum listed listings_look(const struct listings *listings,
    struct sbx_place path, uint32_t *end);

#endif
