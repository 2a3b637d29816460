/*
 * Where a statement was written, as people and blobs have it.  A statement may
 * say of itself that it comes from elsewhere, as the lines of C do after a line
 * marker; a dump is made of such statements, so that what it compiles to still
 * names the lines that somebody wrote.
 *
 *	deny read /srv/keys from "team.sbx:6:18 (secrets)"
 *	                          file     | |   via: the profile or group
 *	                                line column
 */
#ifndef SBX_MARK_H
#define SBX_MARK_H

#include "compiler/base/arena.h"

#include <stdbool.h>

struct mark {
	const char *file;      /* interned; "" is no place at all */
	uint32_t line, column; /* from 1 */
	const char *via;       /* interned; "": nobody knows */
};

/* Reads the text of a mark; NULL if it is none. */
const struct mark *mark_read(struct arena *arena, const char *text);

/* The text of a mark, which mark_read() reads; NULL for one that it would not:
 * a blob may hold anything. */
const char *mark_text(struct arena *arena, const struct mark *mark);

/* By file, line, column and via: an order that does not depend on the order in
 * which texts are read. */
int mark_compare(const struct mark *a, const struct mark *b);

#endif
