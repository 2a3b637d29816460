/* Statements to text: sbx, YAML, JSON; the one layout. */
#ifndef SBX_COMPILER_WRITE_WRITE_H
#define SBX_COMPILER_WRITE_WRITE_H

#include "compiler/language/ast.h"
#include "compiler/report/report.h"

#include <stdio.h>

/* --- fmt.c ------------------------------------------------------------- */

struct fmt_text {
	const char *bytes;
	size_t size;
};

/*
 * The text of a source without faults, as `sbxc fmt` writes it.  Only blanks
 * and ends of lines differ; that is looked at, each time.
 */
struct fmt_text fmt_text(struct arena *arena, const struct ast_stmt *stmts,
    const struct source *source);

/*
 * The first line of a text that is longer than a policy's may be, or 0.
 * Formatting can make one when it indents a very long comment.
 */
size_t fmt_long_line(struct fmt_text text);

/* --- sheet.c ----------------------------------------------------------- */

enum { SHEET_INDENT = 4 };

struct sheet {
	FILE *stream;        /* NULL: only the columns are counted */
	struct arena *arena; /* of a sheet without a source */
	int column;          /* where the next character goes */
	int margin;          /* where the statement or object begins */
	int widest;          /* of the lines that were counted */
	bool first;          /* nothing stands in this block or list yet */
	const struct source *source; /* or NULL */
	const char *at;              /* in its text */
	bool pinned; /* the comment above is about the next line */
	bool alone;  /* a statement without others: no columns, long lines */
};

void sheet_put(struct sheet *sheet, const char *text, size_t len);
void sheet_puts(struct sheet *sheet, const char *text);
void sheet_newline(struct sheet *sheet);
void sheet_indent(struct sheet *sheet, int depth);
/* Blanks up to a column that counts from the margin, one at least. */
void sheet_pad(struct sheet *sheet, int column);

/* The rest is for a sheet with a source; without one nothing is done. */

/* Goes on behind a place, or in front of it. */
void sheet_skip(struct sheet *sheet, struct loc loc);
void sheet_seek(struct sheet *sheet, struct loc loc);
/* Goes on behind a character that comes next, after blanks. */
void sheet_take(struct sheet *sheet, char c);
/* Writes the comment that follows on the same line. */
void sheet_trailing(struct sheet *sheet);
/* Writes the comments that have lines of their own, and of several blank lines
 * one, up to what comes next. */
void sheet_between(struct sheet *sheet, int depth);

/* The text at a place, which must be in the source. */
const char *sheet_text(const struct sheet *sheet, struct loc loc);
/* Whether a comment such as `# sbx: ignore` is about the line that ends behind
 * `end`, and which then stays one line; false without a source. */
bool sheet_is_pinned(const struct sheet *sheet, const char *end);
/* Where it ends; NULL without a source. */
const char *sheet_end(const struct sheet *sheet, struct loc loc);
/* Whether a place goes over more than one line; false without a source. */
bool sheet_is_broken(const struct sheet *sheet, struct loc loc);

/* --- sheet_atom.c ------------------------------------------------------ */

/*
 * Words, names and objects on a sheet: copied from the source if there is one,
 * else spelled so that they are read as they were.
 */

/* A blank, and a name or a word of the language; or several. */
void sheet_word(struct sheet *sheet, const struct ast_atom *atom);
/* The name of a variable: a keyword, too, and in quotes whatever is no word. */
void sheet_variable(struct sheet *sheet, const struct ast_atom *name);
void sheet_words(struct sheet *sheet, const struct ast_list *list);

/* A blank, and what is always in quotes. */
void sheet_quoted(struct sheet *sheet, const struct ast_atom *atom);

/* An object or a value; depth: of the list that it is in. */
void sheet_object(struct sheet *sheet, const struct ast_atom *atom, int depth);

/*
 * Statements as text, in each form that a policy is written in.  What is
 * printed parses back to the same statements.
 */

/* In the layout of `sbxc fmt`.  Every word is spelled anew. */
void write_sbx(FILE *stream, const struct ast_stmt *stmts);

/*
 * The same for statements of one text, with the spelling, the comments and the
 * blank lines that they have there.
 */
void write_sbx_source(FILE *stream, const struct ast_stmt *stmts,
    const struct source *source);

/* One statement, on one line but for blocks, as YAML and JSON hold it; and all
 * of a list so. */
void write_sbx_statement(FILE *stream, const struct ast_stmt *stmt);
void write_sbx_lines(FILE *stream, const struct ast_stmt *stmts);

/* As YAML and as JSON, see read.h. */
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
