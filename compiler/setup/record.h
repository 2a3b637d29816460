/*
 * What `sbxc init` remembers of what it has written, as a file of JSON, and how it
 * is undone: files that are as they were written go, or get their backup back;
 * what somebody has edited since is kept, and of JSON only what was changed there
 * is taken back; directories that were made go if they are empty.
 */
#ifndef SBX_RECORD_H
#define SBX_RECORD_H

#include "compiler/setup/change.h"

/* The text of the record of changes. */
const char *record_of(const struct changes *changes);

/* A name for a text, such as a path, in the name of a file. */
const char *record_key(struct arena *arena, const char *text);

/* Removes an empty directory (its path ends in a slash) or a file. */
bool made_remove(struct arena *arena, const char *path);

/* Undoes what a record says: false after complaining if it is not there, or if
 * something of it has been changed since, which is left. */
bool record_undo(struct arena *arena, const char *record);

#endif
