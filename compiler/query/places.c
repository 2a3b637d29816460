/* See places.h. */
#include "compiler/query/places.h"
#include "compiler/query/glob_list.h"
#include "compiler/query/here.h"

#include "format/glob.h"
#include "format/index.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place_index {
	uint8_t platforms; /* what it was made for; 0: it is not made */
	struct place_rules rules;
	struct sbx_index by_place; /* of the rules without a glob */
	struct glob_list globs;
};

/* Whoever has a copy of the places keeps the index that was made for it. */
static void
index_reset(struct places *places)
{
	places->index = arena_alloc(places->arena, sizeof *places->index);
}

static struct sbx_place
place_of(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

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

/* Takes out "//", "." and ".." and the slash at the end. */
static struct sbx_place
normalise(const struct places *places, const char *path)
{
	char *clean = arena_strndup(places->arena, path, strlen(path));
	char *end = clean;

	while (*path != '\0') {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (end > clean && *--end != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			*end++ = '/';
			memcpy(end, path, len);
			end += len;
		}
		path += len;
	}
	*end = '\0';
	return place_of(clean);
}

static struct sbx_place
absolute(const struct places *places, const char *path)
{
	if (path[0] != '/')
		path = arena_printf(places->arena, "%s/%s", places->cwd.path,
		    path);
	return places->here ? here_follow(places->arena, path).place :
			      normalise(places, path);
}

static const char *
anchor_name(const struct places *places, uint32_t anchor)
{
	return sbx_string(places->blob, places->blob->anchors[anchor].name);
}

static void
bind_home(struct places *places, const char *home)
{
	const struct passwd *entry = home == NULL ? getpwuid(getuid()) : NULL;
	struct sbx_place *bound = &places->anchors[SBX_ANCHOR_HOME];

	if (home == NULL)
		home = getenv("HOME");
	if (entry != NULL && entry->pw_dir[0] == '/') {
		places->other_home = normalise(places, entry->pw_dir);
		places->has_other_home = true;
		if (home == NULL || home[0] == '\0')
			home = places->other_home.path;
	}
	if (home == NULL || home[0] == '\0')
		return;
	*bound = absolute(places, home);
	places->named[SBX_ANCHOR_HOME] = false;
	if (places->has_other_home &&
	    sbx_place_compare(*bound, places->other_home) == 0)
		places->has_other_home = false;
}

void
places_init(struct places *places, struct arena *arena,
    const struct sbx_blob *blob, const char *workspace, const char *home)
{
	char cwd[SBX_MAX_PATH + 1];
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	*places = (struct places){ .arena = arena, .blob = blob };
	index_reset(places);
	if (getcwd(cwd, sizeof cwd) == NULL)
		cwd[0] = '\0';
	places->cwd = normalise(places, cwd);
	places->anchors[SBX_ANCHOR_ROOT] = place_of("");
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		places->anchors[i] = place_of(
		    arena_printf(arena, "/${%s}", anchor_name(places, i)));
		places->named[i] = true;
	}
	places->anchors[SBX_ANCHOR_TMP] = place_of(
	    arena_printf(arena, "/tmp/sbx-%u/${tmp}", (unsigned)getuid()));
	places->anchors[SBX_ANCHOR_WORKSPACE] = workspace != NULL ?
	    absolute(places, workspace) :
	    places->cwd;
	places->named[SBX_ANCHOR_WORKSPACE] = false;
	places->agent = place_of("/${ssh-agent}");
	if (runtime != NULL && runtime[0] == '/') {
		places->anchors[SBX_ANCHOR_RUNTIME] = normalise(places,
		    runtime);
		places->named[SBX_ANCHOR_RUNTIME] = false;
	}
	bind_home(places, home);
}

/* The anchor of this name, or 0: the root has no name. */
static uint16_t
anchor_find(const struct sbx_blob *blob, const char *name, size_t len)
{
	for (uint16_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *known = sbx_string(blob, blob->anchors[i].name);

		if (strncmp(known, name, len) == 0 && known[len] == '\0')
			return i;
	}
	return 0;
}

uint16_t
places_param(const struct sbx_blob *blob, const char *name)
{
	uint16_t anchor = anchor_find(blob, name, strlen(name));

	return anchor >= SBX_ANCHOR_PARAM ? anchor : 0;
}

bool
places_define(struct places *places, const char *name, const char *path)
{
	uint16_t anchor = places_param(places->blob, name);

	if (anchor != 0)
		places_bind(places, anchor, path);
	return anchor != 0;
}

void
places_define_all(struct places *places, const struct definitions *definitions)
{
	for (size_t i = 0; i < definitions->list.count; i++)
		places_define(places, definitions->list.items[i].name,
		    definitions->list.items[i].value);
}

void
places_bind(struct places *places, uint16_t anchor, const char *path)
{
	places->anchors[anchor] = absolute(places, path);
	places->named[anchor] = false;
	index_reset(places);
}

