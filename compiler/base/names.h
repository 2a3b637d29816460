/*
 * "Did you mean": the name among the known ones that a mistyped name is
 * closest to.
 */
#ifndef SBX_NAMES_H
#define SBX_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The candidate nearest to text, or NULL if none is near enough to be what was
 * meant.  NULL candidates are skipped; on a tie the first wins.
 */
const char *nearest_name(const char *text, const char *const *candidates,
    size_t count);

/* No suggestion is made for a longer name. */
enum { NAME_MAX_LEN = 64 };

/* Whether a name has the form of one: a letter, then letters, digits, '-' and
 * '_', at most NAME_MAX_LEN in all.  It may still be a keyword: see
 * word_is_name(). */
bool name_is_good(const char *name, size_t len);

#endif
