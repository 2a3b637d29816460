/*
 * A quest: is there a path, and are there places for the anchors, on which two
 * policies differ because of one rule?
 *
 * What a policy says of a path depends only on the rules that cover it, and
 * these only on the anchors that lie on the path, the root or the path itself
 * among the directories: the others might as well lie on another disk.  So a
 * path is read name by name, and at each directory an anchor may be put there.
 * A spot is what matters from there on: where the path has come to in the tree
 * of each anchor on it, what covers it, and how far each glob has come.  Spots
 * that are the same are gone on from once; there is a finite number of them.
 *
 * An anchor can only be wanted for the rule itself, for one that allows what it
 * denies, and for an exclusion of a rule that must not cover the path.  All
 * others only add rules that may stand in the way, so they are left out.  Names
 * are those that lead to what is wanted, one for each set of patterns that some
 * name matches, and one that nobody knows.
 */
#ifndef SBX_COMPARE_QUEST_H
#define SBX_COMPARE_QUEST_H

#include "compiler/compare/forest.h"

enum found { FOUND_NONE, FOUND_LAYOUT, FOUND_NO_END };

struct quest {
	const struct forest *forest;
	const struct rules *rules;
	uint8_t right;
	struct rule_aim aim; /* of the rule in question */
	const bool *said;    /* of each merged rule: what it changes is known */
	uint32_t self;       /* the holder of the rule in question */
	uint32_t giver;      /* one that allows what it denies, or NO_HOLDER */
	bool wide; /* anchors as high as can be, for many rules at once */
};

/* Where the path ended and where each anchor lies on it, by slot; NULL: not on
 * it.  "" is the root. */
struct layout {
	const char *path;
	const char *places[MOST_SLOTS];
};

/* FOUND_NO_END: there are too many spots.  Adds to *work how many there
 * were. */
enum found quest_run(struct arena *arena, const struct quest *quest,
    struct layout *layout, size_t *work);

/* Whether a rule stands in the way of another: where it covers a path, the
 * other makes no difference, or none that is not known. */
bool quest_forbids(const struct quest *quest, const struct merged_rule *rule);

/* Whether in the tree of a node, above it or at it, is a rule that stands in
 * the way of all below it. */
bool quest_is_vain(const struct quest *quest, uint32_t node);

#endif
