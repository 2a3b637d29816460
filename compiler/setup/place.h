/*
 * A file by its open directory, so that nobody can lead sbxc elsewhere.  A
 * confined command may change the project, and so what a path in it means, while
 * sbxc works: no symbolic link on the way is followed, except one in / itself
 * (such as /home), which is the system's.
 */
#ifndef SBX_COMPILER_SETUP_PLACE_H
#define SBX_COMPILER_SETUP_PLACE_H

#include "compiler/base/arena.h"

#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int directory; /* an open one; -1: none */
	const char *name;
};

/* Opens the directory of an absolute path; `make` makes what is missing, for
 * this user alone.  False with errno, which is ELOOP for a link. */
bool place_open(struct place *place, struct arena *arena, const char *path,
    bool make);
void place_close(struct place *place);

/* What the path of an open directory is without links; NULL with errno. */
const char *place_path(const struct place *place, struct arena *arena);

/* Opens the file to be read; -1 with errno, which is ELOOP for a link. */
int place_read(const struct place *place);

struct written {
	const char *bytes;
	size_t size;
	const struct stat *like; /* its owner and mode */
};

/* Writes the bytes under a name of its own in the directory, and returns that
 * name; NULL with errno, and nothing is left. */
const char *place_prepare(const struct place *place, struct arena *arena,
    const struct written *written);

/* Gives the prepared file its name; false with errno, and it is gone. */
bool place_commit(const struct place *place, const char *prepared,
    bool replace);

#endif
