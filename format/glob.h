/*
 * Patterns of paths: what a path rule with `glob` speaks of below its place.
 *
 *	*	any characters of a name: none too, and a leading dot too
 *	?	one character of a name
 *	**	as a whole part: any number of directories, none too
 *
 * A name is bytes to Linux.  A character is one of UTF-8, well formed, and each
 * byte that is in none is a character by itself.
 *
 * A path is matched name by name.  A set of states says which parts of the
 * pattern may come next, so that a walk knows of each directory whether
 * anything below it can match at all.  Bit i: part i is next; the bit after
 * the last part: what was read so far matches.
 */
#ifndef SBX_GLOB_H
#define SBX_GLOB_H

#include "format/model.h"

/* A pattern taken apart; points into its text. */
struct sbx_glob {
	const char *parts[SBX_MAX_GLOB];
	uint32_t lens[SBX_MAX_GLOB];
	uint32_t count;
	uint64_t any; /* bit i: part i is "**" */
};

_Static_assert(SBX_MAX_GLOB < 63, "a bit for each part, and one more");

/* Whether a pattern is in the one form that blobs hold, as sbx-blob(5) has it.
 * If so, takes it apart. */
bool sbx_glob_parse(const char *text, struct sbx_glob *glob);

/* Whether a name, without slashes, is what one part other than "**" means. */
bool sbx_name_match(const char *part, size_t part_len, const char *name,
    size_t len);

/* The states at the pattern's place; those one name further; 0: nothing below
 * can match. */
uint64_t sbx_glob_start(const struct sbx_glob *glob);
uint64_t sbx_glob_step(const struct sbx_glob *glob, uint64_t states,
    const char *name, size_t len);

static inline bool
sbx_glob_matches(const struct sbx_glob *glob, uint64_t states)
{
	return (states >> glob->count & 1) != 0;
}

/* The only name that can come next, as an index of a part, or -1 if several
 * can. */
int sbx_glob_only(const struct sbx_glob *glob, uint64_t states);

/* The path, or the nearest to `place` of the directories above it, that the
 * pattern below the place matches; its len is 0 if there is none. */
struct sbx_place sbx_glob_find(const struct sbx_glob *glob,
    struct sbx_place place, struct sbx_place path);

#endif
