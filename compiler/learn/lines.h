/*
 * The lines of a draft: a statement for each need that becomes a rule, with a
 * comment that says whose it was; and for the others a comment.
 */
#ifndef SBX_LEARN_LINES_H
#define SBX_LEARN_LINES_H

#include "compiler/learn/needs.h"

struct draft_line {
	const char *statement; /* without a newline */
	const char *whose;     /* "git 3x, node 1x" */
	bool single; /* of one file: a check warns of that, and it is meant */
	const char *reason; /* why it is only a comment, or NULL */
	const struct need *need;
	size_t begin, end; /* in the text that was written last */
};

struct draft_lines {
	struct arena *arena;
	bool brief; /* without comments about what is no rule */
	VEC(struct draft_line) list;
};

void lines_make(struct draft_lines *lines, struct needs *needs);

/* How many statements there are. */
size_t lines_count(const struct draft_lines *lines);

/* Writes them into a block, where `text` bytes were written before.  Returns the
 * bytes. */
const char *lines_text(struct draft_lines *lines, size_t before);

/* How many are wanted and no rule, and the first place of them: "read ~/x"; or
 * NULL. */
size_t lines_kept(const struct draft_lines *lines, const char **first);

/* What is no rule, as comments, or brief as plain text; "" if there is
 * nothing. */
const char *lines_notes(const struct draft_lines *lines);

/* Makes comments of the statements that were reported, but for those of one
 * file: `base` is where the text
 * begins in the sources.  False: none was. */
bool lines_drop_reported(struct draft_lines *lines, const struct diags *diags,
    uint32_t base);

/* A text from outside in a comment: what is not plain is replaced, and what is
 * long is cut. */
const char *lines_plain(struct arena *arena, const char *text, size_t max);

#endif
