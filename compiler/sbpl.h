/*
 * What the files of sbpl*.c share: the text of the macOS profile while it
 * grows.
 */
#ifndef SBX_SBPL_H
#define SBX_SBPL_H

#include "compiler/emit.h"

/* A growing text.  It stops just above what a blob can hold: emit_blob() then
 * refuses the policy. */
struct text {
	struct arena *arena;
	char *bytes;
	size_t used, room;
};

struct sbpl {
	struct text text;
	const struct policy *policy;
	const char *params[SBX_MAX_ANCHORS]; /* by anchor */
	size_t anchor_count;
};

/* Adds a string as it is, or between quotes. */
void text_add(struct text *text, const char *string);
void text_add_quoted(struct text *text, const char *string);

/* sbpl_paths.c: the rules of paths, and what keeps them from being moved
 * away. */
void sbpl_add_paths(struct sbpl *sbpl);

#endif
