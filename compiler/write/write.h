/*
 * Statements as text, in each form that a policy is written in.  What is
 * printed parses back to the same statements.
 */
#ifndef SBX_WRITE_H
#define SBX_WRITE_H

#include "compiler/language/ast.h"

#include <stdio.h>

/* In the layout of `sbxc fmt`.  Every word is spelled anew. */
void write_sbx(FILE *stream, const struct ast_stmt *stmts);

/*
 * The same for statements of one text, with the spelling, the comments and the
 * blank lines that they have there.
 */
void write_sbx_source(FILE *stream, const struct ast_stmt *stmts,
    const struct source *source);

/* One statement, on one line but for blocks, as YAML and JSON hold it. */
void write_sbx_statement(FILE *stream, const struct ast_stmt *stmt);

/* As YAML and as JSON, see yaml_policy.h. */
void write_yaml(FILE *stream, const struct ast_stmt *stmts);
void write_json(FILE *stream, const struct ast_stmt *stmts);

/*
 * As YAML, for statements of one text: a comment above or behind a statement
 * is put above it.  Those inside of a list or of an 'on' block, and those above
 * nothing, are lost.
 */
void write_yaml_source(FILE *stream, const struct ast_stmt *stmts,
    const struct source *source);

#endif
