/*
 * The path rules of both policies as trees, one for each anchor: what they name
 * below it, whatever place the anchor has.  For one path, it matters only which
 * anchors lie on it and where; layouts.c goes through all that can.
 */
#ifndef SBX_COMPARE_FOREST_H
#define SBX_COMPARE_FOREST_H

#include "compiler/compare/paths.h"

/* The anchors of both policies; the root has its place, and so have those that
 * the user has bound, whose rules are in its tree. */
enum {
	SLOT_ROOT = SBX_ANCHOR_ROOT,
	SLOT_WORKSPACE = SBX_ANCHOR_WORKSPACE,
	SLOT_HOME = SBX_ANCHOR_HOME,
	SLOT_TMP = SBX_ANCHOR_TMP,
	SLOT_RUNTIME = SBX_ANCHOR_RUNTIME,
	SLOT_OTHER_HOME, /* of the password entry */
	SLOT_AGENT,      /* the socket of the agent, which may be anywhere */
	SLOT_PARAM,      /* the first parameter */
	MOST_SLOTS = SLOT_PARAM + 2 * SBX_MAX_ANCHORS,
};

/* Where a rule about the agent's socket begins. */
#define AGENT_ANCHOR UINT16_MAX

#define NO_NODE UINT32_MAX
#define NO_HOLDER UINT32_MAX

struct forest_node {
	const char *name;
	uint32_t len;
	uint32_t parent; /* NO_NODE: the node is the anchor itself */
	uint32_t depth, first_child, next_sibling;
	uint32_t first_item;
	uint32_t slot;
};

/* A rule that begins at a node, where its glob begins, or an exclusion. */
struct forest_item {
	uint32_t next;
	uint32_t holder;
	bool exclusion;
};

/* A rule in the forest; a deny about ~ is there once for each home. */
struct holder {
	const struct merged_rule *rule;
	uint32_t node;
	uint32_t next; /* the same rule for the other home */
	uint16_t exclusion_count;
	uint32_t *exclusions; /* nodes */
};

struct forest {
	struct arena *arena;
	VEC(struct forest_node) nodes;
	VEC(struct forest_item) items;
	VEC(struct holder) holders;
	struct map children; /* key: parent, name; numbers are those of nodes */
	struct map params;   /* names; the number is that of the slot */
	uint32_t roots[MOST_SLOTS];
	uint32_t slot_count;
	bool bound;       /* by the user: only parameters are not */
	uint32_t scratch; /* a node: where the scratch directory usually is */
	uint32_t *holder_of;      /* of each merged rule, the first */
	VEC(uint32_t) with_holes; /* holders that have exclusions */
	char *key;
};

/* The pass is bound in the usual way. */
void forest_plant(struct forest *forest, const struct pass *pass,
    const struct rules *rules);

/* The child of that name, or NO_NODE. */
uint32_t forest_child(const struct forest *forest, uint32_t node,
    const char *name, uint32_t len);

/* The child of a node on the way to one below it; NO_NODE if that does not lie
 * below it. */
uint32_t forest_toward(const struct forest *forest, uint32_t node,
    uint32_t target);

/* The name of a parameter's slot. */
const char *forest_param(const struct forest *forest, uint32_t slot);

#endif
