/*
 * A list of words, for the command line of sbxrun; it owns them.
 */
#ifndef SBX_LIBRARY_WORDS_H
#define SBX_LIBRARY_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words {
	char **list; /* ends with NULL */
	size_t count, room;
	bool failed; /* there was no memory */
};

/* "HEAD" "TEXT" as one word; either may be "". */
void words_add(struct words *words, const char *head, const char *text);

void words_free(struct words *words);

#endif
