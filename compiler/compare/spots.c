/* See spots.h. */
#include "compiler/compare/spots.h"

#include <string.h>

/* --- rules ---------------------------------------------------------------- */

bool
quest_forbids(const struct quest *quest, const struct merged_rule *rule)
{
	const struct merged_rule *self =
	    quest->forest->holders.items[quest->self].rule;

	if (rule == self)
		return false;
	if (rule_facts(rule, quest->right) & quest->aim.forbidden)
		return true;
	return quest->said[rule - quest->rules->items] &&
	    rule_changed(rule, quest->right) &&
	    rule_change(rule, quest->right) == rule_change(self, quest->right);
}

/* Whether a rule above a node, or at it, may have a hole on the way from there.
 * A hole in another tree may be anywhere. */
static bool
has_way_out(const struct forest *forest, const struct holder *rule,
    uint32_t node)
{
	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		uint32_t hole = rule->exclusions[i];

		if (hole == node ||
		    forest->nodes.items[hole].slot !=
			forest->nodes.items[node].slot ||
		    forest_toward(forest, node, hole) != NO_NODE ||
		    forest_toward(forest, hole, node) != NO_NODE)
			return true;
	}
	return false;
}

bool
quest_is_vain(const struct quest *quest, uint32_t node)
{
	const struct forest *forest = quest->forest;

	for (uint32_t up = node; up != NO_NODE;
	     up = forest->nodes.items[up].parent) {
		uint32_t at = forest->nodes.items[up].first_item;

		for (; at != NO_NODE; at = forest->items.items[at].next) {
			const struct forest_item *item =
			    &forest->items.items[at];
			const struct holder *holder =
			    &forest->holders.items[item->holder];

			if (!item->exclusion && holder->rule->glob == NULL &&
			    quest_forbids(quest, holder->rule) &&
			    !has_way_out(forest, holder, node))
				return true;
		}
	}
	return false;
}

const struct holder *
holder_get(const struct run *run, uint32_t holder)
{
	return &run->quest->forest->holders.items[holder];
}

static enum role
role_of(const struct run *run, uint32_t holder)
{
	if (holder == run->quest->self)
		return ROLE_SELF;
	if (holder == run->quest->giver)
		return ROLE_GIVER;
	return quest_forbids(run->quest, holder_get(run, holder)->rule) ?
	    ROLE_FORBIDDEN :
	    ROLE_NONE;
}

/* --- what covers ---------------------------------------------------------- */

/* A rule that must not cover the path and has a hole: it has begun, or the path
 * is in a hole. */
static uint32_t
mark(uint32_t holder, bool excluded)
{
	return holder * 2 + excluded;
}

static size_t
mark_find(const struct run *run, uint32_t wanted)
{
	size_t at = 0;

	while (at < run->marks.count && run->marks.items[at] < wanted)
		at++;
	return at;
}

static bool
is_marked(const struct run *run, uint32_t wanted)
{
	size_t at = mark_find(run, wanted);

	return at < run->marks.count && run->marks.items[at] == wanted;
}

static void
mark_add(struct run *run, uint32_t new)
{
	size_t at = mark_find(run, new);

	if (is_marked(run, new))
		return;
	*STACK_PUSH(run->arena, &run->marks) = 0;
	memmove(&run->marks.items[at + 1], &run->marks.items[at],
	    (run->marks.count - 1 - at) * sizeof *run->marks.items);
	run->marks.items[at] = new;
}

static void
mark_remove(struct run *run, uint32_t old)
{
	size_t at = mark_find(run, old);

	if (!is_marked(run, old))
		return;
	run->marks.count--;
	memmove(&run->marks.items[at], &run->marks.items[at + 1],
	    (run->marks.count - at) * sizeof *run->marks.items);
}

/* A rule covers from here on; false if nothing can come of that. */
static bool
rule_begins(struct run *run, uint32_t holder, enum role role)
{
	if (role == ROLE_SELF)
		run->now.covered = true;
	else if (role == ROLE_GIVER)
		run->now.allowed = true;
	else if (holder_get(run, holder)->exclusion_count == 0)
		return false;
	else if (!is_marked(run, mark(holder, true)))
		mark_add(run, mark(holder, false));
	return true;
}

static bool
exclusion_begins(struct run *run, uint32_t holder, enum role role)
{
	if (role != ROLE_FORBIDDEN)
		return false;
	mark_remove(run, mark(holder, false));
	mark_add(run, mark(holder, true));
	return true;
}

