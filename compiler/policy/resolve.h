/*
 * From the statements of a file to a resolved policy.
 */
#ifndef SBX_RESOLVE_H
#define SBX_RESOLVE_H

#include "compiler/policy/policy.h"

struct blocks;

/* A file that was parsed, and what binds its parameters. */
struct resolution {
	struct arena *arena; /* of the policy; its names are the sources' */
	struct sources *sources;
	struct diags *diags;
	const struct source *file;
	struct ast_stmt *stmts;
	struct blocks *blocks; /* of the statements, and for all profiles */
	struct definitions definitions; /* such a parameter is a constant */
};

/*
 * Expands profile `name` (NULL: the only one in the file).  Returns NULL after
 * reporting what is wrong; check_policy() may still refuse the result.
 */
struct policy *resolve_policy(const struct resolution *given, const char *name);

/* Names of the profiles that `stmts` itself defines, in order. */
struct profile_names {
	VEC(const char *) names;
};
void resolve_profiles(struct arena *arena, struct ast_stmt *stmts,
    struct profile_names *names);

#endif
