/*
 * Paths that globs match and that no rule names.
 *
 * Where the walk (paths.c) is, each rule that only one policy has and that may
 * cover something below is looked up.  A lookup is a search through the paths
 * below that are no places of the index.  Their names are taken from names.h,
 * which gives one name for all that the globs cannot tell apart.  The search is
 * breadth first; a state holds what matters from there on: what covers the path
 * already, and how far each glob has come.  It ends at the first path on which
 * the policies differ because of the rule, or when there are no more states.
 *
 * What covers a path is known as four facts about the other rules: OLD allows,
 * OLD denies, NEW allows, NEW denies.  So the number of states grows with the
 * globs that have matched in part, not with those that match.
 */
#include "compiler/compare/lookup.h"

#include <stdlib.h>
#include <string.h>

static const char too_many[] = "the globs combine in too many ways";

/* --- facts ---------------------------------------------------------------- */

/* Facts that the search tells apart. */
uint8_t
lookup_facts(const struct lookup *lookup)
{
	return lookup->aim.forbidden | lookup->aim.required |
	    rule_facts(lookup->rule, lookup->walk->right);
}

/* --- names ---------------------------------------------------------------- */

static int
number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * What a part does if a name matches it: the last of another rule's glob adds
 * facts, and which of several that add the same does not matter.
 */
static unsigned
part_group(const struct lookup *lookup, uint32_t bound, unsigned part)
{
	const struct merged_rule *rule = lookup->walk->bounds[bound].rule;

	if (bound == lookup->bound || part + 1 < rule->glob->count)
		return 0;
	return 1u +
	    (rule_facts(rule, lookup->walk->right) & lookup_facts(lookup));
}

/*
 * The parts that may come next, each once, sorted, into lookup->key: the number
 * of the part and of its group, or 0 for a part that stands in several.
 */
static size_t
parts_collect(struct lookup *lookup, const struct reached *state)
{
	size_t count = 0, kept = 0;

	for (uint32_t i = 0; i < state->live_count; i++) {
		const struct merged_rule *rule =
		    lookup->walk->bounds[state->lives[i].bound].rule;
		uint64_t next = state->lives[i].states & ~rule->glob->any;

		for (; next != 0; next &= next - 1) {
			unsigned part = (unsigned)__builtin_ctzll(next);

			if (part < rule->glob->count)
				lookup->key[count++] = rule->parts[part] *
					PART_GROUPS +
				    part_group(lookup, state->lives[i].bound,
					part);
		}
	}
	qsort(lookup->key, count, sizeof *lookup->key, number_compare);
	for (size_t i = 0; i < count; i++) {
		uint32_t part = lookup->key[i] / PART_GROUPS;

		if (kept == 0 || lookup->key[kept - 1] / PART_GROUPS != part)
			lookup->key[kept++] = lookup->key[i];
		else if (lookup->key[kept - 1] != lookup->key[i])
			lookup->key[kept - 1] = part * PART_GROUPS;
	}
	return kept;
}

/* Whether a path cannot have the name, or it leads to a place of the index. */
bool
lookup_takes(const void *context, const char *name, size_t len)
{
	const struct lookup *lookup = context;
	struct walk *walk = lookup->walk;
	struct sbx_place place = { walk->path, walk->len + 1 + (uint32_t)len };

	if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
		return true;
	if (lookup->directory == UINT32_MAX || place.len >= WALK_PATH_ROOM)
		return false;
	walk->path[walk->len] = '/';
	memcpy(walk->path + walk->len + 1, name, len);
	return sbx_index_reaches(walk->index, place);
}

/* The names alone; the automaton that they come from is large. */
static struct cached
names_copy(struct arena *arena, const struct name_classes *classes)
{
	size_t count = classes->list.count;
	struct name *names = arena_alloc(arena, (count + 1) * sizeof *names);

	for (size_t i = 0; i < count; i++) {
		const struct name_class *class = &classes->list.items[i];

		names[i] = (struct name){
			arena_strndup(arena, class->name, class->len),
			(uint32_t) class->len,
		};
	}
	return (struct cached){ names, count };
}

