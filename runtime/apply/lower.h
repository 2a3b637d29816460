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

#include "runtime/apply/outcome.h"
#include "runtime/base/kernel.h"

/* What the lowering is about, and what it needs. */
struct lowering {
	const struct binding *binding;
	const struct sbx_landlock *row;
	int ruleset;
	bool masked; /* the mount tree hides what is denied inside */
	struct outcome *outcomes; /* of the binding's rules; to be filled in */
};

/*
 * Adds the rules of every allow to the Landlock ruleset.  Refuses (125) when
 * a rule cannot be added or the bounds are passed, naming the policy's line.
 */
void lower_paths(struct arena *arena, const struct lowering *what);

/* Opens the places of rules about sockets, where Landlock holds them (ABI 9): all
 * of a place, or nothing of it if a denial lies below. */
void lower_sockets(struct arena *arena, const struct lowering *what);

/* Adds a rule for every TCP port that the policy allows, about those rights to
 * ports that the ruleset holds, `net`. */
void lower_ports(const struct sbx_blob *blob, const struct sbx_landlock *row,
    uint64_t net, int ruleset);

#endif
