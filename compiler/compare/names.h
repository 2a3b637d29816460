/*
 * Names and patterns: which sets of patterns some name matches, and a name for
 * each.  Texts are unlimited in number, what a few patterns can tell apart is
 * not; so whoever looks for a difference tries these names and has tried all.
 */
#ifndef SBX_COMPARE_NAMES_H
#define SBX_COMPARE_NAMES_H

#include "compiler/base/arena.h"

#include <stdbool.h>

/*
 * '*' stands for any bytes; '?' for one character if it is a mark.  Of patterns
 * of one group, if it is not 0, it matters only whether any of them matches.
 */
struct name_pattern {
	const char *text;
	size_t len;
	bool marks;
	unsigned group;
};

struct name_class {
	const char *name;
	size_t len;
	const uint64_t *accepts; /* bit i: it matches pattern i, or for the
	                          * first of a group one of the group */
};

struct name_classes {
	VEC(struct name_class) list;
};

/* Names that are not to be given: another with the same matches is looked
 * for. */
struct name_taken {
	bool (*is_taken)(const void *context, const char *name, size_t len);
	const void *context;
};

/* Which names are asked for. */
struct name_question {
	const struct name_pattern *patterns;
	size_t count;
	size_t
	    must; /* the pattern that they match, by its index; SIZE_MAX: any */
	struct name_taken taken;
};

/*
 * A shortest name, not empty, for each set of patterns that is exactly what
 * some name matches.  False if there are too many sets to go through.
 */
bool name_classes(struct arena *arena, const struct name_question *question,
    struct name_classes *classes);

/* The plainest name that a pattern matches: with `star` for each star. */
const char *name_sample(struct arena *arena, const struct name_pattern *pattern,
    const char *star);

static inline bool
name_class_matches(const struct name_class *class, size_t pattern)
{
	return (class->accepts[pattern / 64] >> pattern % 64 & 1) != 0;
}

#endif
