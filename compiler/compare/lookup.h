/*
 * Between globs.c, which searches for a path that globs match, and guesses.c,
 * which tries the plainest first.
 */
#ifndef SBX_COMPARE_LOOKUP_H
#define SBX_COMPARE_LOOKUP_H

#include "compiler/compare/bundle.h"

/* How many states are looked at for one right in one binding; and how much is
 * done in all, a glob of a state being this much. */
enum {
	MOST_STATES = 1 << 17,
	MOST_WORK = 1 << 25,
	STATE_WORK = 4,
	PART_GROUPS = 32,
};

struct reached {
	uint32_t parent;  /* index of the state before; itself: the first */
	const char *name; /* that led here */
	uint32_t len;
	uint8_t facts;
	bool covered; /* by the rule that is looked at */
	const struct live *lives;
	uint32_t live_count;
};

/* Names that differ for a set of parts, and what they were asked for. */
struct name {
	const char *text;
	uint32_t len;
};

struct cached {
	const struct name *names;
	size_t count;
};

struct search {
	struct arena *arena;
	struct map states; /* key: rule, facts, lives */
	struct map parts;  /* key: numbers of parts, and the directory */
	VEC(struct cached) cache;
	struct bundle *bundle; /* where the walk is, or NULL; freed with it */
	size_t nameless;       /* of its globs, see glob_is_named() */
	size_t visited;
	/* Room for one lookup at a time, for so many globs. */
	struct live *lives;
	uint32_t *key;
	size_t room;
	/* Rules for which a difference was found, but only on paths where
	 * another rule decides. */
	struct {
		VEC(const struct merged_rule *) rules;
		VEC(struct sbx_place) paths;
	} second;
};

/* A search for one rule below one directory. */
struct lookup {
	struct walk *walk;
	struct search *search;
	uint32_t bound;
	const struct merged_rule *rule;
	uint32_t directory; /* its number; UINT32_MAX: no place of the index is
	                     * in it */
	struct rule_aim aim;
	VEC(struct reached) queue;
	uint32_t *key;
};

/* Facts that the search tells apart. */
uint8_t lookup_facts(const struct lookup *lookup);

/* Whether a path cannot have the name, or it leads to a place of the index. */
bool lookup_takes(const void *context, const char *name, size_t len);

/* Whether the rule makes a difference where the state is. */
bool lookup_differs(const struct lookup *lookup, const struct reached *state);

/* Tries the plainest paths that globs match: that of the live glob `own`, or
 * SIZE_MAX: some, for a rule that covers all.  True if a difference was noted. */
bool lookup_guess(struct lookup *lookup, const struct reached *first,
    size_t own);

#endif
