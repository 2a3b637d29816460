/*
 * YAML as a second front end: the statements that a tree says, the same as the
 * grammar makes of a .sbx file.
 *
 *	sbx: 1
 *	profiles:
 *	  team:                          # profile team extends coding {
 *	    extends: coding
 *	    rules:
 *	      - deny write: /srv/keys    #     deny write /srv/keys
 *
 * Words of the language are keys as they stand in a .sbx file; names that a
 * policy makes are keys below them.
 */
#ifndef SBX_YAML_POLICY_H
#define SBX_YAML_POLICY_H

#include "compiler/language/ast.h"
#include "compiler/report/diag.h"

/*
 * Whether a file is YAML: by its name (.yaml, .yml, .json), else, unless it is
 * called .sbx, by how its text begins.
 */
bool yaml_policy_is(const struct source *source);

/* Its statements in order; NULL too if it is not read, after reporting why. */
struct ast_stmt *yaml_policy_read(struct sources *sources, struct diags *diags,
    const struct source *source);

#endif
