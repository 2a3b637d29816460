/*
 * YAML, and JSON, around statements: each is a text, which the scanner of the
 * language reads.
 *
 *	sbx: 1
 *	rules: [ param dataset ]         # of the file
 *	groups:
 *	  tools: [ allow exec /opt ]     # group tools { allow exec /opt }
 *	profiles:
 *	  team:                          # profile team extends coding {
 *	    extends: coding
 *	    rules:
 *	      - deny write /srv/keys     #     deny write /srv/keys
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

/*
 * Its statements in order; NULL too if it is not read, after reporting why.
 * Whether they may stand where they stand is for the caller to say.
 */
struct ast_stmt *yaml_policy_read(struct sources *sources, struct diags *diags,
    const struct source *source);

#endif