/* The names to go on with from a state. */
static const struct cached *
names_find(struct lookup *lookup, const struct reached *state)
{
	struct search *search = lookup->search;
	struct name_question question = {
		.must = SIZE_MAX,
		.taken = { lookup_takes, lookup },
	};
	size_t count = parts_collect(lookup, state), number;
	struct name_pattern *patterns;
	struct name_classes classes;
	struct arena *arena;
	bool added;

	lookup->walk->pass->comparison->work += STATE_WORK * count;
	lookup->key[count] = lookup->directory;
	number = map_number(search->arena, &search->parts, lookup->key,
	    (count + 1) * sizeof *lookup->key, &added);
	if (!added)
		return &search->cache.items[number];
	lookup->walk->pass->comparison->work += count * count / 4;
	if (lookup->walk->pass->comparison->work > MOST_WORK) {
		lookup->walk->pass->comparison->fault = too_many;
		*arena_push(search->arena, &search->cache) = (struct cached){
			.count = 0,
		};
		return &search->cache.items[number];
	}
	arena = arena_new();
	patterns = arena_alloc(arena, (count + 1) * sizeof *patterns);
	for (size_t i = 0; i < count; i++) {
		patterns[i] = lookup->walk->rules->parts
				  .items[lookup->key[i] / PART_GROUPS];
		patterns[i].group = lookup->key[i] % PART_GROUPS;
	}
	question.patterns = patterns;
	question.count = count;
	if (!name_classes(arena, &question, &classes)) {
		lookup->walk->pass->comparison->fault = too_many;
		classes.list.count = 0;
	}
	*arena_push(search->arena, &search->cache) = names_copy(search->arena,
	    &classes);
	arena_release(arena);
	return &search->cache.items[number];
}

/* --- states --------------------------------------------------------------- */

/* Whether the state was not seen before for this rule. */
static bool
state_is_new(struct lookup *lookup, const struct reached *state)
{
	uint32_t *key = lookup->key;
	size_t count = 0;
	bool added;

	key[count++] = lookup->bound;
	key[count++] = state->facts;
	key[count++] = state->covered;
	for (uint32_t i = 0; i < state->live_count; i++) {
		key[count++] = state->lives[i].bound;
		key[count++] = (uint32_t)state->lives[i].states;
		key[count++] = (uint32_t)(state->lives[i].states >> 32);
	}
	map_number(lookup->search->arena, &lookup->search->states, key,
	    count * sizeof *key, &added);
	return added;
}

static void
live_follow(struct lookup *lookup, struct reached *state, struct live live,
    struct live *kept)
{
	const struct merged_rule *rule = lookup->walk->bounds[live.bound].rule;
	bool own = live.bound == lookup->bound;

	live.states = sbx_glob_step(rule->glob, live.states, state->name,
	    state->len);
	if (live.states == 0)
		return;
	if (!sbx_glob_matches(rule->glob, live.states))
		kept[state->live_count++] = live;
	else if (own)
		state->covered = true;
	else
		state->facts |= rule_facts(rule, lookup->walk->right) &
		    lookup_facts(lookup);
}

/* Globs that can add no fact any more do not matter. */
static void
lives_thin(const struct lookup *lookup, struct reached *state,
    struct live *lives)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->live_count; i++) {
		const struct merged_rule *rule =
		    lookup->walk->bounds[lives[i].bound].rule;
		uint8_t facts = rule_facts(rule, lookup->walk->right) &
		    lookup_facts(lookup);

		if (lives[i].bound == lookup->bound ||
		    (facts & ~state->facts) != 0)
			lives[kept++] = lives[i];
	}
	state->live_count = kept;
	state->lives = lives;
}

