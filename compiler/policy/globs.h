/*
 * `glob "..."`: from the text of a policy to a place and a pattern below it.
 *
 *	glob "${workspace}/src/?.d/local"
 *	      \______________/\________/
 *	      place            pattern
 */
#ifndef SBX_GLOBS_H
#define SBX_GLOBS_H

#include "compiler/policy/scope.h"
#include "format/glob.h"

/*
 * Splits an AST_GLOB: *place becomes the atom of the place, *pattern interned,
 * or NULL where there is no wildcard, which is warned of.  False after
 * reporting.
 */
bool glob_split(struct scope *scope, const struct ast_atom *atom,
    struct ast_atom *place, const char **pattern);

/* Whether a pattern speaks of a path below its place, of what lies in that or
 * of what it lies in. */
bool glob_touches(const char *pattern, const char *below);

/* Orders patterns; NULL, which is none, comes first. */
int glob_compare(const char *a, const char *b);

#endif
