/*
 * What was there before a run, on disk for as long as the run lasts: a supervisor
 * that is killed tells nothing any more, and the next one does it for it.
 *
 * A file for each run, in a directory of the user's where no command writes.  The
 * run holds a lock on it, which the kernel takes away when it ends, however.
 */
#ifndef SBX_UNFINISHED_H
#define SBX_UNFINISHED_H

#include "runtime/base/directory.h"

enum { UNFINISHED_NAME = 32 };

struct unfinished {
	int directory, fd; /* -1: none */
	char name[UNFINISHED_NAME];
};

/* Of this run; what cannot be written is a warning. */
void unfinished_begin(struct unfinished *run, const void *bytes, size_t len);
void unfinished_end(struct unfinished *run);

/* Those of runs that were killed, one after the other: open, and ours alone. */
struct unfinished_list {
	struct unfinished run;
	struct directory entries;
};

void unfinished_open(struct unfinished_list *list);
bool unfinished_next(struct unfinished_list *list, size_t *len);
void unfinished_close(struct unfinished_list *list);

#endif