static void
live_add(struct run *run, struct live live)
{
	size_t at = run->lives.count;

	*STACK_PUSH(run->arena, &run->lives) = live;
	for (; at > 0 && run->lives.items[at - 1].bound > live.bound; at--)
		run->lives.items[at] = run->lives.items[at - 1];
	run->lives.items[at] = live;
}

/* The path is at a node; false if nothing can come of that. */
static bool
node_enter(struct run *run, uint32_t node)
{
	const struct forest *forest = run->quest->forest;
	uint32_t at = forest->nodes.items[node].first_item;

	for (; at != NO_NODE; at = forest->items.items[at].next) {
		const struct forest_item *item = &forest->items.items[at];
		const struct sbx_glob *glob =
		    holder_get(run, item->holder)->rule->glob;
		enum role role = role_of(run, item->holder);
		bool good = true;

		if (role == ROLE_NONE)
			continue;
		if (item->exclusion)
			good = exclusion_begins(run, item->holder, role);
		else if (glob == NULL)
			good = rule_begins(run, item->holder, role);
		else
			live_add(run,
			    (struct live){ item->holder,
				sbx_glob_start(glob) });
		if (!good)
			return false;
	}
	return true;
}

/* --- hope ----------------------------------------------------------------- */

uint32_t
slot_index(const struct run *run, uint32_t slot)
{
	uint32_t index = 0;

	while (index < run->slot_count && run->slots[index] != slot)
		index++;
	return index;
}

/* Where the path has come to in the tree that a node is in. */
uint32_t
node_now(const struct run *run, uint32_t node)
{
	uint32_t slot = run->quest->forest->nodes.items[node].slot;
	uint32_t index = slot_index(run, slot);

	return index < run->slot_count ? run->nodes[index] : NO_NODE;
}

static bool
can_reach(const struct run *run, uint32_t node)
{
	uint32_t now = node_now(run, node);

	return now == NOT_PLACED ||
	    forest_toward(run->quest->forest, now, node) != NO_NODE;
}

static bool
can_cover(const struct run *run, uint32_t holder)
{
	for (size_t i = 0; i < run->lives.count; i++) {
		if (run->lives.items[i].bound == holder)
			return true;
	}
	return can_reach(run, holder_get(run, holder)->node);
}

static bool
can_leave(const struct run *run, uint32_t holder)
{
	const struct holder *rule = holder_get(run, holder);

	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		if (can_reach(run, rule->exclusions[i]))
			return true;
	}
	return false;
}

static bool
is_hopeful(const struct run *run)
{
	const struct quest *quest = run->quest;

	if (!run->now.covered && !can_cover(run, quest->self))
		return false;
	if (quest->giver != NO_HOLDER && !run->now.allowed &&
	    !can_cover(run, quest->giver))
		return false;
	for (size_t i = 0; i < run->marks.count; i++) {
		if (run->marks.items[i] % 2 == 0 &&
		    !can_leave(run, run->marks.items[i] / 2))
			return false;
	}
	return true;
}

bool
is_difference(const struct run *run)
{
	if (!run->now.covered ||
	    (run->quest->giver != NO_HOLDER && !run->now.allowed))
		return false;
	for (size_t i = 0; i < run->marks.count; i++) {
		if (run->marks.items[i] % 2 == 0)
			return false;
	}
	return true;
}

/* --- spots ---------------------------------------------------------------- */

static void
key_add(struct run *run, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
		uint32_t *word = STACK_PUSH(run->arena, &run->key);

		*word = 0;
		memcpy(word, (const char *)bytes + i,
		    size - i < sizeof *word ? size - i : sizeof *word);
	}
}

/* Whether there was no such spot before. */
static bool
is_new(struct run *run)
{
	const uint32_t head[] = {
		run->now.covered,
		run->now.allowed,
		run->now.scratch,
		(uint32_t)run->marks.count,
	};
	bool added;

	run->key.count = 0;
	key_add(run, head, sizeof head);
	key_add(run, run->nodes, run->slot_count * sizeof *run->nodes);
	key_add(run, run->marks.items,
	    run->marks.count * sizeof *run->marks.items);
	for (size_t i = 0; i < run->lives.count; i++) {
		key_add(run, &run->lives.items[i].bound, sizeof(uint32_t));
		key_add(run, &run->lives.items[i].states, sizeof(uint64_t));
	}
	map_number(run->arena, &run->seen, run->key.items,
	    run->key.count * sizeof *run->key.items, &added);
	return added;
}

