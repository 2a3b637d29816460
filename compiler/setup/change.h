/*
 * Files that `sbxc init` writes: all of them or none, each with what it takes to
 * undo it.
 *
 *	change_add()*  changes_show()  changes_write()
 *
 * A file that is there is replaced by rename(2) after a backup beside it, and
 * keeps its owner and mode.  A symbolic link, also one on the way, a file of
 * another user and what is no file are refused: whoever made the link decides
 * where it leads.
 */
#ifndef SBX_CHANGE_H
#define SBX_CHANGE_H

#include "compiler/base/arena.h"

#include <stdbool.h>
#include <sys/stat.h>

struct change {
	const char *path, *backup; /* backup: NULL for a new file */
	const char *bytes;
	size_t size;
	mode_t mode;     /* of a new file */
	bool made;       /* a file that nobody edits */
	const char *old; /* NULL: nothing was there */
	struct stat before;
	bool linked, written; /* the backup, the file */
	bool shared;          /* with other agents that are set up */
};

/* A directory (its path ends in a slash), or a file with that text. */
struct made {
	const char *path, *text;
};

struct changes {
	struct arena *arena;
	const char *record; /* the file that says what was done; NULL: none */
	bool recorded;      /* it was written */
	bool shell;         /* sbxsh is the shell of an agent now */
	VEC(struct change) list;
	VEC(struct made) made;
};

/* What a file holds: NULL, with errno 0 if nothing is there; else after
 * complaining. */
const char *change_read(struct arena *arena, const char *path,
    struct stat *status);

/* The same, in silence: NULL if it is no file that can be read. */
const char *change_look(struct arena *arena, const char *path);

/* Adds a text; false after complaining if the file that is there cannot be
 * replaced, or `fresh` and one is there. */
struct change *change_add(struct changes *changes, const char *path,
    const char *text, mode_t mode, bool fresh);

/* Makes a directory (its path ends in a slash; `text` is NULL) or a file with a
 * text, at once; what is there is left as it is.  False with errno. */
bool changes_make(struct changes *changes, const char *path, const char *text);

/* What would be written, on standard output. */
void changes_show(const struct changes *changes);

/* Writes all of them and the record; false after complaining, with nothing
 * changed. */
bool changes_write(struct changes *changes);

/* Takes back what has been written. */
void changes_revert(struct changes *changes);

/* Puts a backup back, or removes what has none; false with errno. */
bool change_take_back(struct arena *arena, const char *path,
    const char *backup);

#endif
