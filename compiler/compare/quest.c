/* See quest.h. */
#include "compiler/compare/spots.h"

#include <string.h>

/* How many spots are looked at for one rule and giver. */
/* How many spots are kept, and how many marks and globs with them. */
enum { MOST_SPOTS = 1 << 15, MOST_KEPT = 1 << 21 };

/* --- names that are wanted ------------------------------------------------ */

static void
name_add(struct run *run, const char *name, uint32_t len)
{
	for (size_t i = 0; i < run->moves.count; i++) {
		const struct move *move = &run->moves.items[i];

		if (move->name != NULL && move->len == len &&
		    memcmp(move->name, name, len) == 0)
			return;
	}
	*STACK_PUSH(run->arena, &run->moves) = (struct move){ .name = name,
		.len = len };
}

/* The next name on the way to a node; whether it leads right there. */
static bool
toward_add(struct run *run, uint32_t target)
{
	const struct forest *forest = run->quest->forest;
	uint32_t now = node_now(run, target), next;

	if (now == NOT_PLACED)
		return false;
	next = forest_toward(forest, now, target);
	if (next == NO_NODE)
		return false;
	name_add(run, forest->nodes.items[next].name,
	    forest->nodes.items[next].len);
	return next == target;
}

static void
holes_add(struct run *run, uint32_t holder)
{
	const struct holder *rule = holder_get(run, holder);

	for (uint16_t i = 0; i < rule->exclusion_count; i++)
		toward_add(run, rule->exclusions[i]);
}

/* Names that lead to what is wanted; whether one is right there. */
static bool
wanted_add(struct run *run)
{
	const struct quest *quest = run->quest;
	bool near = !run->now.covered &&
	    toward_add(run, holder_get(run, quest->self)->node);

	if (quest->giver != NO_HOLDER && !run->now.allowed)
		near |= toward_add(run, holder_get(run, quest->giver)->node);
	for (size_t i = 0; i < run->marks.count; i++) {
		if (run->marks.items[i] % 2 == 0)
			holes_add(run, run->marks.items[i] / 2);
	}
	for (size_t i = 0; i < run->across.count; i++)
		holes_add(run, run->across.items[i]);
	if (run->wanted[SLOT_TMP] &&
	    run->nodes[slot_index(run, SLOT_TMP)] == NOT_PLACED)
		toward_add(run, quest->forest->scratch);
	return near;
}

/* --- names that are not --------------------------------------------------- */

/* Whether a tree that the path is in has the name next. */
static bool
is_known(const struct run *run, const char *name, uint32_t len)
{
	for (uint32_t i = 0; i < run->slot_count; i++) {
		if (run->nodes[i] < NOT_PLACED &&
		    forest_child(run->quest->forest, run->nodes[i], name,
			len) != NO_NODE)
			return true;
	}
	return false;
}

static bool
name_is_taken(const void *context, const char *name, size_t len)
{
	return (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))) ||
	    is_known(context, name, (uint32_t)len);
}

static void
unknown_add(struct run *run)
{
	const char *name = run->now.path_len == 0 ? "data" : "x";

	for (unsigned i = 1; is_known(run, name, (uint32_t)strlen(name)); i++)
		name = arena_printf(run->arena, "x%u", i);
	name_add(run, name, (uint32_t)strlen(name));
}

/* The parts of globs that may come next. */
static size_t
parts_collect(const struct run *run, struct name_pattern *patterns)
{
	size_t count = 0;

	for (size_t i = 0; i < run->lives.count; i++) {
		const struct merged_rule *rule =
		    holder_get(run, run->lives.items[i].bound)->rule;
		uint64_t next = run->lives.items[i].states & ~rule->glob->any;

		for (; next != 0; next &= next - 1) {
			unsigned part = (unsigned)__builtin_ctzll(next);

			if (part < rule->glob->count)
				patterns[count++] =
				    run->quest->rules->parts
					.items[rule->parts[part]];
		}
	}
	return count;
}

/* One name for each set of parts that some name matches and no tree has. */
static void
classes_add(struct run *run)
{
	struct name_pattern *patterns = arena_alloc(run->arena,
	    (run->lives.count * SBX_MAX_GLOB + 1) * sizeof *patterns);
	const struct name_question question = {
		.patterns = patterns,
		.count = parts_collect(run, patterns),
		.must = SIZE_MAX,
		.taken = { name_is_taken, run },
	};
	struct name_classes classes;

	if (!name_classes(run->arena, &question, &classes)) {
		run->no_end = true;
		return;
	}
	for (size_t i = 0; i < classes.list.count; i++)
		name_add(run, classes.list.items[i].name,
		    (uint32_t)classes.list.items[i].len);
}

static bool
is_matched(const struct run *run, const struct forest_node *node)
{
	for (size_t i = 0; i < run->lives.count; i++) {
		const struct live *live = &run->lives.items[i];

		if (sbx_glob_step(holder_get(run, live->bound)->rule->glob,
			live->states, node->name, node->len) != 0)
			return true;
	}
	return false;
}

/* Names of trees that some glob matches. */
static void
matched_add(struct run *run)
{
	const struct forest_node *nodes = run->quest->forest->nodes.items;

	for (uint32_t i = 0; i < run->slot_count; i++) {
		uint32_t at = run->nodes[i] < NOT_PLACED ?
		    nodes[run->nodes[i]].first_child :
		    NO_NODE;

		for (; at != NO_NODE; at = nodes[at].next_sibling) {
			if (is_matched(run, &nodes[at]))
				name_add(run, nodes[at].name, nodes[at].len);
		}
	}
}