/* Whether the rule may still come to make a difference. */
static bool
is_hopeful(const struct lookup *lookup, const struct reached *state)
{
	bool reachable = state->covered;
	uint8_t facts = state->facts;

	if (state->facts & lookup->aim.forbidden)
		return false;
	for (uint32_t i = 0; i < state->live_count; i++) {
		uint32_t bound = state->lives[i].bound;

		if (bound == lookup->bound)
			reachable = true;
		else
			facts |= rule_facts(lookup->walk->bounds[bound].rule,
			    lookup->walk->right);
	}
	return reachable &&
	    (facts & lookup->aim.required) == lookup->aim.required;
}

bool
lookup_differs(const struct lookup *lookup, const struct reached *state)
{
	return state->covered && (state->facts & lookup->aim.forbidden) == 0 &&
	    (state->facts & lookup->aim.required) == lookup->aim.required;
}

/* --- paths ---------------------------------------------------------------- */

static struct sbx_place
state_path(const struct lookup *lookup, uint32_t number)
{
	const struct reached *queue = lookup->queue.items;
	size_t len = lookup->walk->len;
	char *path;

	for (uint32_t at = number; queue[at].parent != at;
	     at = queue[at].parent)
		len += 1 + queue[at].len;
	path = arena_alloc(lookup->search->arena, len + 1);
	memcpy(path, lookup->walk->path, lookup->walk->len);
	for (size_t end = len; queue[number].parent != number;
	     number = queue[number].parent) {
		end -= queue[number].len;
		memcpy(path + end, queue[number].name, queue[number].len);
		path[--end] = '/';
	}
	return (struct sbx_place){ path, (uint32_t)len };
}

/* Notes the difference; false if another rule decides there. */
static bool
lookup_note(struct lookup *lookup, uint32_t number)
{
	struct sbx_place path = state_path(lookup, number);
	struct search *search = lookup->search;

	if (walk_note(lookup->walk, lookup->rule, path.path, path.len, false))
		return true;
	*arena_push(search->arena, &search->second.rules) = lookup->rule;
	*arena_push(search->arena, &search->second.paths) = path;
	return false;
}

/* --- the search ----------------------------------------------------------- */

/* True when the search is over. */
static bool
lookup_follow(struct lookup *lookup, uint32_t parent, const struct name *name)
{
	const struct reached *from = &lookup->queue.items[parent];
	struct live *lives = arena_alloc(lookup->search->arena,
	    (from->live_count + 1u) * sizeof *lives);
	struct reached state = {
		.parent = parent,
		.name = name->text,
		.len = name->len,
		.facts = from->facts,
		.covered = from->covered,
	};

	for (uint32_t i = 0; i < from->live_count; i++)
		live_follow(lookup, &state, from->lives[i], lives);
	lookup->walk->pass->comparison->work += STATE_WORK * from->live_count;
	lives_thin(lookup, &state, lives);
	if (!is_hopeful(lookup, &state) || !state_is_new(lookup, &state))
		return false;
	lookup->search->visited++;
	*arena_push(lookup->search->arena, &lookup->queue) = state;
	return lookup_differs(lookup, &state) &&
	    lookup_note(lookup, (uint32_t)lookup->queue.count - 1);
}

static void
lookup_run(struct lookup *lookup)
{
	struct comparison *comparison = lookup->walk->pass->comparison;

	for (uint32_t at = 0; at < lookup->queue.count; at++) {
		const struct cached *names;

		if (lookup->search->visited > MOST_STATES ||
		    comparison->work > MOST_WORK)
			comparison->fault = too_many;
		if (comparison->fault != NULL)
			return;
		names = names_find(lookup, &lookup->queue.items[at]);
		for (size_t i = 0; i < names->count; i++) {
			if (lookup_follow(lookup, at, &names->names[i]))
				return;
		}
		/* Only the first name is in the directory. */
		lookup->directory = UINT32_MAX;
	}
}

/* --- one rule ------------------------------------------------------------- */

