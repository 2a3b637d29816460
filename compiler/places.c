/* See places.h. */
#include "compiler/places.h"

#include "format/glob.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sbx_place
place_of(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static struct sbx_place
place_join(const struct places *places, struct sbx_place at,
    const char *suffix)
{
	return place_of(arena_printf(places->arena, "%.*s%s", (int)at.len,
	    at.path, suffix));
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
	if (path[0] == '/')
		return normalise(places, path);
	return normalise(places,
	    arena_printf(places->arena, "%s/%s", places->cwd.path, path));
}

static const char *
anchor_name(const struct places *places, uint32_t anchor)
{
	return sbx_string(places->view, places->view->anchors[anchor].name);
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
    const struct sbx_view *view, const char *workspace, const char *home)
{
	char cwd[SBX_MAX_PATH + 1];
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	*places = (struct places){ .arena = arena, .view = view };
	if (getcwd(cwd, sizeof cwd) == NULL)
		cwd[0] = '\0';
	places->cwd = normalise(places, cwd);
	places->anchors[SBX_ANCHOR_ROOT] = place_of("");
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < view->anchor_count; i++) {
		places->anchors[i] = place_of(arena_printf(arena, "/${%s}",
		    anchor_name(places, i)));
		places->named[i] = true;
	}
	places->anchors[SBX_ANCHOR_TMP] = place_of(arena_printf(arena,
	    "/tmp/sbx-%u/${tmp}", (unsigned)getuid()));
	places->anchors[SBX_ANCHOR_WORKSPACE] = workspace != NULL ?
	    absolute(places, workspace) : places->cwd;
	places->named[SBX_ANCHOR_WORKSPACE] = false;
	if (runtime != NULL && runtime[0] == '/') {
		places->anchors[SBX_ANCHOR_RUNTIME] =
		    normalise(places, runtime);
		places->named[SBX_ANCHOR_RUNTIME] = false;
	}
	bind_home(places, home);
}

static uint32_t
anchor_find_name(const struct places *places, const char *name, size_t len)
{
	uint32_t i = SBX_ANCHOR_WORKSPACE;

	while (i < places->view->anchor_count &&
	    (strncmp(anchor_name(places, i), name, len) != 0 ||
	    anchor_name(places, i)[len] != '\0'))
		i++;
	return i;
}

bool
places_define(struct places *places, const char *name, size_t len,
    const char *path)
{
	uint32_t anchor = anchor_find_name(places, name, len);

	if (anchor < SBX_ANCHOR_PARAM || anchor == places->view->anchor_count)
		return false;
	places->anchors[anchor] = absolute(places, path);
	places->named[anchor] = false;
	return true;
}

const char *
places_find(const struct places *places, const char *text,
    struct sbx_place *place)
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
		anchor = anchor_find_name(places, text + 2,
		    (size_t)(rest - text - 2));
		if (anchor == places->view->anchor_count)
			return "the policy has no parameter of that name";
		rest++;
	} else {
		*place = absolute(places, text);
		return text[0] == '\0' ? "the path is empty" : NULL;
	}
	*place = normalise(places,
	    place_join(places, places->anchors[anchor], rest).path);
	return NULL;
}

const char *
places_spell(const struct places *places, struct sbx_place place)
{
	uint32_t best = SBX_ANCHOR_ROOT;
	const char *rest;

	for (uint32_t i = 0; i < places->view->anchor_count; i++) {
		if (sbx_covers(places->anchors[i], place) &&
		    places->anchors[i].len > places->anchors[best].len)
			best = i;
	}
	rest = place.path + places->anchors[best].len;
	if (best == SBX_ANCHOR_ROOT)
		return place.len > 0 ? place.path : "/";
	if (best == SBX_ANCHOR_HOME)
		return arena_printf(places->arena, "~%s", rest);
	return arena_printf(places->arena, "${%s}%s",
	    anchor_name(places, best), rest);
}

/* --- rules ---------------------------------------------------------------- */

static struct sbx_place
bind(const struct places *places, uint16_t anchor, uint32_t suffix,
    bool other_home)
{
	struct sbx_place at = other_home && anchor == SBX_ANCHOR_HOME ?
	    places->other_home : places->anchors[anchor];

	return place_join(places, at, sbx_string(places->view, suffix));
}

/* Where the rule begins to speak of what the question is about. */
static bool
rule_place(const struct places *places, const struct sbx_path *path,
    bool other_home, struct sbx_place about, struct sbx_place *at)
{
	struct sbx_glob glob;

	*at = bind(places, path->anchor, path->suffix, other_home);
	if (path->glob == 0)
		return true;
	if (!sbx_glob_parse(sbx_string(places->view, path->glob), &glob))
		return false;
	*at = sbx_glob_find(&glob, *at, about);
	return at->len > 0;
}

static void
rule_add(const struct places *places, const struct sbx_path *path,
    bool other_home, struct sbx_place about, struct place_rules *rules)
{
	struct sbx_place at;
	struct sbx_place *holes = arena_alloc(places->arena,
	    (path->hole_count + 1u) * sizeof *holes);

	if (!rule_place(places, path, other_home, about, &at))
		return;
	for (uint16_t i = 0; i < path->hole_count; i++) {
		const struct sbx_hole *hole =
		    &places->view->holes[path->first_hole + i];

		holes[i] = bind(places, hole->anchor, hole->suffix,
		    other_home);
	}
	rules->paths[rules->count] = path;
	rules->rules[rules->count++] = (struct sbx_rule){
		.at = at,
		.holes = holes,
		.source = path->source,
		.hole_count = path->hole_count,
		.effect = path->effect,
		.rights = path->rights,
	};
}

/* Where the policy denies, ~ has two meanings if $HOME is not the home of the
 * password entry: changing a variable uncovers nothing. */
void
places_rules_for(const struct places *places, uint8_t where,
    struct sbx_place path, struct place_rules *rules)
{
	size_t most = 2u * places->view->path_count + 1;

	rules->rules = arena_alloc(places->arena,
	    most * sizeof *rules->rules);
	rules->paths = arena_alloc(places->arena,
	    most * sizeof *rules->paths);
	rules->count = 0;
	for (uint32_t i = 0; i < places->view->path_count; i++) {
		const struct sbx_path *rule = &places->view->paths[i];

		if ((rule->where & where) == 0)
			continue;
		rule_add(places, rule, false, path, rules);
		if (rule->effect != SBX_ALLOW && places->has_other_home &&
		    rule->anchor == SBX_ANCHOR_HOME)
			rule_add(places, rule, true, path, rules);
	}
}

void
places_rules(const struct places *places, uint8_t where,
    struct place_rules *rules)
{
	places_rules_for(places, where, places->anchors[SBX_ANCHOR_ROOT],
	    rules);
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

	if (!sbx_glob_parse(sbx_string(places->view, rule->glob), &glob))
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
