/*
 * Where two policies differ about paths.
 *
 * The places and exclusions of both are in one index.  What a policy says of a
 * path depends on which of them cover it, so it says the same of the path as of
 * the nearest place around it: who has asked about each place has asked about
 * every path.  Globs are the exception.  The walk follows them from name to
 * name, and globs.c looks for paths below that are no places.
 *
 * The walk goes through the index in path order and counts the rules that cover
 * where it is, as they begin and end.  So it takes time for each place, and not
 * for each rule at each place.
 */
#include "compiler/compare/paths.h"

#include "compiler/base/base.h"

#include <string.h>

/* --- binding -------------------------------------------------------------- */

struct bounds {
	VEC(struct bound_rule) list;
};

static void
bind_rule(const struct pass *pass, struct bounds *bounds,
    struct merged_rule *rule, bool other_home)
{
	const struct places *places = &pass->subjects[rule->side].places;
	struct bound_rule *bound = arena_push(pass->scratch, &bounds->list);

	*bound = (struct bound_rule){ .at.at.path = "", .rule = rule };
	if (!rule->everything)
		bound->at = places_rule(places,
		    &places->blob->paths[rule->index[rule->side]], other_home);
}

static void
bind_all(const struct pass *pass, const struct rules *rules,
    struct bounds *bounds)
{
	for (size_t i = 0; i < rules->count; i++) {
		struct merged_rule *rule = &rules->items[i];
		const struct places *places =
		    &pass->subjects[rule->side].places;

		bind_rule(pass, bounds, rule, false);
		if (!rule->everything &&
		    places_rule_has_other(places,
			&places->blob->paths[rule->index[rule->side]]))
			bind_rule(pass, bounds, rule, true);
	}
}

/* All places and exclusions in path order. */
static void
index_make(struct arena *arena, const struct bounds *bounds,
    struct sbx_index *index)
{
	size_t count = bounds->list.count;
	struct event *events;

	for (size_t i = 0; i < bounds->list.count; i++)
		count += bounds->list.items[i].at.exclusion_count;
	events = arena_alloc(arena, count * sizeof *events);
	*index = (struct sbx_index){
		.records = events,
		.size = sizeof *events,
		.sorted = arena_alloc(arena, count * sizeof *index->sorted),
		.outer = arena_alloc(arena, count * sizeof *index->outer),
	};
	for (size_t i = 0; i < bounds->list.count; i++) {
		const struct sbx_rule *rule = &bounds->list.items[i].at;

		events[index->count++] = (struct event){ rule->at, (uint32_t)i,
			false };
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			events[index->count++] = (struct event){
				rule->exclusions[j], (uint32_t)i, true
			};
	}
	sbx_index_make_all(index);
}

/* --- rules that begin and end --------------------------------------------- */

void *
stack_grow(struct arena *arena, void *items, size_t count, size_t *capacity,
    size_t size)
{
	void *larger;

	if (count < *capacity)
		return items;
	*capacity = *capacity == 0 ? 16 : 2 * *capacity;
	larger = arena_alloc(arena, *capacity * size);
	if (count > 0)
		memcpy(larger, items, count * size);
	return larger;
}

static void
count_rule(struct walk *walk, const struct merged_rule *rule, int by)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		uint32_t *count = rule->allow ? &walk->allows[side] :
						&walk->denies[side];

		if (rule->rights[side] & walk->right)
			*count += (uint32_t)by;
	}
}

static void
rule_starts(struct walk *walk, uint32_t bound)
{
	const struct merged_rule *rule = walk->bounds[bound].rule;

	count_rule(walk, rule, 1);
	if (rule_changed(rule, walk->right))
		*STACK_PUSH(walk->pass->scratch, &walk->changing) =
		    (struct changing){ bound, walk->lens[bound] };
}

static void
rule_stops(struct walk *walk, uint32_t bound)
{
	const struct merged_rule *rule = walk->bounds[bound].rule;
	size_t at = walk->changing.count;

	count_rule(walk, rule, -1);
	if (!rule_changed(rule, walk->right))
		return;
	while (walk->changing.items[--at].bound != bound)
		;
	walk->changing.count--;
	memmove(&walk->changing.items[at], &walk->changing.items[at + 1],
	    (walk->changing.count - at) * sizeof *walk->changing.items);
}

static void
rule_begins(struct walk *walk, uint32_t bound)
{
	if (walk->begun[bound]++ > 0)
		return;
	walk->lens[bound] = walk->len;
	if (walk->excluded[bound] == 0)
		rule_starts(walk, bound);
}

static void
rule_ends(struct walk *walk, uint32_t bound)
{
	if (--walk->begun[bound] == 0 && walk->excluded[bound] == 0)
		rule_stops(walk, bound);
}

static void
exclusion_begins(struct walk *walk, uint32_t bound)
{
	if (walk->excluded[bound]++ == 0 && walk->begun[bound] > 0)
		rule_stops(walk, bound);
}

static void
exclusion_ends(struct walk *walk, uint32_t bound)
{
	if (--walk->excluded[bound] == 0 && walk->begun[bound] > 0)
		rule_starts(walk, bound);
}

