/*
 * The memory for everything whose size depends on the policy: one region that
 * is filled from the front and never freed.  Only pages that are written to
 * take time, and they take more than most system calls: so there is one dense
 * region, and no array of the greatest size.
 */
#include "runtime/base/files.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>

void *
arena_take(struct arena *arena, size_t count, size_t size)
{
	size_t begin = (arena->used + 7U) & ~(size_t)7;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || begin > ARENA_SIZE ||
	    bytes > ARENA_SIZE - begin)
		refuse(NULL, "the policy takes more room than there is",
		    ENOMEM);
	arena->used = (uint32_t)(begin + bytes);
	return arena->bytes + begin;
}

void
arena_cut(struct arena *arena, uint32_t used)
{
	memset(arena->bytes + used, 0, arena->used - used);
	arena->used = used;
}

/* Paths are short, and libc's memcpy(3) is made for long pieces. */
static void
copy(char *to, const char *from, uint32_t len)
{
	uint64_t word;
	uint32_t half;

	for (; len >= 8; len -= 8, to += 8, from += 8) {
		__builtin_memcpy(&word, from, 8);
		__builtin_memcpy(to, &word, 8);
	}
	if (len & 4) {
		__builtin_memcpy(&half, from, 4);
		__builtin_memcpy(to, &half, 4);
		to += 4;
		from += 4;
	}
	if (len & 2) {
		*to++ = *from++;
		*to++ = *from++;
	}
	if (len & 1)
		*to = *from;
}

struct sbx_place
arena_join(struct arena *arena, struct sbx_place a, struct sbx_place b)
{
	char *path = arena->bytes + arena->used;
	uint32_t len = a.len + b.len;

	if (len > SBX_MAX_PATH)
		refuse(a.path, "a path of the policy is too long here",
		    ENAMETOOLONG);
	if (len + 1 > ARENA_SIZE - arena->used)
		refuse(NULL, "the policy's paths take more room than there is",
		    ENOMEM);
	copy(path, a.path, a.len);
	copy(path + a.len, b.path, b.len);
	path[len] = '\0';
	arena->used += len + 1;
	return (struct sbx_place){ path, len };
}

struct sbx_place
arena_copy(struct arena *arena, struct sbx_place place)
{
	return arena_join(arena, place, (struct sbx_place){ "", 0 });
}
