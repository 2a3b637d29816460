/*
 * Layouts of the anchors in which two policies differ because of a rule that
 * makes no difference in the usual ones.
 *
 * Each rule that only one policy has, and that is not known to change anything,
 * is asked about (quest.h).  When there is a layout, everything is compared in
 * it as in the usual ones, so that the verdict function has the last word, and
 * other rules that it shows are known, too.  What is known is not asked about
 * again: a path that a known rule covers needs no other explanation.
 */
#include "compiler/compare/bindings.h"
#include "compiler/tables/words.h"

#include <string.h>

/*
 * How many layouts are compared, how many rules in all of them together, and
 * how many spots are looked at, for one right and change.  The first layouts
 * are chosen for people to read, the others to show many rules at once.
 */
enum {
	MOST_LAYOUTS = 256,
	MOST_COMPARED = 1 << 19,
	MOST_WORK = 1 << 20,
	READABLE = 8,
};

struct layouts {
	struct pass *pass;
	struct arena *arena;
	const struct rules *rules;
	struct forest forest;
	uint8_t right;
	enum change change; /* that is looked for now */
	bool *said;         /* see struct quest */
	/* Of each policy, by slot: rules that may allow what one of the other
	 * denies; forgotten when more is said. */
	struct {
		VEC(uint32_t) list;
	} givers[SIDE_COUNT][MOST_SLOTS];
	bool collected[SIDE_COUNT];
	VEC(uint32_t) unsettled; /* rules */
	size_t compared, work;
};

enum settled { SETTLED, UNSETTLED, MORE_TO_ASK };

static struct quest
quest_of(const struct layouts *layouts, uint32_t self, uint32_t giver)
{
	return (struct quest){
		.forest = &layouts->forest,
		.rules = layouts->rules,
		.right = layouts->right,
		.aim = rule_aim(layouts->forest.holders.items[self].rule,
		    layouts->right),
		.said = layouts->said,
		.self = self,
		.giver = giver,
		.wide = layouts->compared >= READABLE,
	};
}

static bool
is_in_question(const struct layouts *layouts, size_t rule)
{
	const struct merged_rule *merged = &layouts->rules->items[rule];

	return rule_changed(merged, layouts->right) &&
	    rule_change(merged, layouts->right) == layouts->change;
}

static void
said_renew(struct layouts *layouts)
{
	const struct rules *rules = layouts->rules;

	for (size_t i = 0; i < rules->count; i++) {
		struct note_key key;

		if (!is_in_question(layouts, i))
			continue;
		key = rule_key(&rules->items[i], layouts->right);
		layouts->said[i] = pass_said(layouts->pass, &key);
	}
	memset(layouts->collected, 0, sizeof layouts->collected);
}

/* --- one rule ------------------------------------------------------------- */

/* Compares everything in a layout; false if nothing new came of it, or enough
 * has been compared. */
static bool
layout_compare(struct layouts *layouts, const struct layout *layout,
    size_t rule)
{
	const struct comparison *comparison = layouts->pass->comparison;
	size_t before = comparison->differences.count;

	if (layouts->compared >= MOST_LAYOUTS ||
	    layouts->compared * layouts->rules->count > MOST_COMPARED)
		return false;
	layouts->compared++;
	compare_places(layouts->pass, layouts->rules,
	    binding_make(comparison->arena, &layouts->forest, layout));
	said_renew(layouts);
	return layouts->said[rule] || comparison->differences.count > before;
}

static enum settled
pair_settle(struct layouts *layouts, uint32_t self, uint32_t giver)
{
	struct quest quest = quest_of(layouts, self, giver);
	struct arena *arena = arena_new();
	struct layout layout;
	enum found found = layouts->work > MOST_WORK ?
	    FOUND_NO_END :
	    quest_run(arena, &quest, &layout, &layouts->work);
	enum settled settled = found == FOUND_NONE ? SETTLED : UNSETTLED;

	if (found == FOUND_LAYOUT &&
	    layout_compare(layouts, &layout,
		(size_t)(layouts->forest.holders.items[self].rule -
		    layouts->rules->items)))
		settled = MORE_TO_ASK;
	arena_release(arena);
	return settled;
}

/* --- who gives what a rule denies ----------------------------------------- */