void
places_bind_other_home(struct places *places, const char *path)
{
	places->other_home = absolute(places, path);
	places->has_other_home = sbx_place_compare(places->other_home,
				     places->anchors[SBX_ANCHOR_HOME]) != 0;
	index_reset(places);
}

/* An absolute path for what people type; its links are not followed yet. */
static const char *
raw_path(const struct places *places, const char *text, const char **raw)
{
	const char *rest = text;
	uint32_t anchor;

	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0')) {
		anchor = SBX_ANCHOR_HOME;
		rest = text + 1;
	} else if (strncmp(text, "${", 2) == 0) {
		rest = strchr(text, '}');
		if (rest == NULL || (rest[1] != '/' && rest[1] != '\0'))
			return "'${name}' ends with '}', then '/' or nothing";
		anchor = anchor_find(places->blob, text + 2,
		    (size_t)(rest - text - 2));
		if (anchor == 0)
			return "the policy has no parameter of that name";
		rest++;
	} else {
		*raw = text[0] == '/' ? text :
					arena_printf(places->arena, "%s/%s",
					    places->cwd.path, text);
		return text[0] == '\0' ? "the path is empty" : NULL;
	}
	*raw = arena_printf(places->arena, "%s/%s",
	    places->anchors[anchor].path, rest);
	return NULL;
}

const char *
places_find(const struct places *places, const char *text,
    struct sbx_place *place)
{
	const char *raw, *fault = raw_path(places, text, &raw);

	if (fault == NULL)
		*place = absolute(places, raw);
	return fault;
}

const struct followed *
places_followed(const struct places *places, const char *text)
{
	struct followed *followed = arena_alloc(places->arena,
	    sizeof *followed);
	const char *raw;

	if (raw_path(places, text, &raw) != NULL)
		return NULL;
	*followed = here_follow(places->arena, raw);
	return followed;
}

uint16_t
places_anchor(const struct places *places, struct sbx_place place)
{
	uint16_t best = SBX_ANCHOR_ROOT;

	for (uint16_t i = 0; i < places->blob->anchor_count; i++) {
		if (sbx_covers(places->anchors[i], place) &&
		    places->anchors[i].len > places->anchors[best].len)
			best = i;
	}
	return best;
}

static bool
is_agent(const struct places *places, struct sbx_place place)
{
	return sbx_place_compare(places->agent, place) == 0;
}

const char *
places_spell(const struct places *places, struct sbx_place place)
{
	uint16_t best = places_anchor(places, place);
	const char *rest;

	rest = place.path + places->anchors[best].len;
	if (best == SBX_ANCHOR_ROOT && is_agent(places, place))
		return place.path + 1;
	if (best == SBX_ANCHOR_ROOT)
		return place.len > 0 ? place.path : "/";
	if (best == SBX_ANCHOR_HOME)
		return arena_printf(places->arena, "~%s", rest);
	return arena_printf(places->arena, "${%s}%s", anchor_name(places, best),
	    rest);
}

/* --- rules ---------------------------------------------------------------- */

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

/* All of them, globs at the place where their pattern begins. */
static void
rules_bind(const struct places *places, uint8_t platforms,
    struct place_rules *rules)
{
	rules_init(places, 2u * places->blob->path_count, rules);
	for (uint32_t i = 0; i < places->blob->path_count; i++) {
		const struct sbx_path *path = &places->blob->paths[i];

		if ((path->platforms & platforms) == 0)
			continue;
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

/* --- this machine --------------------------------------------------------- */

void
places_ask_machine(struct places *places)
{
	const char *agent = getenv("SSH_AUTH_SOCK");

	places_find_planted(places);
	places->here = true;
	if (agent != NULL && agent[0] == '/')
		places->agent = absolute(places, agent);
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < places->blob->anchor_count;
	     i++) {
		if (!places->named[i])
			places->anchors[i] = absolute(places,
			    places->anchors[i].path);
	}
	if (places->has_other_home)
		places_bind_other_home(places, places->other_home.path);
	index_reset(places);
}

/* --- the index ------------------------------------------------------------ */

static void
index_make(const struct places *places, uint8_t platforms,
    struct place_index *index)
{
	struct sbx_index *by_place = &index->by_place;
	size_t size;

	*index = (struct place_index){ .platforms = platforms };
	rules_bind(places, platforms, &index->rules);
	size = (index->rules.count + 1) * sizeof(uint32_t);
	*by_place = (struct sbx_index){
		.records = index->rules.rules,
		.size = sizeof *index->rules.rules,
		.sorted = arena_alloc(places->arena, size),
		.outer = arena_alloc(places->arena, size),
	};
	for (size_t i = 0; i < index->rules.count; i++) {
		uint32_t glob = index->rules.paths[i]->glob;

		if (glob == 0)
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

		if (rule_place(places, all->paths[i], path, &rule.at))
			rules_add(rules, all->paths[i], rule);
	}
}

void
places_rules(const struct places *places, uint8_t platforms,
    struct place_rules *rules)
{
	places_rules_for(places, platforms, places->anchors[SBX_ANCHOR_ROOT],
	    rules);
}
