/*
 * The rules at their places, and an index by which those that bear on one path
 * are found: see places.c.
 */
#include "compiler/query/why.h"

#include "format/model.h"

#include <stdlib.h>
#include <string.h>

struct place_index {
	uint8_t platforms; /* what it was made for; 0: it is not made */
	struct place_rules rules;
	size_t linked; /* from this rule on: where a glob's match leads */
	struct sbx_index by_place; /* of the rules that are at one place */
	struct glob_list globs;
};

/* --- rules ---------------------------------------------------------------- */

static struct sbx_place
place_join(const struct places *places, struct sbx_place at, const char *suffix)
{
	size_t len = strlen(suffix);
	char *path;

	if (at.len == 0)
		return (struct sbx_place){ suffix, (uint32_t)len };
	path = arena_alloc(places->arena, at.len + len + 1);
	memcpy(path, at.path, at.len);
	memcpy(path + at.len, suffix, len);
	return (struct sbx_place){ path, at.len + (uint32_t)len };
}

static struct sbx_place
bind(const struct places *places, uint16_t anchor, uint32_t suffix,
    bool other_home)
{
	struct sbx_place at = other_home && anchor == SBX_ANCHOR_HOME ?
	    places->other_home :
	    places->anchors[anchor];

	at = place_join(places, at, sbx_string(places->blob, suffix));
	return places->here && !places->named[anchor] ?
	    here_follow(places->arena, at.path).place :
	    at;
}

/* What is excepted below ~ is excepted in both homes, by each rule. */
static uint16_t
bind_exclusions(const struct places *places, const struct sbx_path *path,
    struct sbx_place *exclusions)
{
	uint16_t count = 0;

	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &places->blob->exclusions[path->first_exclusion + i];

		exclusions[count++] = bind(places, exclusion->anchor,
		    exclusion->suffix, false);
		if (exclusion->anchor == SBX_ANCHOR_HOME &&
		    places->has_other_home)
			exclusions[count++] = bind(places, exclusion->anchor,
			    exclusion->suffix, true);
	}
	return count;
}

struct sbx_rule
places_rule(const struct places *places, const struct sbx_path *path,
    bool other_home)
{
	struct sbx_place *exclusions = arena_alloc(places->arena,
	    (2u * path->exclusion_count + 1u) * sizeof *exclusions);

	return (struct sbx_rule){
		.at = bind(places, path->anchor, path->suffix, other_home),
		.exclusions = exclusions,
		.source = path->source,
		.exclusion_count = bind_exclusions(places, path, exclusions),
		.effect = path->effect,
		.rights = path->rights,
	};
}

static void
rules_init(const struct places *places, size_t most, struct place_rules *rules)
{
	rules->rules = arena_alloc(places->arena,
	    (most + 1) * sizeof *rules->rules);
	rules->paths = arena_alloc(places->arena,
	    (most + 1) * sizeof *rules->paths);
	rules->count = 0;
}

static void
rules_add(struct place_rules *rules, const struct sbx_path *path,
    struct sbx_rule rule)
{
	rules->paths[rules->count] = path;
	rules->rules[rules->count++] = rule;
}

bool
places_rule_has_other(const struct places *places, const struct sbx_path *path)
{
	return path->effect != SBX_ALLOW && places->has_other_home &&
	    path->anchor == SBX_ANCHOR_HOME;
}

/* What the loader made of a path rule, from *next on: none of a glob, whose
 * matches are known besides. */
static void
rules_add_bound(const struct bound *bound, const struct sbx_path *path,
    uint32_t *next, struct place_rules *rules)
{
	while (*next < bound->rule_count && bound->rules[*next].path < path)
		++*next;
	for (; *next < bound->rule_count && bound->rules[*next].path == path;
	     ++*next) {
		if (path->glob == 0 && !bound->rules[*next].is_link)
			rules_add(rules, path, bound->rules[*next].rule);
	}
}

/* All of them, globs at the place where their pattern begins. */
static void
rules_bind(const struct places *places, uint8_t platforms,
    struct place_rules *rules)
{
	const struct bound *bound = places->bound;
	bool is_bound = bound != NULL && bound->fault == NULL &&
	    platforms == bound->platforms;
	uint32_t next = 0;

