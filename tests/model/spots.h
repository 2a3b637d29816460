/*
 * Places at which a policy may be wrong: those of its rules and exceptions, and
 * of its anchors, what lies in them, beside them and above them, and what its
 * globs match or nearly match.
 */
#ifndef SBX_TEST_SPOTS_H
#define SBX_TEST_SPOTS_H

#include "compiler/policy/policy.h"

struct spots {
	struct arena *arena;
	/* Where a place of the policy lies. */
	const char *(*bind)(const void *context, struct target at);
	const void *context;
	VEC(const char *) list;
};

/* A path that is absolute and normal; any other is passed over. */
void spots_add(struct spots *spots, const char *path);

/* The same, and what is near to it. */
void spots_add_around(struct spots *spots, const char *path);

/* All that the policy names, for whatever platform. */
void spots_collect(struct spots *spots, const struct policy *policy);

#endif