/* Whether another rule in the tree covers all that this one covers. */
static bool
is_covered(const struct layouts *layouts, enum side side, uint32_t holder)
{
	const struct forest *forest = &layouts->forest;
	uint32_t node = forest->holders.items[holder].node, first = node;

	for (; node != NO_NODE; node = forest->nodes.items[node].parent) {
		uint32_t at = forest->nodes.items[node].first_item;

		for (; at != NO_NODE; at = forest->items.items[at].next) {
			uint32_t other = forest->items.items[at].holder;
			const struct holder *rule =
			    &forest->holders.items[other];

			if (!forest->items.items[at].exclusion &&
			    rule->exclusion_count == 0 &&
			    rule->rule->glob == NULL &&
			    (node != first || other < holder) &&
			    (rule_facts(rule->rule, layouts->right) &
				ALLOWS(side)))
				return true;
		}
	}
	return false;
}

/* Whether the rule of a policy may allow what one of the other denies. */
static bool
gives(const struct layouts *layouts, const struct quest *quest, uint32_t giver)
{
	const struct forest *forest = &layouts->forest;
	const struct holder *holder = &forest->holders.items[giver];
	const struct merged_rule *self =
	    forest->holders.items[quest->self].rule;
	enum side side = !rule_side(self, layouts->right);

	return (rule_facts(holder->rule, layouts->right) & ALLOWS(side)) != 0 &&
	    !quest_forbids(quest, holder->rule) &&
	    !is_covered(layouts, side, giver) &&
	    !quest_is_vain(quest, holder->node);
}

/* They are the same for all rules that deny on one side. */
static void
givers_collect(struct layouts *layouts, const struct quest *quest,
    enum side side)
{
	const struct forest *forest = &layouts->forest;

	if (layouts->collected[side])
		return;
	layouts->collected[side] = true;
	for (uint32_t slot = 0; slot < forest->slot_count; slot++)
		layouts->givers[side][slot].list.count = 0;
	for (uint32_t i = 0; i < forest->holders.count; i++) {
		uint32_t node = forest->holders.items[i].node;

		if (gives(layouts, quest, i))
			*arena_push(layouts->arena,
			    &layouts
				 ->givers[side][forest->nodes.items[node].slot]
				 .list) = i;
	}
}

/* The rules at one node. */
static enum settled
node_settle(struct layouts *layouts, const struct quest *quest, uint32_t node)
{
	const struct forest *forest = &layouts->forest;
	uint32_t at = forest->nodes.items[node].first_item;
	enum settled settled = SETTLED;

	for (; at != NO_NODE && settled == SETTLED;
	     at = forest->items.items[at].next) {
		const struct forest_item *item = &forest->items.items[at];

		if (!item->exclusion && gives(layouts, quest, item->holder))
			settled = pair_settle(layouts, quest->self,
			    item->holder);
	}
	return settled;
}

/* The node that is walked to after one, below `top`; NO_NODE at the end. */
static uint32_t
node_next(const struct forest *forest, uint32_t top, uint32_t node)
{
	const struct forest_node *nodes = forest->nodes.items;

	if (nodes[node].first_child != NO_NODE)
		return nodes[node].first_child;
	while (node != top && nodes[node].next_sibling == NO_NODE)
		node = nodes[node].parent;
	return node == top ? NO_NODE : nodes[node].next_sibling;
}

/* In one tree, rules meet only where one lies in the other. */
static enum settled
tree_settle(struct layouts *layouts, const struct quest *quest)
{
	const struct forest *forest = &layouts->forest;
	uint32_t top = forest->holders.items[quest->self].node, node;
	enum settled settled = SETTLED;

	for (node = forest->nodes.items[top].parent;
	     node != NO_NODE && settled == SETTLED;
	     node = forest->nodes.items[node].parent)
		settled = node_settle(layouts, quest, node);
	for (node = top; node != NO_NODE && settled == SETTLED;
	     node = node_next(forest, top, node))
		settled = node_settle(layouts, quest, node);
	return settled;
}

static enum settled
trees_settle(struct layouts *layouts, const struct quest *quest)
{
	const struct forest *forest = &layouts->forest;
	const struct holder *self = &forest->holders.items[quest->self];
	enum side side = !rule_side(self->rule, layouts->right);
	enum settled settled = tree_settle(layouts, quest);

	givers_collect(layouts, quest, side);
	for (uint32_t slot = 0; slot < forest->slot_count; slot++) {
		if (slot == forest->nodes.items[self->node].slot)
			continue;
		for (size_t i = 0; settled == SETTLED &&
		     i < layouts->givers[side][slot].list.count;
		     i++)
			settled = pair_settle(layouts, quest->self,
			    layouts->givers[side][slot].list.items[i]);
	}
	return settled;
}

