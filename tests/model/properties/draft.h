/*
 * A random policy about a tree.
 */
#ifndef SBX_TEST_DRAFT_H
#define SBX_TEST_DRAFT_H

#include "compiler/query/query.h"
#include "tests/model/properties/world.h"

#include <stdio.h>

enum { MAX_RULES = 11, MAX_EXCLUSIONS = 3 };

struct draft_words {
	const char *effect, *right;
	char at[PATH_SIZE];
	char exclusions[MAX_EXCLUSIONS][PATH_SIZE];
	size_t exclusion_count;
};

struct draft {
	struct draft_words rules[MAX_RULES];
	size_t count;
	bool scratch;           /* the policy allows ${tmp} */
	const char *kept_right; /* and denies this */
	char kept[PATH_SIZE];   /* below it, here; deeper than one name */
};

void draft_make(struct world *world, struct draft *policy);

void draft_write(const struct world *world, const struct draft *policy,
    const char *indent, FILE *stream);

/* Into BASE/policy.bin; false where the compiler has objections. */
bool draft_compile(const struct world *world, const struct draft *policy,
    struct arena *arena, struct sbx_blob *blob);

#endif
