/*
 * The hash table.  Keys are either names, which are interned, so that two are
 * equal if their addresses are, or any bytes.  A map has keys of one kind.
 * Each key has a value and a number: the first key has 0, the next one 1.  A
 * zeroed map is empty.
 */
#ifndef SBX_MAP_H
#define SBX_MAP_H

#include "compiler/base/arena.h"

#include <stdbool.h>

struct map_key {
	const void *bytes; /* a name, or a copy of the bytes */
	size_t size;
	uint64_t hash;
	void *value;
};

struct map {
	VEC(struct map_key) keys; /* by number */
	uint32_t *slots;          /* 1 + number, or 0 */
	size_t capacity;          /* of slots, a power of two */
};

/* A number for a name, or for NULL; it differs from run to run. */
uint64_t hash_name(const void *name);

/* The value of a name, or NULL. */
void *map_find(const struct map *map, const void *name);

/* Binds a name, which is not NULL, to a value; replaces what was there. */
void map_put(struct arena *arena, struct map *map, const void *name,
    void *value);

/* The number of these bytes, which are copied if they are new; *added says
 * whether they were. */
size_t map_number(struct arena *arena, struct map *map, const void *bytes,
    size_t size, bool *added);

/* The number of these bytes, or SIZE_MAX if they are not there. */
size_t map_number_find(const struct map *map, const void *bytes, size_t size);

#endif
