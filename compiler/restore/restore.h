/*
 * From a blob back to the policy that it was compiled from, as far as the blob
 * depends on it: what profiles, groups, sets and `let` were is gone, and so is
 * what had no effect.  Rules carry the positions of the blob's source map.
 */
#ifndef SBX_RESTORE_H
#define SBX_RESTORE_H

#include "compiler/policy/policy.h"

/*
 * NULL, with a sentence about it in *fault, for a blob that says what no
 * policy can: it was verified, but anybody may have made it.  Strings are the
 * arena's.
 */
struct policy *restore_policy(struct arena *arena, const struct sbx_blob *blob,
    const char **fault);

/*
 * The section in which the blob differs from what this compiler makes of the
 * policy that was restored from it, as words; NULL if it does not, to the byte.
 * It does not matter which version the blob says has written it.
 */
const char *restore_difference(struct policy *policy,
    const struct sbx_blob *blob);

/* statements.c: the policy as one profile that needs no other.  `made_from` is
 * what its position says. */
struct ast_stmt *policy_statements(const struct policy *policy,
    const char *made_from);

#endif
