/*
 * "Did you mean": the name among the known ones that a mistyped name is
 * closest to.
 */
#ifndef SBX_NAMES_H
#define SBX_NAMES_H

#include <stddef.h>

/*
 * The candidate nearest to text, or NULL if none is near enough that somebody
 * could have meant it.  NULL candidates are skipped; on a tie the first wins.
 */
const char *nearest_name(const char *text, const char *const *candidates,
    size_t count);

#endif