static void
others_add(struct run *run)
{
	if (run->lives.count == 0) {
		unknown_add(run);
		return;
	}
	classes_add(run);
	matched_add(run);
}

/* --- anchors -------------------------------------------------------------- */

static bool
may_be_put(const struct run *run, uint32_t slot)
{
	if (run->now.path_len > SBX_MAX_PATH)
		return false;
	/* The loader takes the root for no workspace. */
	if (slot == SLOT_WORKSPACE)
		return run->now.path_len > 0;
	return slot != SLOT_TMP || run->now.scratch == 3;
}

static void
anchors_add(struct run *run)
{
	for (uint32_t i = 1; i < run->slot_count; i++) {
		if (run->nodes[i] == NOT_PLACED &&
		    may_be_put(run, run->slots[i]))
			*STACK_PUSH(run->arena, &run->moves) =
			    (struct move){ .slot = run->slots[i] };
	}
}

/* --- going on ------------------------------------------------------------- */

/* The first is tried first.  People would put a workspace right above what is
 * denied in it, and nothing at the root. */
static void
moves_collect(struct run *run)
{
	size_t names;

	run->moves.count = 0;
	if (run->quest->wide)
		anchors_add(run);
	names = run->moves.count;
	if (wanted_add(run) && !run->quest->wide && run->now.path_len > 0) {
		run->moves.count = names;
		anchors_add(run);
		wanted_add(run);
		others_add(run);
		return;
	}
	if (run->now.path_len == 0)
		others_add(run);
	if (!run->quest->wide)
		anchors_add(run);
	if (run->now.path_len > 0)
		others_add(run);
}

/* From one spot; false if there is nothing more to look at. */
static bool
spot_follow(struct run *run, uint32_t number)
{
	size_t first;

	spot_load(run, number);
	moves_collect(run);
	first = run->open.count;
	for (size_t i = 0; i < run->moves.count; i++) {
		struct move move = run->moves.items[i];

		if (i > 0)
			spot_load(run, number);
		move_make(run, &move);
	}
	/* The last is taken first. */
	for (size_t end = run->open.count; first + 1 < end; first++) {
		uint32_t other = run->open.items[--end];

		run->open.items[end] = run->open.items[first];
		run->open.items[first] = other;
	}
	return !run->no_end;
}

/* --- what is wanted ------------------------------------------------------- */

static void
slot_want(struct run *run, uint32_t node)
{
	uint32_t slot = run->quest->forest->nodes.items[node].slot;

	if (!run->wanted[slot])
		run->slots[run->slot_count++] = (uint8_t)slot;
	run->wanted[slot] = true;
}

/* Wants the anchors of a rule's holes; whether one is in another tree. */
static bool
holes_want(struct run *run, const struct holder *holder)
{
	const struct forest_node *nodes = run->quest->forest->nodes.items;
	bool across = false;

	for (uint16_t i = 0; i < holder->exclusion_count; i++) {
		across |= nodes[holder->exclusions[i]].slot !=
		    nodes[holder->node].slot;
		slot_want(run, holder->exclusions[i]);
	}
	return across;
}

/* Anchors on which a difference may hang: an anchor that is there may bring
 * rules whose holes want another one. */
static void
slots_want(struct run *run)
{
	const struct forest *forest = run->quest->forest;
	uint32_t before;

	run->wanted[SLOT_ROOT] = true;
	run->slots[run->slot_count++] = SLOT_ROOT;
	slot_want(run, holder_get(run, run->quest->self)->node);
	if (run->quest->giver != NO_HOLDER)
		slot_want(run, holder_get(run, run->quest->giver)->node);
	do {
		before = run->slot_count;
		run->across.count = 0;
		for (size_t i = 0; i < forest->with_holes.count; i++) {
			uint32_t number = forest->with_holes.items[i];
			const struct holder *holder = holder_get(run, number);

			if (run->wanted[forest->nodes.items[holder->node]
					    .slot] &&
			    quest_forbids(run->quest, holder->rule) &&
			    holes_want(run, holder))
				*arena_push(run->arena, &run->across) = number;
		}
	} while (run->slot_count > before);
}

/* --- the whole ------------------------------------------------------------ */

static void
layout_make(const struct run *run, uint32_t last, struct layout *layout)
{
	const struct spot *spots = run->spots.items;
	char *path = arena_alloc(run->arena, spots[last].path_len + 1);

	for (uint32_t at = last; spots[at].parent != at;
	     at = spots[at].parent) {
		if (spots[at].slot == SLOT_ROOT) {
			uint32_t from = spots[at].path_len - spots[at].len;

			memcpy(path + from, spots[at].name, spots[at].len);
			path[from - 1] = '/';
		}
	}
	*layout = (struct layout){ .path = path };
	for (uint32_t at = last; spots[at].parent != at;
	     at = spots[at].parent) {
		if (spots[at].slot != SLOT_ROOT)
			layout->places[spots[at].slot] =
			    arena_strndup(run->arena, path, spots[at].path_len);
	}
}

enum found
quest_run(struct arena *arena, const struct quest *quest, struct layout *layout,
    size_t *work)
{
	struct run run = { .arena = arena, .quest = quest };

	slots_want(&run);
	spot_begin(&run);
	while (run.open.count > 0) {
		uint32_t number = run.open.items[--run.open.count];

		++*work;
		if (run.spots.count > MOST_SPOTS || run.kept > MOST_KEPT)
			return FOUND_NO_END;
		spot_load(&run, number);
		if (is_difference(&run)) {
			layout_make(&run, number, layout);
			return FOUND_LAYOUT;
		}
		if (!spot_follow(&run, number))
			return FOUND_NO_END;
	}
	return FOUND_NONE;
}