static void *
copy(struct arena *arena, const void *items, size_t size)
{
	void *kept = arena_alloc(arena, size + 1);

	if (size > 0)
		memcpy(kept, items, size);
	return kept;
}

/* Keeps the spot that was made, to go on from it. */
static void
spot_keep(struct run *run)
{
	struct spot *spot;

	if (!is_hopeful(run) || !is_new(run))
		return;
	*STACK_PUSH(run->arena, &run->open) = (uint32_t)run->spots.count;
	spot = arena_push(run->arena, &run->spots);
	run->kept += run->marks.count + run->lives.count;
	*spot = run->now;
	spot->nodes = copy(run->arena, run->nodes,
	    run->slot_count * sizeof *run->nodes);
	spot->mark_count = (uint32_t)run->marks.count;
	spot->marks = copy(run->arena, run->marks.items,
	    run->marks.count * sizeof *run->marks.items);
	spot->live_count = (uint32_t)run->lives.count;
	spot->lives = copy(run->arena, run->lives.items,
	    run->lives.count * sizeof *run->lives.items);
}

void
spot_load(struct run *run, uint32_t number)
{
	run->now = run->spots.items[number];
	run->now.parent = number;
	memcpy(run->nodes, run->now.nodes,
	    run->slot_count * sizeof *run->nodes);
	run->marks.count = run->lives.count = 0;
	for (uint32_t i = 0; i < run->now.mark_count; i++)
		*STACK_PUSH(run->arena, &run->marks) = run->now.marks[i];
	for (uint32_t i = 0; i < run->now.live_count; i++)
		*STACK_PUSH(run->arena, &run->lives) = run->now.lives[i];
}

void
spot_begin(struct run *run)
{
	const uint32_t *roots = run->quest->forest->roots;

	for (uint32_t i = 0; i < run->slot_count; i++)
		run->nodes[i] = NOT_PLACED;
	run->nodes[0] = roots[SLOT_ROOT];
	if (node_enter(run, roots[SLOT_ROOT]))
		spot_keep(run);
}

/* --- moves ---------------------------------------------------------------- */

static void
anchor_put(struct run *run, const struct move *move)
{
	uint32_t root = run->quest->forest->roots[move->slot];

	run->now.slot = move->slot;
	run->nodes[slot_index(run, move->slot)] = root;
	if (node_enter(run, root))
		spot_keep(run);
}

/* Globs go on by a name; false if nothing can come of that. */
static bool
lives_follow(struct run *run, const struct move *move)
{
	size_t count = run->lives.count;

	run->lives.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct live live = run->lives.items[i];
		const struct sbx_glob *glob =
		    holder_get(run, live.bound)->rule->glob;

		live.states = sbx_glob_step(glob, live.states, move->name,
		    move->len);
		if (live.states == 0)
			continue;
		if (!sbx_glob_matches(glob, live.states))
			*STACK_PUSH(run->arena, &run->lives) = live;
		else if (!rule_begins(run, live.bound,
			     role_of(run, live.bound)))
			return false;
	}
	return true;
}

/* How many names of a usual scratch directory the path is. */
static uint8_t
scratch_follow(const struct run *run, const struct move *move)
{
	static const char top[] = "sbx-";

	if (run->now.path_len == 0)
		return move->len == 3 && memcmp(move->name, "tmp", 3) == 0;
	if (run->now.scratch == 1)
		return move->len > sizeof top - 1 &&
			memcmp(move->name, top, sizeof top - 1) == 0 ?
		    2 :
		    0;
	return run->now.scratch >= 2 ? 3 : 0;
}

static void
name_read(struct run *run, const struct move *move)
{
	run->now.slot = SLOT_ROOT;
	run->now.name = move->name;
	run->now.len = move->len;
	run->now.scratch = scratch_follow(run, move);
	run->now.path_len += 1 + move->len;
	if (!lives_follow(run, move))
		return;
	for (uint32_t i = 0; i < run->slot_count; i++) {
		if (run->nodes[i] < NOT_PLACED)
			run->nodes[i] = forest_child(run->quest->forest,
			    run->nodes[i], move->name, move->len);
	}
	for (uint32_t i = 0; i < run->slot_count; i++) {
		if (run->nodes[i] < NOT_PLACED &&
		    !node_enter(run, run->nodes[i]))
			return;
	}
	spot_keep(run);
}

void
move_make(struct run *run, const struct move *move)
{
	if (move->slot != SLOT_ROOT)
		anchor_put(run, move);
	else
		name_read(run, move);
}
