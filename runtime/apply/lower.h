/*
 * Lowering: from the model's rules to what Landlock can be given.
 *
 * Landlock only adds rights: a rule on a directory gives them to everything
 * below, and nothing takes them back.  So a right that is denied somewhere
 * below an allowed directory is not given to the directory but to its entries,
 * one by one, all the way down to the denied place ("split").  Each right is
 * treated for itself: `deny write` leaves reading as one rule on the tree.
 *
 *	allow write /w      /w        read, exec of all below
 *	deny write /w/a/b   /w/x      write      \  the entries of /w and /w/a
 *	                    /w/a/y    write      /  but those that lead to b
 */
#ifndef SBX_LOWER_H
#define SBX_LOWER_H

#include "runtime/base/kernel.h"
#include "runtime/bind/bind.h"

enum {
	/* Bounds on the work of splitting, far above what a policy meant for
	 * people needs: Landlock rules given, entries looked at, depth. */
	LOWER_MAX_GRANTS = 65536,
	LOWER_MAX_ENTRIES = 262144,
	LOWER_MAX_DEPTH = 128,
};

/* A place where a right may end or begin again: a deny, or an exclusion. */
struct cut {
	struct sbx_place at;
	uint8_t allowed;  /* enum sbx_right: the model's verdicts */
	bool known;       /* allowed is filled in */
	int8_t directory; /* 1 yes or may become one, 0 no, -1 unknown */
	uint32_t outer;   /* the nearest cut around it: its index + 1, or 0 */
};

/* What became of one rule, beside binding->sites. */
struct outcome {
	uint32_t grants; /* Landlock rules that it was given */
	bool covered;    /* another rule already gives all of it */
	bool split;      /* handed out entry by entry */
};

struct lowering {
	struct binding *binding;
	const struct sbx_landlock *row;
	int ruleset;
	bool masked;   /* the mount view holds what is denied inside */
	uint32_t rule; /* the allow being lowered */
	uint32_t grants, entries, cut_count, allow_count;
	struct cut *cuts;
	uint32_t *allows; /* indices, in path order */
	struct outcome *outcomes;
};

/*
 * Adds the rules of every allow to the Landlock ruleset.  Refuses (125) when
 * a rule cannot be added or the bounds are passed, naming the policy's line.
 */
void lower_paths(struct lowering *lowering, struct binding *binding,
    const struct sbx_landlock *row, int ruleset);

/* Adds a rule for every TCP port that the policy allows. */
void lower_ports(const struct sbx_blob *blob, const struct sbx_landlock *row,
    int ruleset);

#endif
