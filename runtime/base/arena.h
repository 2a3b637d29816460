/*
 * The memory for everything whose size depends on the policy: one region that
 * is filled from the front and never freed.  Only pages that are written to
 * take time, and they take more than most system calls: so there is one dense
 * region, and no array of the greatest size.
 */
#ifndef SBX_LOADER_ARENA_H
#define SBX_LOADER_ARENA_H

#include "format/model.h"

enum { ARENA_SIZE = 32 << 20 };

struct arena {
	uint32_t used;
	_Alignas(8) char bytes[ARENA_SIZE];
};

/* Zeroed room for `count` elements of `size` bytes; refuses if there is
 * none. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* Gives back what was taken since `used` was arena->used. */
void arena_cut(struct arena *arena, uint32_t used);

/* A NUL-terminated copy of a and b joined; refuses when it is longer than
 * SBX_MAX_PATH or there is no room. */
struct sbx_place arena_join(struct arena *arena, struct sbx_place a,
    struct sbx_place b);
struct sbx_place arena_copy(struct arena *arena, struct sbx_place place);

#endif
