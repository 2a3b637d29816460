/*
 * A text in its canonical layout.
 */
#ifndef SBX_FMT_H
#define SBX_FMT_H

#include "compiler/language/ast.h"

#include <stdio.h>

struct text {
	const char *bytes;
	size_t size;
};

/*
 * The text of a source without faults, as `sbxc fmt` writes it.  Only blanks
 * and ends of lines differ; that is looked at, each time.
 */
struct text fmt_text(struct arena *arena, const struct ast_stmt *stmts,
    const struct source *source);

/*
 * The first line of a text that is longer than a policy's may be, or 0.
 * Formatting can make one when it indents a very long comment.
 */
size_t fmt_long_line(struct text text);

#endif
