/*
 * The environment of the command: what the policy keeps of the caller's, and
 * what it sets.
 */
#ifndef SBX_ENVIRONMENT_H
#define SBX_ENVIRONMENT_H

#include "runtime/bind/bind.h"

struct environment {
	uint32_t count;
	uint32_t dropped;
	char **variables; /* NULL-terminated */
};

/* Fills the environment from the caller's; what it needs lies in the arena. */
void environment_build(struct environment *environment, struct arena *arena,
    const struct binding *binding, char **callers);

/* A variable's value, or NULL. */
const char *environment_get(const struct environment *environment,
    const char *name);

#endif
