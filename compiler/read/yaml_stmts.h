/*
 * Lists of statements in YAML, and the other entries that are statements.
 */
#ifndef SBX_YAML_STMTS_H
#define SBX_YAML_STMTS_H

#include "compiler/read/yaml_atom.h"
#include "compiler/read/yaml_form.h"

/* A list of statements, or nothing. */
struct ast_body yaml_body(struct policy_reader *reader,
    const struct yaml_node *node);

/* An entry of a map whose key is the word of a form and nothing else. */
void yaml_statement(struct policy_reader *reader, const struct yaml_form *form,
    const struct yaml_node *value, struct ast_body *body);

/* Whether a key begins like a statement of a list. */
bool yaml_is_statement(struct policy_reader *reader,
    const struct yaml_node *key);

#endif
