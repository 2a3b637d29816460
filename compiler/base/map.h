/*
 * A table from interned names to anything.  Equal names are equal pointers, so
 * a look-up hashes the pointer and compares nothing.
 */
#ifndef SBX_MAP_H
#define SBX_MAP_H

#include "compiler/base/arena.h"

struct map_slot {
	const void *key;
	void *value;
};

struct map {
	struct map_slot *slots; /* a power of two of them */
	size_t capacity, count;
};

/* The value of a key, or NULL. */
void *map_find(const struct map *map, const void *key);

/* Binds key, which is not NULL, to value; replaces what was there. */
void map_put(struct arena *arena, struct map *map, const void *key,
    void *value);

#endif
