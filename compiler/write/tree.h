/*
 * Statements as the tree of texts, lists and maps that says them in YAML; what
 * yaml_policy.h makes of it are the same statements.
 */
#ifndef SBX_WRITE_TREE_H
#define SBX_WRITE_TREE_H

#include "compiler/language/ast.h"
#include "compiler/read/yaml.h"

/*
 * One map if each kind of statements stands in one place of the file, else a
 * list of maps that keeps their order.  The nodes of statements have their
 * places, all others have none.
 */
const struct yaml_node *write_tree(struct arena *arena,
    const struct ast_stmt *stmts);

#endif
