/* See forest.h. */
#include "compiler/compare/forest.h"

#include <string.h>

/* --- nodes ---------------------------------------------------------------- */

static size_t
key_make(const struct forest *forest, uint32_t parent, const char *name,
    size_t len)
{
	memcpy(forest->key, &parent, sizeof parent);
	memcpy(forest->key + sizeof parent, name, len);
	return sizeof parent + len;
}

uint32_t
forest_child(const struct forest *forest, uint32_t node, const char *name,
    uint32_t len)
{
	size_t size = key_make(forest, node, name, len);
	size_t number = map_number_find(&forest->children, forest->key, size);

	return number == SIZE_MAX ? NO_NODE : (uint32_t)number;
}

static uint32_t
child_make(struct forest *forest, uint32_t parent, const char *name, size_t len)
{
	bool added;
	size_t size = key_make(forest, parent, name, len);
	uint32_t number = (uint32_t)map_number(forest->arena, &forest->children,
	    forest->key, size, &added);
	struct forest_node *node;

	if (!added)
		return number;
	node = arena_push(forest->arena, &forest->nodes);
	*node = (struct forest_node){
		.name = name,
		.len = (uint32_t)len,
		.parent = parent,
		.depth = forest->nodes.items[parent].depth + 1,
		.first_child = NO_NODE,
		.next_sibling = forest->nodes.items[parent].first_child,
		.first_item = NO_NODE,
		.slot = forest->nodes.items[parent].slot,
	};
	forest->nodes.items[parent].first_child = number;
	return number;
}

/* The tree of an anchor; its key is no node's and no name's. */
static uint32_t
root_make(struct forest *forest, uint32_t slot)
{
	char name[12];
	bool added;
	size_t size;

	memcpy(name, "/", 2);
	name[1] = (char)(1 + slot);
	size = key_make(forest, NO_NODE, name, 2);
	*arena_push(forest->arena, &forest->nodes) = (struct forest_node){
		.name = "",
		.parent = NO_NODE,
		.first_child = NO_NODE,
		.next_sibling = NO_NODE,
		.first_item = NO_NODE,
		.slot = slot,
	};
	return (uint32_t)map_number(forest->arena, &forest->children,
	    forest->key, size, &added);
}

/* The node of a path below a node. */
static uint32_t
node_below(struct forest *forest, uint32_t node, const char *path)
{
	while (*path == '/') {
		size_t len = strcspn(++path, "/");

		if (len == 0)
			break;
		node = child_make(forest, node, path, len);
		path += len;
	}
	return node;
}

uint32_t
forest_toward(const struct forest *forest, uint32_t node, uint32_t target)
{
	const struct forest_node *nodes = forest->nodes.items;
	uint32_t depth;

	if (node == NO_NODE || nodes[node].depth >= nodes[target].depth)
		return NO_NODE;
	depth = nodes[node].depth + 1;
	while (nodes[target].depth > depth)
		target = nodes[target].parent;
	return nodes[target].parent == node ? target : NO_NODE;
}

/* --- anchors -------------------------------------------------------------- */

const char *
forest_param(const struct forest *forest, uint32_t slot)
{
	return forest->params.keys.items[slot - SLOT_PARAM].bytes;
}

/* Whether the user has said where an anchor lies, so that it is no question. */
static bool
is_bound(const struct forest *forest, const struct places *places,
    uint16_t anchor)
{
	/* An anchor of a verified blob is below SBX_MAX_ANCHORS. */
	return anchor < SBX_ANCHOR_PARAM ?
	    forest->bound :
	    /* cppcheck-suppress arrayIndexOutOfBoundsCond */
	    !places->named[anchor];
}

/* Where an anchor of a policy stands in the forest. */
static uint32_t
anchor_node(struct forest *forest, const struct places *places, uint16_t anchor,
    bool other_home)
{
	const char *name;
	uint32_t slot;
	bool added;

	if (anchor == AGENT_ANCHOR)
		return forest->roots[SLOT_AGENT];
	if (anchor != SBX_ANCHOR_ROOT && is_bound(forest, places, anchor))
		return node_below(forest, forest->roots[SLOT_ROOT],
		    anchor == SBX_ANCHOR_HOME && other_home ?
			places->other_home.path :
			places->anchors[anchor].path);
	if (anchor == SBX_ANCHOR_HOME && other_home)
		return forest->roots[SLOT_OTHER_HOME];
	if (anchor < SBX_ANCHOR_PARAM)
		return forest->roots[anchor];
	name = sbx_string(places->blob, places->blob->anchors[anchor].name);
	slot = SLOT_PARAM +
	    (uint32_t)map_number(forest->arena, &forest->params, name,
		strlen(name) + 1, &added);
	if (added) {
		forest->roots[slot] = root_make(forest, slot);
		forest->slot_count = slot + 1;
	}
	return forest->roots[slot];
}