/* --- walking -------------------------------------------------------------- */

static bool
is_allowed(const struct walk *walk, enum side side)
{
	return walk->allows[side] > 0 && walk->denies[side] == 0;
}

struct note_key
rule_key(const struct merged_rule *rule, uint8_t right)
{
	enum side side = rule_side(rule, right);

	return (struct note_key){
		.kind = DIFFERENCE_PATH,
		.change = rule_change(rule, right),
		.side = side,
		.by = rule->everything ? BY_EVERYTHING : BY_PATH,
		.rule = rule->everything ? 0 : rule->index[side],
		.detail = right,
	};
}

/* The deny that comes first in its policy, else the allow with the longest
 * place, as the model has it. */
static bool
decides_before(const struct walk *walk, const struct changing *a,
    const struct changing *b)
{
	const struct merged_rule *x = walk->bounds[a->bound].rule;
	const struct merged_rule *y = walk->bounds[b->bound].rule;
	enum side side = rule_side(x, walk->right);

	if (x->everything || y->everything)
		return x->everything;
	if (x->allow != y->allow)
		return y->allow;
	if (x->allow && a->len != b->len)
		return a->len > b->len;
	return x->index[side] < y->index[side];
}

/* Of the rules that make such a change the one that decides.  Where the
 * verdicts differ there is one: a rule that both have decides for both. */
static const struct merged_rule *
decider(const struct walk *walk, enum change change)
{
	const struct changing *best = NULL;

	for (size_t i = 0; i < walk->changing.count; i++) {
		const struct changing *changing = &walk->changing.items[i];
		const struct merged_rule *rule =
		    walk->bounds[changing->bound].rule;

		if (rule_change(rule, walk->right) == change &&
		    (best == NULL || decides_before(walk, changing, best)))
			best = changing;
	}
	if (best == NULL)
		bug("two policies differ and have the same rules");
	return walk->bounds[best->bound].rule;
}

bool
walk_note(struct walk *walk, const struct merged_rule *rule, const char *path,
    uint32_t len, bool force)
{
	struct pass *pass = walk->pass;
	struct note_key key = rule_key(rule, walk->right);
	struct access access = {
		.kind = KIND_PATH,
		.detail = walk->right,
		.path = { arena_strndup(pass->comparison->arena, path, len),
		    len },
	};
	enum side side = rule_side(rule, walk->right);
	struct difference *difference;
	struct verdict verdict = pass_ask(pass, side, &access, pass->level, 0);
	bool decides = verdict.by == BY_EVERYTHING ? rule->everything :
						     verdict.by == BY_PATH &&
		walk->rules->of[side][verdict.rule] ==
		    (uint32_t)(rule - walk->rules->items);

	if (!decides && !force)
		return false;
	if (pass_again(pass, &key))
		return true;
	difference = pass_note_access(pass, &key, &access, pass->level, 0);
	if (pass->cut)
		difference->reason = "'prefer deny' goes on where a glob "
				     "matches more than is searched";
	else if (pass->level != SBX_LEVEL_FULL)
		difference->reason =
		    "'prefer deny write' holds at level full alone";
	if (!decides && rule->index[side] != NO_RULE) {
		const struct sbx_blob *blob = pass->comparison->blobs[side];
		const struct sbx_path *said = &blob->paths[rule->index[side]];

		difference->says[side].text =
		    path_explanation(pass->comparison->arena, blob, said);
		difference->says[side].source = said->source;
	}
	return true;
}

static void
judge(struct walk *walk)
{
	enum change change = is_allowed(walk, SIDE_NEW) ? CHANGE_WIDER :
							  CHANGE_NARROWER;
	const struct merged_rule *rule;
	struct note_key key;

	if (walk->changing.count == 0 ||
	    is_allowed(walk, SIDE_OLD) == is_allowed(walk, SIDE_NEW))
		return;
	rule = decider(walk, change);
	key = rule_key(rule, walk->right);
	if (!pass_said(walk->pass, &key) || !pass_again(walk->pass, &key))
		walk_note(walk, rule, walk->path, walk->len, true);
}

/* Follows the globs of the directory above to a name in it. */
static void
enter_globs(struct walk *walk, struct sbx_range above, const char *name,
    uint32_t len)
{
	for (size_t i = above.first; i < above.end; i++) {
		struct live live = walk->lives.items[i];
		const struct sbx_glob *glob =
		    walk->bounds[live.bound].rule->glob;

		walk_count_step(walk, glob, len);
		live.states = sbx_glob_step(glob, live.states, name, len);
		if (sbx_glob_matches(glob, live.states)) {
			rule_begins(walk, live.bound);
			*STACK_PUSH(walk->pass->scratch,
			    &walk->matched) = live.bound;
		} else if (live.states != 0) {
			*STACK_PUSH(walk->pass->scratch, &walk->lives) = live;
		}
	}
}

static const struct event *
event_at(const struct walk *walk, uint32_t position)
{
	const struct event *events = walk->index->records;

	return &events[walk->index->sorted[position]];
}

