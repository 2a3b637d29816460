/*
 * A table from bytes to a number, in the order of their coming: states and
 * sets of states that a search has seen.
 */
#ifndef SBX_COMPARE_MEMO_H
#define SBX_COMPARE_MEMO_H

#include "compiler/base/arena.h"

#include <stdbool.h>

struct memo_key {
	const void *bytes;
	size_t size;
	uint64_t hash;
};

struct memo {
	struct arena *arena;
	VEC(struct memo_key) keys; /* by number */
	uint32_t *slots;           /* 1 + number, or 0 */
	size_t capacity;           /* of slots, a power of two */
};

void memo_init(struct memo *memo, struct arena *arena);

/* The number of these bytes, which are copied if they are new; *added says
 * whether they were. */
size_t memo_number(struct memo *memo, const void *bytes, size_t size,
    bool *added);

/* The number of these bytes, or SIZE_MAX if they are not there. */
size_t memo_find(const struct memo *memo, const void *bytes, size_t size);

#endif
