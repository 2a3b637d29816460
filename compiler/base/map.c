/*
 * See base.h.  Open addressing with linear probing, at most half full; no key is
 * ever removed.
 */
#include "compiler/base/base.h"

#include <string.h>

/* The size of a key that is a name. */
static const size_t NAME = SIZE_MAX;

uint64_t
hash_name(const void *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;

	return hash >> 32;
}

static struct map_key
key_of_name(const void *name)
{
	return (struct map_key){ name, NAME, hash_name(name), NULL };
}

/* A word is spread over all bits by the product, whose upper half has had all of
 * it: the lower half, of which the slot is made, gets that. */
static uint64_t
hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static struct map_key
key_of_bytes(const void *bytes, size_t size)
{
	const char *at = bytes;
	uint64_t hash = size, word;
	size_t left = size;

	for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		hash = hash_word(hash, word);
	}
	word = 0;
	if (left > 0)
		memcpy(&word, at, left);
	return (struct map_key){ bytes, size, hash_word(hash, word), NULL };
}

static bool
is_same(const struct map_key *a, const struct map_key *b)
{
	if (a->hash != b->hash || a->size != b->size)
		return false;
	return a->size == NAME ? a->bytes == b->bytes :
				 memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *
slot_find(const struct map *map, const struct map_key *key)
{
	size_t mask = map->capacity - 1;
	size_t at = key->hash & mask;

	while (map->slots[at] != 0 &&
	    !is_same(&map->keys.items[map->slots[at] - 1], key))
		at = (at + 1) & mask;
	return &map->slots[at];
}

static size_t
number_find(const struct map *map, const struct map_key *key)
{
	return map->capacity == 0 ? SIZE_MAX : (size_t)*slot_find(map, key) - 1;
}

static void
map_grow(struct arena *arena, struct map *map)
{
	map->capacity = map->capacity == 0 ? 64 : map->capacity * 4;
	map->slots = arena_alloc(arena, map->capacity * sizeof *map->slots);
	for (size_t i = 0; i < map->keys.count; i++)
		*slot_find(map, &map->keys.items[i]) = (uint32_t)i + 1;
}

/* Adds a key that is not there; returns its number. */
static size_t
key_add(struct arena *arena, struct map *map, struct map_key key)
{
	if (2 * (map->keys.count + 1) > map->capacity)
		map_grow(arena, map);
	*arena_push(arena, &map->keys) = key;
	*slot_find(map, &key) = (uint32_t)map->keys.count;
	return map->keys.count - 1;
}

void *
map_find(const struct map *map, const void *name)
{
	struct map_key key = key_of_name(name);
	size_t number = number_find(map, &key);

	return number == SIZE_MAX ? NULL : map->keys.items[number].value;
}

void
map_put(struct arena *arena, struct map *map, const void *name, void *value)
{
	struct map_key key = key_of_name(name);
	size_t number = number_find(map, &key);

	if (number == SIZE_MAX)
		number = key_add(arena, map, key);
	map->keys.items[number].value = value;
}

size_t
map_number(struct arena *arena, struct map *map, const void *bytes, size_t size,
    bool *added)
{
	struct map_key key = key_of_bytes(bytes, size);
	size_t number = number_find(map, &key);

	*added = number == SIZE_MAX;
	if (!*added)
		return number;
	key.bytes = arena_strndup(arena, bytes, size);
	return key_add(arena, map, key);
}

size_t
map_number_find(const struct map *map, const void *bytes, size_t size)
{
	struct map_key key = key_of_bytes(bytes, size);

	return number_find(map, &key);
}
