/*
 * Two policies, and each way in which one lets through what the other does
 * not: with the rules that decide, and with a witness, one access on which
 * verdict_of() answers differently.
 *
 * Paths are symbolic, and how two rules bear on each other depends on where
 * the workspace, the home directory and the other anchors lie.  So both
 * policies are bound in some ways that differ in exactly that (struct binding):
 * a few that are usual, and those that layouts.c makes for rules that make no
 * difference in these.  What differs in any of them is a difference.  Or both
 * are bound as the user asks for, and only parameters without a place lie
 * in several ways.
 */
#ifndef SBX_COMPARE_H
#define SBX_COMPARE_H

#include "compiler/compare/difference.h"

struct comparison {
	struct arena *arena;
	const struct sbx_blob *blobs[SIDE_COUNT];
	/* Bound as the user wants, but for parameters; NULL: in the ways above. */
	const struct subject *bound[SIDE_COUNT];
	const struct arch *arch;            /* only this machine; NULL: each */
	struct definitions definitions;     /* that hold in the ways above */
	bool wider_only;                    /* others may be left out */
	VEC(struct difference) differences; /* wider ones first */
	size_t counts[CHANGE_END];
	bool names_home;   /* paths of theirs lie where the usual home does */
	const char *fault; /* why no answer can be given, or NULL */
	size_t work;       /* what globs have cost so far */
};

/* Fills in what is below differences; the caller has set what is above
 * them. */
void compare(struct comparison *comparison);

/*
 * Makes one difference of all that one written rule is behind, and of all that
 * a group or a parent brings that only one of the policies uses; the others are
 * its members.  What opens to the outside and to secrets comes first.
 */
void comparison_join(struct comparison *comparison);

/* Counts the changes anew. */
void comparison_count(struct comparison *comparison);

/* One of the policies where a difference shows: what verdict_of() is to be
 * asked about. */
struct subject comparison_subject(const struct comparison *comparison,
    const struct difference *difference, enum side side, struct arena *arena);

#endif