/* --- rules ---------------------------------------------------------------- */

static void
item_add(struct forest *forest, uint32_t node, uint32_t holder, bool exclusion)
{
	struct forest_node *at = &forest->nodes.items[node];
	uint32_t number = (uint32_t)forest->items.count;

	*arena_push(forest->arena, &forest->items) = (struct forest_item){
		.next = at->first_item,
		.holder = holder,
		.exclusion = exclusion,
	};
	at->first_item = number;
}

static bool
has_other_home(const struct forest *forest, const struct places *places)
{
	return !forest->bound || places->has_other_home;
}

static void
exclusion_plant(struct forest *forest, struct holder *holder, uint32_t number,
    uint32_t node)
{
	holder->exclusions[holder->exclusion_count++] = node;
	item_add(forest, node, number, true);
}

/* What is excepted below ~ is excepted in both homes, by each rule. */
static void
exclusions_plant(struct forest *forest, const struct places *places,
    struct holder *holder, const struct sbx_path *path)
{
	const struct sbx_blob *blob = places->blob;
	uint32_t number = (uint32_t)forest->holders.count;

	holder->exclusions = arena_alloc(forest->arena,
	    (2u * path->exclusion_count + 1u) * sizeof *holder->exclusions);
	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &blob->exclusions[path->first_exclusion + i];
		const char *suffix = sbx_string(blob, exclusion->suffix);

		exclusion_plant(forest, holder, number,
		    node_below(forest,
			anchor_node(forest, places, exclusion->anchor, false),
			suffix));
		if (exclusion->anchor == SBX_ANCHOR_HOME &&
		    has_other_home(forest, places))
			exclusion_plant(forest, holder, number,
			    node_below(forest,
				anchor_node(forest, places, exclusion->anchor,
				    true),
				suffix));
	}
}

static uint32_t
holder_add(struct forest *forest, const struct places *places,
    const struct merged_rule *rule, bool other_home)
{
	const struct sbx_blob *blob = places->blob;
	uint32_t number = (uint32_t)forest->holders.count;
	struct holder holder = {
		.rule = rule,
		.node = forest->roots[SLOT_ROOT],
		.next = NO_HOLDER,
	};

	if (!rule->everything) {
		const struct sbx_path *path = rule->path;

		holder.node = node_below(forest,
		    anchor_node(forest, places, path->anchor, other_home),
		    sbx_string(blob, path->suffix));
		exclusions_plant(forest, places, &holder, path);
	}
	item_add(forest, holder.node, number, false);
	*arena_push(forest->arena, &forest->holders) = holder;
	if (holder.exclusion_count > 0)
		*arena_push(forest->arena, &forest->with_holes) = number;
	return number;
}

static void
rule_plant(struct forest *forest, const struct pass *pass,
    const struct rules *rules, size_t i)
{
	const struct merged_rule *rule = &rules->items[i];
	const struct places *places = &pass->subjects[rule->side].places;
	uint32_t first = holder_add(forest, places, rule, false);

	forest->holder_of[i] = first;
	if (rule->everything || rule->allow ||
	    !has_other_home(forest, places) ||
	    rule->path->anchor != SBX_ANCHOR_HOME)
		return;
	forest->holders.items[first].next = (uint32_t)forest->holders.count;
	holder_add(forest, places, rule, true);
}

void
forest_plant(struct forest *forest, const struct pass *pass,
    const struct rules *rules)
{
	struct arena *arena = forest->arena;
	const struct places *places = &pass->subjects[SIDE_NEW].places;

	forest->key = arena_alloc(arena, sizeof(uint32_t) + WALK_PATH_ROOM);
	forest->bound = pass->comparison->bound[SIDE_OLD] != NULL;
	forest->slot_count = SLOT_PARAM;
	for (uint32_t slot = 0; slot < SLOT_PARAM; slot++)
		forest->roots[slot] = root_make(forest, slot);
	forest->holder_of = arena_alloc(arena,
	    (rules->count + 1) * sizeof *forest->holder_of);
	for (size_t i = 0; i < rules->count; i++)
		rule_plant(forest, pass, rules, i);
	forest->scratch = node_below(forest, forest->roots[SLOT_ROOT],
	    places->anchors[SBX_ANCHOR_TMP].path);
}
