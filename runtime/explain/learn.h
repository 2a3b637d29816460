/*
 * --learn: what the command wanted, whether the policy allows it or not.  Each
 * distinct right at a place is kept once, in the supervisor's own memory, and
 * written when all has ended (watch/learned.h).  sbxc drafts a policy of it.
 *
 * A command may want as many names as it likes.  So the names of one directory
 * are kept apart up to a number, and the further ones are counted for the
 * directory; and when there is no more room, all are counted for the nearest
 * directory that is known.
 */
#ifndef SBX_LEARN_H
#define SBX_LEARN_H

#include "format/denial.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	LEARN_MAX = 1 << 14,  /* that are kept apart */
	LEARN_TEXT = 8 << 20, /* bytes of their names */
	LEARN_SIBLINGS = 64,  /* names of one directory */
};

/* One right at one place. */
struct wanted {
	uint8_t kind; /* enum sbx_denied */
	bool denied;
	bool makes; /* the name is made, replaced or removed */
	bool probe; /* it was only looked for */
	bool below; /* further names in the directory `text` */
	uint16_t port;
	int32_t number; /* of a system call that the filter refused */
	int32_t error;  /* errno that it got, as far as that can be told */
	uint32_t args[SBX_DENIAL_ARGS];
	uint32_t names; /* of a directory: that are kept apart */
	uint32_t count; /* of calls; 0: it is only a directory that has names */
	uint32_t next;  /* 1 + the next one of its list */
	uint32_t len;
	const char *text;               /* a path outside, or an address */
	char program[SBX_PROGRAM_SIZE]; /* the first that wanted it */
};

struct learning {
	uint32_t count;
	uint32_t used; /* bytes of the texts */
	uint64_t lost; /* calls of which nothing was kept */
	struct wanted *wishes;
	char *texts;
	uint32_t *lists; /* by hash: 1 + an index */
};

/* Makes room; refuses (125) if there is none. */
void learn_begin(struct learning *learning);

/* Counts what is wanted, whose text is copied.  If it is new, returns it, so that the
 * caller can tell which program had it. */
struct wanted *learn_add(struct learning *learning,
    const struct wanted *wanted);

#endif
