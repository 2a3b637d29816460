/*
 * See map.h.  Open addressing with linear probing, at most half full; nothing
 * is ever taken out.
 */
#include "compiler/base/map.h"

static size_t
map_slot(const struct map *map, const void *key)
{
	uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (map->capacity - 1);

	while (map->slots[at].key != NULL && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return at;
}

void *
map_find(const struct map *map, const void *key)
{
	return map->capacity == 0 ? NULL : map->slots[map_slot(map, key)].value;
}

static void
map_grow(struct arena *arena, struct map *map)
{
	struct map old = *map;

	map->capacity = old.capacity == 0 ? 64 : old.capacity * 2;
	map->slots = arena_alloc(arena, map->capacity * sizeof *map->slots);
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].key != NULL)
			map->slots[map_slot(map, old.slots[i].key)] =
			    old.slots[i];
	}
}

void
map_put(struct arena *arena, struct map *map, const void *key, void *value)
{
	size_t at;

	if (map->count * 2 >= map->capacity)
		map_grow(arena, map);
	at = map_slot(map, key);
	if (map->slots[at].key == NULL)
		map->count++;
	map->slots[at] = (struct map_slot){ .key = key, .value = value };
}
