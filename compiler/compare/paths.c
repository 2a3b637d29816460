/*
 * Where two policies differ about paths.
 *
 * All places and exclusions of both make a tree.  What a policy says of a path
 * depends on which of them lie above it, so it says the same of all paths that
 * are not in the tree and leave it at the same node as it says of that node:
 * asking at each node is asking about every path.  Globs are the exception:
 * at a node they are followed by name, and compare_globs.c looks at names that
 * are not in the tree.
 *
 * The rules that cover the node are counted as they begin and end, so that one
 * walk costs no more than the tree is large.
 */
#include "compiler/compare/paths.h"

#include "compiler/base/bug.h"

#include <string.h>

/* --- binding -------------------------------------------------------------- */

struct bounds {
	VEC(struct bound_rule) list;
};

static struct sbx_place
join(struct arena *arena, const struct places *places, uint16_t anchor,
    uint32_t suffix, bool other_home)
{
	struct sbx_place at = other_home && anchor == SBX_ANCHOR_HOME ?
	    places->other_home :
	    places->anchors[anchor];
	const char *tail = sbx_string(places->blob, suffix);
	size_t len = strlen(tail);
	char *path;

	if (at.len == 0)
		return (struct sbx_place){ tail, (uint32_t)len };
	path = arena_alloc(arena, at.len + len + 1);
	memcpy(path, at.path, at.len);
	memcpy(path + at.len, tail, len);
	return (struct sbx_place){ path, at.len + (uint32_t)len };
}

static void
bind_rule(const struct pass *pass, struct bounds *bounds,
    const struct merged_rule *rule, bool other_home)
{
	const struct places *places = &pass->subjects[rule->side].places;
	const struct sbx_path *path;
	struct sbx_place *exclusions;
	struct bound_rule *bound = arena_push(pass->scratch, &bounds->list);

	bound->rule = rule;
	bound->at = (struct sbx_place){ "", 0 };
	if (rule->everything)
		return;
	path = &places->blob->paths[rule->index[rule->side]];
	bound->at = join(pass->scratch, places, path->anchor, path->suffix,
	    other_home);
	exclusions = arena_alloc(pass->scratch,
	    (path->exclusion_count + 1u) * sizeof *exclusions);
	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &places->blob->exclusions[path->first_exclusion + i];

		exclusions[i] = join(pass->scratch, places, exclusion->anchor,
		    exclusion->suffix, other_home);
	}
	bound->exclusions = exclusions;
	bound->exclusion_count = path->exclusion_count;
}

/* As places_rules(): what denies about ~ holds for both homes. */
static void
bind_all(const struct pass *pass, const struct rules *rules,
    struct bounds *bounds)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct merged_rule *rule = &rules->items[i];
		const struct places *places =
		    &pass->subjects[rule->side].places;

		bind_rule(pass, bounds, rule, false);
		if (!rule->allow && places->has_other_home &&
		    places->blob->paths[rule->index[rule->side]].anchor ==
			SBX_ANCHOR_HOME)
			bind_rule(pass, bounds, rule, true);
	}
}

/* --- the tree ------------------------------------------------------------- */

struct tree_maker {
	struct arena *arena;
	struct tree *tree;
	struct map names; /* key: number of the parent, then the name */
	char *key;
};

/* The node of a name in a node, made if need be. */
static uint32_t
tree_child(struct tree_maker *maker, uint32_t parent, const char *name,
    uint32_t len)
{
	struct node *node;
	uint32_t number;
	bool added;

	memcpy(maker->key, &parent, sizeof parent);
	memcpy(maker->key + sizeof parent, name, len);
	number = 1 +
	    (uint32_t)map_number(maker->arena, &maker->names, maker->key,
		sizeof parent + len, &added);
	if (!added)
		return number;
	node = arena_push(maker->arena, &maker->tree->nodes);
	*node = (struct node){
		.parent = parent,
		.name = name,
		.len = len,
		.sibling = maker->tree->nodes.items[parent].child,
	};
	maker->tree->nodes.items[parent].child = number;
	return number;
}

static void
tree_add(struct tree_maker *maker, struct sbx_place place, uint32_t bound,
    bool exclusion)
{
	uint32_t at = 0, number = 0;
	struct node *node;

	while (at < place.len) {
		uint32_t from = ++at;

		while (at < place.len && place.path[at] != '/')
			at++;
		number = tree_child(maker, number, place.path + from,
		    at - from);
	}
	node = &maker->tree->nodes.items[number];
	*arena_push(maker->arena, &maker->tree->events) = (struct event){ bound,
		node->event, exclusion };
	node->event = (uint32_t)maker->tree->events.count;
}

static void
tree_make(struct arena *arena, const struct bounds *bounds, struct tree *tree)
{
	struct tree_maker maker = { .arena = arena, .tree = tree };

	maker.key = arena_alloc(arena, sizeof(uint32_t) + SBX_MAX_PATH + 1);
	*arena_push(arena, &tree->nodes) = (struct node){ .name = "" };
	for (size_t i = 0; i < bounds->list.count; i++) {
		const struct bound_rule *bound = &bounds->list.items[i];

		tree_add(&maker, bound->at, (uint32_t)i, false);
		for (uint16_t j = 0; j < bound->exclusion_count; j++)
			tree_add(&maker, bound->exclusions[j], (uint32_t)i,
			    true);
	}
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
	if (walk->carved[bound] == 0)
		rule_starts(walk, bound);
}

