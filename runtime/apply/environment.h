/*
 * The environment of the command: what the policy keeps of the caller's, and
 * what it sets.
 */
#ifndef SBX_ENVIRONMENT_H
#define SBX_ENVIRONMENT_H

#include "runtime/base/arena.h"
#include "runtime/bind/bind.h"

struct environment {
	uint32_t count;
	uint32_t dropped;
	char **variables; /* NULL-terminated */
};

/* By what it is decided: a policy whose anchors are bound. */
struct environment_rules {
	const struct sbx_blob *blob;
	const struct sbx_place *anchors;
	const bool *bound;
	struct sbx_place agent; /* of ssh, if a rule opens it; or no path */
	const char *level;      /* its name */
	const char *session;    /* its name, or NULL */
};

/* The bytes that environment_fill() needs for what the caller has. */
size_t environment_room(const struct environment_rules *rules,
    char *const *callers);

/* Fills an empty environment from the caller's.  What it needs lies in `room`,
 * which is aligned for pointers, and in the caller's. */
void environment_fill(struct environment *environment, void *room,
    const struct environment_rules *rules, char *const *callers);

/* The same in the arena. */
static inline void
environment_build(struct environment *environment, struct arena *arena,
    const struct environment_rules *rules, char *const *callers)
{
	environment_fill(environment,
	    arena_take(arena, 1, environment_room(rules, callers)), rules,
	    callers);
}

/* A variable's value, or NULL. */
const char *environment_get(const struct environment *environment,
    const char *name);

#endif
