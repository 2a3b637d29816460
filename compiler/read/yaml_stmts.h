/*
 * Lists of statements in YAML, for yaml_policy.c.
 */
#ifndef SBX_YAML_STMTS_H
#define SBX_YAML_STMTS_H

#include "compiler/read/yaml_entry.h"

/* A list of statements, or nothing. */
struct ast_body yaml_body(struct policy_reader *reader,
    const struct yaml_node *node);

/*
 * An entry of a file: `include`, `let` and `param`.  False if its key is none
 * of these.
 */
bool yaml_declaration(struct policy_reader *reader,
    const struct yaml_node *entry, struct ast_body *body);

/* Whether a key begins like a statement of a list. */
bool yaml_is_statement(struct policy_reader *reader,
    const struct yaml_node *key);

/* `about`. */
void yaml_about(struct policy_reader *reader, const struct yaml_node *entry,
    struct ast_body *body);

#endif