static void
rule_ends(struct walk *walk, uint32_t bound)
{
	if (--walk->begun[bound] == 0 && walk->carved[bound] == 0)
		rule_stops(walk, bound);
}

static void
exclusion_begins(struct walk *walk, uint32_t bound)
{
	if (walk->carved[bound]++ == 0 && walk->begun[bound] > 0)
		rule_stops(walk, bound);
}

static void
exclusion_ends(struct walk *walk, uint32_t bound)
{
	if (--walk->carved[bound] == 0 && walk->begun[bound] > 0)
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
		.kind = ACCESS_PATH,
		.detail = walk->right,
		.path = { arena_strndup(pass->comparison->arena, path, len),
		    len },
	};
	enum side side = rule_side(rule, walk->right);
	struct difference *difference;
	struct verdict verdict = pass_ask(pass, side, &access, SBX_LEVEL_FULL,
	    0);
	bool decides = verdict.by == BY_EVERYTHING ? rule->everything :
						     verdict.by == BY_PATH &&
		walk->rules->of[side][verdict.rule] ==
		    (uint32_t)(rule - walk->rules->items);

	if (!decides && !force)
		return false;
	if (pass_again(pass, &key))
		return true;
	difference = pass_note_access(pass, &key, &access, SBX_LEVEL_FULL, 0);
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
	const struct merged_rule *rule;
	struct note_key key;

	if (walk->changing.count == 0 ||
	    is_allowed(walk, SIDE_OLD) == is_allowed(walk, SIDE_NEW))
		return;
	rule = decider(walk,
	    is_allowed(walk, SIDE_NEW) ? CHANGE_WIDER : CHANGE_NARROWER);
	key = rule_key(rule, walk->right);
	if (!pass_said(walk->pass, &key) || !pass_again(walk->pass, &key))
		walk_note(walk, rule, walk->path, walk->len, true);
}

/* Follows the globs of the directory above to a name in it. */
static void
enter_globs(struct walk *walk, const struct node *node, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct live live = walk->lives.items[i];
		const struct sbx_glob *glob =
		    walk->bounds[live.bound].rule->glob;

		live.states = sbx_glob_step(glob, live.states, node->name,
		    node->len);
		if (sbx_glob_matches(glob, live.states)) {
			rule_begins(walk, live.bound);
			*STACK_PUSH(walk->pass->scratch,
			    &walk->matched) = live.bound;
		} else if (live.states != 0) {
			*STACK_PUSH(walk->pass->scratch, &walk->lives) = live;
		}
	}
}

/* The first event from *at on whose rule is about the right; NULL after the
 * last.  *at is where to go on. */
static const struct event *
next_event(const struct walk *walk, uint32_t *at)
{
	while (*at != 0) {
		const struct event *event = &walk->tree->events.items[*at - 1];
		const struct merged_rule *rule =
		    walk->bounds[event->bound].rule;

		*at = event->next;
		if (((rule->rights[SIDE_OLD] | rule->rights[SIDE_NEW]) &
			walk->right) != 0)
			return event;
	}
	return NULL;
}

static void
enter_events(struct walk *walk, const struct node *node)
{
	uint32_t at = node->event;
	const struct event *event;

	while ((event = next_event(walk, &at)) != NULL) {
		const struct sbx_glob *glob =
		    walk->bounds[event->bound].rule->glob;

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
leave_events(struct walk *walk, const struct node *node)
{
	uint32_t at = node->event;
	const struct event *event;

	while ((event = next_event(walk, &at)) != NULL) {
		if (event->exclusion)
			exclusion_ends(walk, event->bound);
		else if (walk->bounds[event->bound].rule->glob == NULL)
			rule_ends(walk, event->bound);
	}
}

/* One node, and then all that lie in it. */
static void
walk_node(struct walk *walk, uint32_t number)
{
	const struct node *node = &walk->tree->nodes.items[number];
	size_t above = walk->first_live, here = walk->lives.count;
	size_t matched = walk->matched.count;
	uint32_t len = walk->len;

	if (number != 0) {
		walk->path[walk->len++] = '/';
		memcpy(walk->path + walk->len, node->name, node->len);
		walk->len += node->len;
	}
	enter_globs(walk, node, above, here);
	enter_events(walk, node);
	walk->first_live = here;
	judge(walk);
	if (walk->lives.count > here)
		walk_globs(walk, number);
	for (uint32_t child = node->child; child != 0;
	     child = walk->tree->nodes.items[child].sibling)
		walk_node(walk, child);
	leave_events(walk, node);
	while (walk->matched.count > matched)
		rule_ends(walk, walk->matched.items[--walk->matched.count]);
	walk->lives.count = here;
	walk->first_live = above;
	walk->len = len;
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
	struct tree tree = { 0 };

	if (!rules_differ(rules, SBX_RIGHTS))
		return;
	bind_all(pass, rules, &bounds);
	tree_make(arena, &bounds, &tree);
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		size_t size = (bounds.list.count + 1) * sizeof(uint32_t);
		struct walk walk = {
			.pass = pass,
			.rules = rules,
			.bounds = bounds.list.items,
			.bound_count = bounds.list.count,
			.tree = &tree,
			.right = right,
			.begun = arena_alloc(arena, size),
			.carved = arena_alloc(arena, size),
			.lens = arena_alloc(arena, size),
			.path = arena_alloc(arena, 4 * SBX_MAX_PATH),
		};

		if (!rules_differ(rules, right))
			continue;
		walk_node(&walk, 0);
		walk_globs_end(&walk);
	}
}
