/*
 * What other processes see of the command line of this one
 * (/proc/PID/cmdline).
 */
#ifndef SBX_TITLE_H
#define SBX_TITLE_H

#include <stddef.h>

/* Where the words of the command line lie, one after the other. */
struct title {
	char *at;
	size_t size;
};

struct title title_find(char **argv);

/* Clears the words of the command that lie in there. */
void title_forget(const struct title *title, char *const *command);

/* "sbxrun: session NAME" in place of all words: no option may be used after
 * this, for it points to one.  `name` may be one, too. */
void title_set(const struct title *title, const char *name);

#endif
