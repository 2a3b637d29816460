/*
 * Paths of files that somebody named, as text: no file is looked at.
 */
#ifndef SBX_COMPILER_PATH_H
#define SBX_COMPILER_PATH_H

struct arena;

/* What is behind the last slash, or all of it; points into the path. */
const char *path_name(const char *path);

/* "out/team" of "out/team.sbx": without the last dot of its name and what is
 * behind it.  A name that only begins with a dot has none to lose. */
const char *path_stem(struct arena *arena, const char *path);

#endif