	rules_init(places,
	    2u * places->blob->path_count + places->linked.count +
		(is_bound ? bound->rule_count : 0),
	    rules);
	for (uint32_t i = 0; i < places->blob->path_count; i++) {
		const struct sbx_path *path = &places->blob->paths[i];

		if ((path->platforms & platforms) == 0)
			continue;
		if (is_bound && path->glob == 0 &&
		    !places->named[path->anchor]) {
			rules_add_bound(bound, path, &next, rules);
			continue;
		}
		rules_add(rules, path, places_rule(places, path, false));
		if (places_rule_has_other(places, path))
			rules_add(rules, path, places_rule(places, path, true));
	}
}

/* Where the rule begins to apply to the path that is asked about. */
static bool
rule_place(const struct places *places, const struct sbx_path *path,
    struct sbx_place about, struct sbx_place *at)
{
	struct sbx_glob glob;

	if (path->glob == 0)
		return true;
	if (!sbx_glob_parse(sbx_string(places->blob, path->glob), &glob))
		return false;
	*at = sbx_glob_find(&glob, *at, about);
	return at->len > 0;
}

void
places_rules_at(struct place_rules *rules, enum sbx_level level)
{
	size_t count = rules->count;

	rules->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (sbx_path_holds(rules->paths[i], level))
			rules_add(rules, rules->paths[i], rules->rules[i]);
	}
}

bool
places_glob_reaches(const struct places *places, const struct sbx_path *rule,
    struct sbx_place directory)
{
	struct sbx_place place = bind(places, rule->anchor, rule->suffix,
	    false);
	struct sbx_glob glob;
	uint64_t states;
	uint32_t at = place.len;

	if (!sbx_glob_parse(sbx_string(places->blob, rule->glob), &glob))
		return false;
	if (!sbx_covers(place, directory))
		return sbx_covers(directory, place);
	states = sbx_glob_start(&glob);
	while (states != 0 && at < directory.len) {
		uint32_t from = ++at;

		while (at < directory.len && directory.path[at] != '/')
			at++;
		states = sbx_glob_step(&glob, states, directory.path + from,
		    at - from);
	}
	return states != 0;
}

/* --- the index ------------------------------------------------------------ */

void
places_reset_index(struct places *places)
{
	places->index = arena_alloc(places->arena, sizeof *places->index);
}

static void
index_make(const struct places *places, uint8_t platforms,
    struct place_index *index)
{
	struct sbx_index *by_place = &index->by_place;
	size_t size;

	*index = (struct place_index){ .platforms = platforms };
	rules_bind(places, platforms, &index->rules);
	index->linked = index->rules.count;
	for (size_t i = 0; i < places->linked.count; i++) {
		const struct linked_match *match = &places->linked.items[i];
		struct sbx_rule rule = places_rule(places, match->path, false);

		if ((match->path->platforms & platforms) == 0)
			continue;
		rule.at = match->at;
		rules_add(&index->rules, match->path, rule);
	}
	size = (index->rules.count + 1) * sizeof(uint32_t);
	*by_place = (struct sbx_index){
		.records = index->rules.rules,
		.size = sizeof *index->rules.rules,
		.sorted = arena_alloc(places->arena, size),
		.outer = arena_alloc(places->arena, size),
	};
	for (size_t i = 0; i < index->rules.count; i++) {
		uint32_t glob = index->rules.paths[i]->glob;

		if (glob == 0 || i >= index->linked)
			by_place->sorted[by_place->count++] = (uint32_t)i;
		else
			glob_list_add(places->arena, &index->globs, (uint32_t)i,
			    sbx_string(places->blob, glob));
	}
	sbx_index_make(by_place);
}

/* A rule that applies to a path, and where it begins to. */
struct pick {
	uint32_t rule;
	struct sbx_place at;
};

struct picks {
	VEC(struct pick) list;
};

static int
pick_compare(const void *a, const void *b)
{
	const struct pick *left = a, *right = b;

	return (left->rule > right->rule) - (left->rule < right->rule);
}

struct glob_question {
	const struct places *places;
	struct sbx_place path;
	struct picks *picks;
};

static void
pick_glob(void *context, const struct glob_entry *entry)
{
	const struct glob_question *asked = context;
	const struct sbx_rule *rules = asked->places->index->rules.rules;
	struct sbx_place at = sbx_glob_find(&entry->glob, rules[entry->rule].at,
	    asked->path);

	if (at.len > 0)
		*arena_push(asked->places->arena,
		    &asked->picks->list) = (struct pick){ entry->rule, at };
}