/* Whether the event's rule is about the right. */
static bool
is_about(const struct walk *walk, const struct event *event)
{
	const struct merged_rule *rule = walk->bounds[event->bound].rule;

	return ((rule->rights[SIDE_OLD] | rule->rights[SIDE_NEW]) &
		   walk->right) != 0;
}

static void
enter_events(struct walk *walk, struct sbx_range events)
{
	for (uint32_t i = events.first; i < events.end; i++) {
		const struct event *event = event_at(walk, i);
		const struct sbx_glob *glob =
		    walk->bounds[event->bound].rule->glob;

		if (!is_about(walk, event))
			continue;
		if (event->exclusion)
			exclusion_begins(walk, event->bound);
		else if (glob == NULL)
			rule_begins(walk, event->bound);
		else
			*STACK_PUSH(walk->pass->scratch, &walk->lives) =
			    (struct live){ event->bound, sbx_glob_start(glob) };
	}
}

static void
leave_events(struct walk *walk, struct sbx_range events)
{
	for (uint32_t i = events.first; i < events.end; i++) {
		const struct event *event = event_at(walk, i);

		if (!is_about(walk, event))
			continue;
		if (event->exclusion)
			exclusion_ends(walk, event->bound);
		else if (walk->bounds[event->bound].rule->glob == NULL)
			rule_ends(walk, event->bound);
	}
}

/* One name further, or to the root, where these events are. */
static void
enter(struct walk *walk, struct sbx_place at, struct sbx_range events)
{
	uint32_t name = walk->len + 1, end = events.end;
	struct sbx_range above = { 0 };
	struct level *level;

	if (walk->levels.count > 0) {
		above.first = (uint32_t)walk_first_live(walk);
		above.end = (uint32_t)walk->lives.count;
		memcpy(walk->path + walk->len, at.path + walk->len,
		    at.len - walk->len);
	}
	level = STACK_PUSH(walk->pass->scratch, &walk->levels);
	*level = (struct level){
		.len = walk->len,
		.events = events,
		.lives = walk->lives.count,
		.matched = walk->matched.count,
	};
	walk->len = at.len;
	enter_globs(walk, above, walk->path + name, walk->len - name);
	enter_events(walk, events);
	judge(walk);
	if (walk->lives.count > walk_first_live(walk))
		walk_globs(walk,
		    end < walk->index->count &&
			sbx_covers(at, event_at(walk, end)->at));
}

static void
leave(struct walk *walk)
{
	const struct level *level = &walk->levels.items[--walk->levels.count];

	leave_events(walk, level->events);
	while (walk->matched.count > level->matched)
		rule_ends(walk, walk->matched.items[--walk->matched.count]);
	walk->lives.count = level->lives;
	walk->len = level->len;
}

/* To a place, by way of the directories that lead there. */
static void
walk_to(struct walk *walk, struct sbx_place place, struct sbx_range events)
{
	struct sbx_range none = { events.first, events.first };
	struct sbx_place at = { place.path, 0 };

	while (walk->levels.count > 0 &&
	    !sbx_covers((struct sbx_place){ walk->path, walk->len }, place))
		leave(walk);
	if (walk->levels.count == 0)
		enter(walk, at, place.len == 0 ? events : none);
	while (walk->len < place.len) {
		at.len = walk->len + 1;
		while (at.len < place.len && place.path[at.len] != '/')
			at.len++;
		enter(walk, at, at.len == place.len ? events : none);
	}
}

static void
walk_all(struct walk *walk)
{
	struct sbx_range events = { 0 };

	for (; events.first < walk->index->count; events.first = events.end) {
		struct sbx_place place = event_at(walk, events.first)->at;

		while (events.end < walk->index->count &&
		    sbx_place_compare(event_at(walk, events.end)->at, place) ==
			0)
			events.end++;
		walk_to(walk, place, events);
	}
	while (walk->levels.count > 0)
		leave(walk);
	walk_globs_end(walk);
}

static bool
rules_differ(const struct rules *rules, uint8_t rights)
{
	for (size_t i = 0; i < rules->count; i++) {
		if (rule_changed(&rules->items[i], rights))
			return true;
	}
	return false;
}

void
compare_paths(struct pass *pass, const struct rules *rules)
{
	struct arena *arena = pass->scratch;
	struct bounds bounds = { 0 };
	struct sbx_index index;

	if (!rules_differ(rules, SBX_RIGHTS))
		return;
	bind_all(pass, rules, &bounds);
	index_make(arena, &bounds, &index);
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		size_t size = (bounds.list.count + 1) * sizeof(uint32_t);
		struct walk walk = {
			.pass = pass,
			.rules = rules,
			.bounds = bounds.list.items,
			.index = &index,
			.right = right,
			.begun = arena_alloc(arena, size),
			.excluded = arena_alloc(arena, size),
			.lens = arena_alloc(arena, size),
			.path = arena_alloc(arena, WALK_PATH_ROOM),
		};

		if (!rules_differ(rules, right))
			continue;
		walk_all(&walk);
	}
}