/* The facts at the directory that other rules make. */
static uint8_t
facts_here(const struct lookup *lookup, bool covered)
{
	const struct walk *walk = lookup->walk;
	uint8_t own = covered ? rule_facts(lookup->rule, walk->right) : 0;
	uint8_t facts = 0;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		uint32_t allows = walk->allows[side],
			 denies = walk->denies[side];

		if (allows > (own & ALLOWS(side) ? 1u : 0u))
			facts |= ALLOWS(side);
		if (denies > (own & DENIES(side) ? 1u : 0u))
			facts |= DENIES(side);
	}
	return facts & lookup_facts(lookup);
}

/* Most lookups end where they begin: they share their memory. */
static void
search_make_room(struct search *search, size_t count)
{
	if (count < search->room)
		return;
	search->room = 2 * count + 16;
	search->lives = arena_alloc(search->arena,
	    search->room * sizeof *search->lives);
	search->key = arena_alloc(search->arena,
	    (search->room * (SBX_MAX_GLOB + 3) + 4) * sizeof *search->key);
}

/* Of a rule that covers the directory, or the live glob with that number. */
static void
lookup_begin(struct walk *walk, bool inhabited, uint32_t bound, size_t own)
{
	struct lookup lookup = {
		.walk = walk,
		.search = walk->search,
		.bound = bound,
		.rule = walk->bounds[bound].rule,
		.directory = inhabited ? walk->entered : UINT32_MAX,
	};
	struct note_key key = rule_key(lookup.rule, walk->right);
	size_t first_live = walk_first_live(walk);
	size_t count = walk->lives.count - first_live;
	struct live *lives;
	struct reached first = { .covered = own == SIZE_MAX };

	if (walk->pass->comparison->work > MOST_WORK)
		walk->pass->comparison->fault = too_many;
	if (walk->pass->comparison->fault != NULL ||
	    !walk_wants(walk, (enum change)key.change) ||
	    pass_said(walk->pass, &key))
		return;
	lookup.aim = rule_aim(lookup.rule, walk->right);
	first.facts = facts_here(&lookup, first.covered);
	if (first.facts & lookup.aim.forbidden ||
	    lookup_guess(&lookup, &first, own))
		return;
	walk->pass->comparison->work += count;
	search_make_room(walk->search, count);
	lives = walk->search->lives;
	lookup.key = walk->search->key;
	for (size_t i = 0; i < count; i++) {
		struct live live = walk->lives.items[first_live + i];

		/* What is excluded here is excluded below, too. */
		if (walk->excluded[live.bound] == 0)
			lives[first.live_count++] = live;
	}
	lives_thin(&lookup, &first, lives);
	if (first.live_count == 0 || !is_hopeful(&lookup, &first))
		return;
	*arena_push(walk->search->arena, &lookup.queue) = first;
	lookup_run(&lookup);
}

void
walk_globs(struct walk *walk, bool inhabited)
{
	if (walk->search == NULL) {
		struct arena *arena = walk->pass->scratch;

		walk->search = arena_alloc(arena, sizeof *walk->search);
		walk->search->arena = arena;
	}
	for (size_t i = 0; i < walk->changing.count; i++)
		lookup_begin(walk, inhabited, walk->changing.items[i].bound,
		    SIZE_MAX);
	for (size_t i = walk_first_live(walk); i < walk->lives.count; i++) {
		uint32_t bound = walk->lives.items[i].bound;

		if (walk->excluded[bound] == 0 &&
		    rule_changed(walk->bounds[bound].rule, walk->right))
			lookup_begin(walk, inhabited, bound, i);
	}
	/* There is one for each directory, and each has all globs. */
	bundle_free(walk->search->bundle);
	walk->search->bundle = NULL;
}

void
walk_globs_end(struct walk *walk)
{
	const struct search *search = walk->search;

	for (size_t i = 0; search != NULL && i < search->second.rules.count;
	     i++) {
		const struct merged_rule *rule = search->second.rules.items[i];
		const struct sbx_place *path = &search->second.paths.items[i];
		struct note_key key = rule_key(rule, walk->right);

		if (!pass_said(walk->pass, &key))
			walk_note(walk, rule, path->path, path->len, true);
	}
}
