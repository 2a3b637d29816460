/*
 * A place in a text as people and blobs have it, beside struct loc, which is a
 * range of bytes.  A statement may say of itself that it was written elsewhere,
 * as the lines of C do after a line marker; a dump is made of such statements,
 * so that what it compiles to still names the lines that somebody wrote.
 *
 *	deny read /srv/keys from "team.sbx:6:18 (secrets)"
 *	                          file     | |   via: the profile or group
 *	                                line column
 */
#ifndef SBX_POSITION_H
#define SBX_POSITION_H

#include "compiler/base/arena.h"

#include <stdbool.h>

/* Lines and columns count from 1, columns in characters. */
struct position {
	const char *file;              /* NULL or "": no place at all */
	uint32_t line, column;         /* line 0: the file as a whole */
	uint32_t end_line, end_column; /* behind the last character; in a
	                                * report, else 0 */
	const char *via; /* interned; "": nobody knows; NULL in a report */
};

/* Reads what position_text() gives; NULL if it is no such text. */
const struct position *position_read(struct arena *arena, const char *text);

/* "team.sbx:6:18 (secrets)".  NULL for what position_read() would not read: a
 * blob may hold anything. */
const char *position_text(struct arena *arena, const struct position *position);

/* By file, line, column and via: an order that does not depend on the order in
 * which texts are read. */
int position_compare(const struct position *a, const struct position *b);

#endif
