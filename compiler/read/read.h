/*
 * From a policy's file to statements, whatever form it has, with everything
 * that it includes.
 */
#ifndef SBX_READ_H
#define SBX_READ_H

#include "compiler/language/ast.h"

struct diags;

/*
 * Reads a policy and everything that it includes.  Returns its statements in
 * order (NULL if there are none); what is wrong is in diags.  Nodes live in
 * the arena of `sources`.  The grammar and the scanner are in
 * grammar/.
 */
struct ast_stmt *ast_parse(struct sources *sources, struct diags *diags,
    struct source *source);

/* The same without reading what it includes. */
struct ast_stmt *ast_parse_alone(struct sources *sources, struct diags *diags,
    const struct source *source);

#endif