static enum settled
holder_settle(struct layouts *layouts, uint32_t self)
{
	const struct quest quest = quest_of(layouts, self, NO_HOLDER);
	const struct holder *holder = &layouts->forest.holders.items[self];

	if (quest_is_vain(&quest, holder->node))
		return SETTLED;
	return holder->rule->allow ? pair_settle(layouts, self, NO_HOLDER) :
				     trees_settle(layouts, &quest);
}

/* --- all of them ---------------------------------------------------------- */

static void
rule_settle(struct layouts *layouts, size_t rule)
{
	uint32_t holder = layouts->forest.holder_of[rule];
	enum settled settled;

	while (holder != NO_HOLDER && !layouts->said[rule]) {
		settled = holder_settle(layouts, holder);
		if (settled == UNSETTLED) {
			*arena_push(layouts->arena,
			    &layouts->unsettled) = (uint32_t)rule;
			return;
		}
		if (settled == SETTLED)
			holder = layouts->forest.holders.items[holder].next;
	}
}

/* Of the rules that were not settled, and did not come to be known by others,
 * one stands for all. */
static void
unsettled_note(const struct layouts *layouts)
{
	struct pass *pass = layouts->pass;
	struct arena *arena = pass->comparison->arena;
	const struct merged_rule *rule = NULL;
	struct explanation says[SIDE_COUNT] = {
		{ .source = SBX_NO_SOURCE },
		{ .source = SBX_NO_SOURCE },
	};
	size_t count = 0;

	for (size_t i = layouts->unsettled.count; i-- > 0;) {
		if (layouts->said[layouts->unsettled.items[i]])
			continue;
		rule = &layouts->rules->items[layouts->unsettled.items[i]];
		count++;
	}
	if (rule == NULL)
		return;
	if (!rule->everything) {
		enum side side = rule_side(rule, layouts->right);
		const struct sbx_blob *blob = pass->comparison->blobs[side];
		const struct sbx_path *path = &blob->paths[rule->index[side]];

		says[side].text = path_explanation(arena, blob, path);
		says[side].source = path->source;
	}
	pass_note_setting(pass, DIFFERENCE_PATH,
	    layouts->change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER :
					      CHANGE_MAYBE_NARROWER,
	    arena_printf(arena,
		"%s, by %zu rule%s, where the anchors lie in a way that was "
		"not looked at",
		rights_word(SBX_ALLOW, layouts->right), count,
		count == 1 ? "" : "s"),
	    says);
}

/*
 * Denials come first, as they do for the model, and only what is looked for is
 * noted: so a comparison the other way round comes to the same rules.
 */
static void
change_settle(struct layouts *layouts, enum change change)
{
	const struct rules *rules = layouts->rules;

	layouts->change = layouts->pass->only = change;
	layouts->compared = layouts->work = layouts->unsettled.count = 0;
	said_renew(layouts);
	for (unsigned allow = 0; allow <= 1; allow++) {
		for (size_t i = 0; i < rules->count; i++) {
			if (layouts->pass->comparison->fault == NULL &&
			    rules->items[i].allow == allow &&
			    is_in_question(layouts, i))
				rule_settle(layouts, i);
		}
	}
	layouts->pass->only = CHANGE_END;
	unsettled_note(layouts);
}

void
compare_layouts(struct pass *pass, const struct rules *rules)
{
	struct arena *arena = arena_new();
	struct layouts layouts = {
		.pass = pass,
		.arena = arena,
		.rules = rules,
		.forest = { .arena = arena },
		.said = arena_alloc(arena, rules->count + 1),
	};

	pass->scratch = arena;
	pass_begin(pass, binding_usual(0));
	forest_plant(&layouts.forest, pass, rules);
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		/* All that the user has bound has been compared as it lies. */
		if (layouts.forest.bound &&
		    layouts.forest.slot_count == SLOT_PARAM)
			break;
		layouts.right = right;
		change_settle(&layouts, CHANGE_WIDER);
		if (!pass->comparison->wider_only)
			change_settle(&layouts, CHANGE_NARROWER);
	}
	pass->scratch = NULL;
	arena_release(arena);
}
