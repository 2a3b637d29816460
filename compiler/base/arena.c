/*
 * Memory is cut from chunks that grow with what was asked for so far; a large
 * piece gets a chunk of its own.
 */
#include "compiler/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_FIRST = 64 << 10,
	CHUNK_LAST = 4 << 20,
	EXIT_NO_MEMORY = 3,
};

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct chunk *chunks; /* the first one is being filled */
	size_t next_size;
	struct map interned;
	struct arena *names; /* where texts are interned */
};

void
arena_exhausted(void)
{
	fputs("sbxc: out of memory\n", stderr);
	exit(EXIT_NO_MEMORY);
}

static void *
must_calloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory == NULL)
		arena_exhausted();
	return memory;
}

struct arena *
arena_new(void)
{
	struct arena *arena = must_calloc(1, sizeof *arena);

	arena->next_size = CHUNK_FIRST;
	arena->names = arena;
	return arena;
}

struct arena *
arena_child(struct arena *parent)
{
	struct arena *arena = arena_new();

	arena->names = parent->names;
	return arena;
}

void
arena_release(struct arena *arena)
{
	struct chunk *next;

	for (struct chunk *chunk = arena->chunks; chunk != NULL; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(arena);
}

static struct chunk *
chunk_new(size_t size)
{
	size_t whole;

	if (__builtin_add_overflow(size, sizeof(struct chunk), &whole))
		arena_exhausted();
	struct chunk *chunk = must_calloc(1, whole);
	chunk->size = size;
	return chunk;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
	struct chunk *chunk = arena->chunks;
	size_t rounded;

	if (__builtin_add_overflow(size, _Alignof(max_align_t) - 1, &rounded))
		arena_exhausted();
	rounded -= rounded % _Alignof(max_align_t);
	if (chunk != NULL && rounded <= chunk->size - chunk->used) {
		void *memory = chunk->bytes + chunk->used;

		chunk->used += rounded;
		return memory;
	}
	if (chunk != NULL && rounded > arena->next_size / 4) {
		/* Goes behind the chunk that is being filled. */
		struct chunk *own = chunk_new(rounded);

		own->used = rounded;
		own->next = chunk->next;
		chunk->next = own;
		return own->bytes;
	}
	struct chunk *fresh = chunk_new(
	    rounded > arena->next_size ? rounded : arena->next_size);
	if (arena->next_size < CHUNK_LAST)
		arena->next_size *= 2;
	fresh->next = chunk;
	fresh->used = rounded;
	arena->chunks = fresh;
	return fresh->bytes;
}

char *
arena_strndup(struct arena *arena, const char *text, size_t len)
{
	size_t size;

	if (__builtin_add_overflow(len, 1, &size))
		arena_exhausted();
	char *copy = arena_alloc(arena, size);
	if (len > 0)
		memcpy(copy, text, len);
	return copy;
}

char *
arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		arena_exhausted();
	char *text = arena_alloc(arena, (size_t)len + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

const char *
arena_intern(struct arena *arena, const char *text, size_t len)
{
	struct arena *names = arena->names;
	bool added;
	size_t number = map_number(names, &names->interned, text, len, &added);

	return names->interned.keys.items[number].bytes;
}

/*
 * The array's capacity is not stored: it is the count rounded up to a power
 * of two, so it is full exactly when the count is one (or none yet).
 */
void *
arena_grow(struct arena *arena, void *items, size_t count, size_t size)
{
	size_t bytes;

	if ((count & (count - 1)) != 0)
		return items;
	if (__builtin_mul_overflow(count == 0 ? 1 : count * 2, size, &bytes) ||
	    count > SIZE_MAX / 2)
		arena_exhausted();
	void *grown = arena_alloc(arena, bytes);
	if (count > 0)
		memcpy(grown, items, count * size);
	return grown;
}
