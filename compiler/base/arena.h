/*
 * Memory that is released all at once.  The compiler builds trees and tables
 * and never takes one node back, so nothing but the arena is ever freed and no
 * error path has anything to clean up.
 */
#ifndef SBX_ARENA_H
#define SBX_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* Never NULL: running out of memory ends the program with exit status 3. */
struct arena *arena_new(void);

/* An arena that is released earlier.  What is interned in it is the parent's,
 * so that one text has one address in both. */
struct arena *arena_child(struct arena *parent);

void arena_release(struct arena *arena);

/* What running out of memory does. */
void arena_exhausted(void) __attribute__((noreturn));

/* Zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);

/* A NUL-terminated copy of len bytes. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);

char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/*
 * The one copy of this text: equal texts give equal pointers, so that names
 * are compared with ==.
 */
const char *arena_intern(struct arena *arena, const char *text, size_t len);

/*
 * Room for one more element of a growing array: `items` points to the array's
 * pointer, which may move.  Returns the new, zeroed element.
 */
#define arena_push(arena, vec) \
	((vec)->items = arena_grow((arena), (vec)->items, (vec)->count, \
	     sizeof *(vec)->items), \
	    &(vec)->items[(vec)->count++])
void *arena_grow(struct arena *arena, void *items, size_t count, size_t size);

/* A growing array of T, for arena_push(). */
#define VEC(T) \
	struct { \
		T *items; \
		size_t count; \
	}

/* How many elements an array has whose size is known. */
#define countof(array) (sizeof(array) / sizeof *(array))

#endif