static void
picks_collect(const struct places *places, struct sbx_place path,
    struct picks *picks)
{
	struct place_index *index = places->index;
	struct sbx_index *by_place = &index->by_place;
	const struct sbx_rule *rules = index->rules.rules;
	struct glob_question question = { places, path, picks };
	const struct glob_visitor visitor = { pick_glob, &question };

	for (uint32_t at = sbx_index_find(by_place, path); at > 0;
	     at = by_place->outer[at - 1]) {
		uint32_t rule = by_place->sorted[at - 1];

		*arena_push(places->arena, &picks->list) = (struct pick){ rule,
			rules[rule].at };
	}
	glob_list_visit(&index->globs, path, &visitor);
	if (picks->list.count > 1)
		qsort(picks->list.items, picks->list.count,
		    sizeof *picks->list.items, pick_compare);
}

void
places_rules_over(const struct places *places, uint8_t platforms,
    struct sbx_place path, struct place_rules *rules)
{
	struct place_index *index = places->index;
	struct picks picks = { 0 };

	if (index->platforms != platforms)
		index_make(places, platforms, index);
	picks_collect(places, path, &picks);
	rules_init(places, picks.list.count, rules);
	for (size_t i = 0; i < picks.list.count; i++) {
		uint32_t rule = picks.list.items[i].rule;

		/* A name that the path has twice finds a glob twice. */
		if (i > 0 && picks.list.items[i - 1].rule == rule)
			continue;
		rules_add(rules, index->rules.paths[rule],
		    index->rules.rules[rule]);
		rules->rules[rules->count - 1].at = picks.list.items[i].at;
	}
}

void
places_rules_for(const struct places *places, uint8_t platforms,
    struct sbx_place path, struct place_rules *rules)
{
	const struct place_rules *all = &places->index->rules;

	if (places->index->platforms != platforms)
		index_make(places, platforms, places->index);
	rules_init(places, all->count, rules);
	for (size_t i = 0; i < all->count; i++) {
		struct sbx_rule rule = all->rules[i];

		if (i >= places->index->linked ||
		    rule_place(places, all->paths[i], path, &rule.at))
			rules_add(rules, all->paths[i], rule);
	}
}

/* Whether it is a glob that denies a path which is not there to match. */
static bool
matches_nothing(const struct places *places, const struct sbx_path *path,
    struct sbx_place at)
{
	return places->here && path->effect != SBX_ALLOW && path->glob != 0 &&
	    !places->named[path->anchor] && !here_has(at);
}

void
places_rules_split(const struct places *places, uint8_t platforms,
    struct sbx_place path, struct place_rules *rules)
{
	struct place_rules some;

	places_rules_for(places, platforms, path, &some);
	rules_init(places, some.count + places->denied.count, rules);
	for (size_t i = 0; i < some.count; i++) {
		if (!matches_nothing(places, some.paths[i], some.rules[i].at))
			rules_add(rules, some.paths[i], some.rules[i]);
	}
	for (size_t i = 0; i < places->denied.count; i++) {
		const struct denied_place *denied = &places->denied.items[i];

		if ((denied->path->platforms & platforms) != 0)
			rules_add(rules, denied->path, denied->rule);
	}
}

static void
drop_files(const struct places *places, struct sbx_rule *rule)
{
	struct sbx_place *kept = arena_alloc(places->arena,
	    (rule->exclusion_count + 1u) * sizeof *kept);
	uint16_t count = 0;

	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		if (!here_is_file(rule->exclusions[i]))
			kept[count++] = rule->exclusions[i];
	}
	rule->exclusions = kept;
	rule->exclusion_count = count;
}

void
places_rules_listed(const struct places *places, struct place_rules *rules)
{
	size_t count = rules->count;

	if (!places->here)
		return;
	rules->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct sbx_rule rule = rules->rules[i];

		if (rule.effect != SBX_ALLOW && here_is_file(rule.at))
			continue;
		drop_files(places, &rule);
		rules_add(rules, rules->paths[i], rule);
	}
}

void
places_rules(const struct places *places, uint8_t platforms,
    struct place_rules *rules)
{
	places_rules_for(places, platforms, places->anchors[SBX_ANCHOR_ROOT],
	    rules);
}
