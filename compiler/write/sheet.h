/*
 * What sbx.c writes on: a stream that knows its column, and beside it the
 * text that the statements were read from, if there is one.  Of that text the
 * statements are all but the comments and the blank lines, so whoever goes
 * through both in step finds them between two nodes:
 *
 *	    use tools    # why          at: behind what was written last
 *	         at ----^
 *	                                sheet_trailing() takes "# why",
 *	    # what for                  sheet_between() the blank line and
 *	    allow read /srv             "# what for"
 */
#ifndef SBX_SHEET_H
#define SBX_SHEET_H

#include "compiler/report/source.h"

#include <stdio.h>

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

#endif
