/*
 * Between quest.c, which chooses where a quest goes, and spots.c, which knows
 * what is so when it has gone there.
 */
#ifndef SBX_COMPARE_SPOTS_H
#define SBX_COMPARE_SPOTS_H

#include "compiler/compare/quest.h"

#define NOT_PLACED (NO_NODE - 1)

enum role { ROLE_NONE, ROLE_SELF, ROLE_GIVER, ROLE_FORBIDDEN };

struct spot {
	uint32_t parent; /* itself: the first */
	uint32_t slot; /* of the anchor put here; SLOT_ROOT: a name was read */
	const char *name; /* that was read */
	uint32_t len;
	uint32_t path_len;
	uint8_t scratch; /* names read of /tmp/sbx-UID/x; 3: may be put here */
	bool covered, allowed;
	uint32_t *nodes; /* for each wanted slot */
	uint32_t *marks; /* sorted: of rules with holes, see mark() */
	uint32_t mark_count;
	struct live *lives; /* sorted; `bound` is a holder */
	uint32_t live_count;
};

/* A name to read, or an anchor to put. */
struct move {
	uint32_t slot;
	const char *name;
	uint32_t len;
};

struct run {
	struct arena *arena;
	const struct quest *quest;
	uint8_t slots[MOST_SLOTS]; /* wanted ones, the root first */
	uint32_t slot_count;
	bool wanted[MOST_SLOTS];
	VEC(uint32_t) across; /* forbidden rules with holes in other trees */
	VEC(struct spot) spots;
	size_t kept; /* marks and globs of all of them */
	STACK(uint32_t) open;
	struct map seen;
	/* The spot that is being made. */
	struct spot now;
	uint32_t nodes[MOST_SLOTS];
	STACK(uint32_t) marks;
	STACK(struct live) lives;
	STACK(struct move) moves;
	STACK(uint32_t) key;
	bool no_end;
};

const struct holder *holder_get(const struct run *run, uint32_t holder);

/* The index of a wanted slot; of another one slot_count. */
uint32_t slot_index(const struct run *run, uint32_t slot);

/* Where the path has come to in the tree that a node is in; NOT_PLACED, or
 * NO_NODE: it does not go on in that tree. */
uint32_t node_now(const struct run *run, uint32_t node);

/* Whether the policies differ on the path so far. */
bool is_difference(const struct run *run);

/* Makes the first spot, at the root. */
void spot_begin(struct run *run);

/* Makes a spot the one to go on from. */
void spot_load(struct run *run, uint32_t number);

/* Goes on from it; keeps the new spot if something can come of it. */
void move_make(struct run *run, const struct move *move);

#endif
