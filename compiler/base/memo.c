/* See compare_memo.h. */
#include "compiler/base/memo.h"

#include <string.h>

void
memo_init(struct memo *memo, struct arena *arena)
{
	*memo = (struct memo){ .arena = arena };
}

/* FNV-1a. */
static uint64_t
hash_of(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *
slot_find(const struct memo *memo, const struct memo_key *key)
{
	size_t mask = memo->capacity - 1;
	size_t at = key->hash & mask;

	for (; memo->slots[at] != 0; at = (at + 1) & mask) {
		const struct memo_key *other =
		    &memo->keys.items[memo->slots[at] - 1];

		if (other->hash == key->hash && other->size == key->size &&
		    memcmp(other->bytes, key->bytes, key->size) == 0)
			break;
	}
	return &memo->slots[at];
}

static void
grow(struct memo *memo)
{
	memo->capacity = memo->capacity == 0 ? 64 : memo->capacity * 4;
	memo->slots = arena_alloc(memo->arena,
	    memo->capacity * sizeof *memo->slots);
	for (size_t i = 0; i < memo->keys.count; i++)
		*slot_find(memo, &memo->keys.items[i]) = (uint32_t)i + 1;
}

size_t
memo_find(const struct memo *memo, const void *bytes, size_t size)
{
	struct memo_key key = { bytes, size, hash_of(bytes, size) };

	if (memo->capacity == 0)
		return SIZE_MAX;
	return (size_t)*slot_find(memo, &key) - 1;
}

size_t
memo_number(struct memo *memo, const void *bytes, size_t size, bool *added)
{
	struct memo_key key = { bytes, size, hash_of(bytes, size) };
	uint32_t *slot;

	if (2 * (memo->keys.count + 1) > memo->capacity)
		grow(memo);
	slot = slot_find(memo, &key);
	*added = *slot == 0;
	if (*added) {
		key.bytes = arena_strndup(memo->arena, bytes, size);
		*arena_push(memo->arena, &memo->keys) = key;
		*slot = (uint32_t)memo->keys.count;
	}
	return *slot - 1;
}
