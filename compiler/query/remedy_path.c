/*
 * Remedies for paths.  A rule for what is not there grants nothing, and a
 * program that saves a file makes a new one beside it: then the rule has to be
 * about the directory, if that gives away no more than what is asked for.
 */
#include "compiler/check/check.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>

static bool
is_root(struct sbx_place place)
{
	return place.len == 0;
}

/* --- names ---------------------------------------------------------------- */

static const char *
name_of(const struct remedy *remedy, struct sbx_place path)
{
	uint32_t parent = remedy_parent(path).len;

	return is_root(path) ?
	    "" :
	    arena_strndup(remedy->arena, path.path + parent + 1,
		path.len - parent - 1);
}

/* Whether a file of this name is made to be renamed over another one, or to
 * lock it. */
static bool
is_passing(const char *name)
{
	static const char *const endings[] = {
		".lock",
		".tmp",
		".swp",
		".part",
		".new",
		".bak",
		"~",
	};
	size_t len = strlen(name);

	for (size_t i = 0; i < countof(endings); i++) {
		size_t size = strlen(endings[i]);

		if (len > size && strcmp(name + len - size, endings[i]) == 0)
			return true;
	}
	return false;
}

/* Whether a name ends as those of mkstemp(3) and Python do: the next run has
 * another one. */
static bool
is_random(const char *name)
{
	enum { LETTERS = 6 };
	size_t len = strlen(name), capitals = 0, small = 0, digits = 0;

	if (len < LETTERS)
		return false;
	for (const char *at = name + len - LETTERS; *at != '\0'; at++) {
		capitals += *at >= 'A' && *at <= 'Z';
		small += *at >= 'a' && *at <= 'z';
		digits += *at >= '0' && *at <= '9';
	}
	return capitals + small + digits == LETTERS &&
	    (capitals > 0) + (small > 0) + (digits > 0) > 1 &&
	    (capitals + digits > 1 || strncmp(name, "tmp", 3) == 0);
}

/* A program may keep what is below this name in the home directory
 * elsewhere. */
static bool
is_kept_at(const char *below, const char *place)
{
	size_t len = strlen(place);

	return strncmp(below, place, len) == 0 &&
	    (below[len] == '\0' || strchr("/.-~", below[len]) != NULL);
}

/* Whether the policy has it: the program does not follow it then. */
static bool
is_set(const struct sbx_blob *blob, const char *variable)
{
	for (uint32_t i = 0; i < blob->set_count; i++) {
		if (strcmp(sbx_string(blob, blob->set[i].name), variable) == 0)
			return true;
	}
	return false;
}

static void
add_variable(struct remedy *remedy)
{
	static const struct {
		const char *place, *variable, *value;
	} table[] = {
#define HOME_VARIABLE(place, variable, value) { place, variable, value },
#define GROUP_KEEPS(group, what)
#define FETCHER(name)
#include "compiler/tables/remedies.def"
#undef FETCHER
#undef GROUP_KEEPS
#undef HOME_VARIABLE
	};
	struct target at = remedy_target(remedy, remedy->access->path);
	const char *place = NULL;

	if (at.anchor != SBX_ANCHOR_HOME || remedy->access->detail != SBX_WRITE)
		return;
	for (size_t i = 0; i < countof(table); i++) {
		if (!is_kept_at(at.suffix, table[i].place) ||
		    (place != NULL && strcmp(place, table[i].place) != 0))
			continue;
		place = table[i].place;
		if (!is_set(remedy->blob, table[i].variable))
			remedy_add(remedy, REMEDY_INSTEAD, "set env %s = %s",
			    table[i].variable, table[i].value);
	}
}

static const char *
spelled(const struct remedy *remedy, struct sbx_place place)
{
	struct sbx_place named = {
		arena_strndup(remedy->arena, place.path, place.len),
		place.len,
	};

	return spelled_path(remedy->arena,
	    places_spell(&remedy->subject->places, named));
}

/* --- denies --------------------------------------------------------------- */

struct lifting {
	struct remedy *remedy;
	const char *object; /* the path; NULL: no policy can name it */
};

/* Whether it is written; what can only be denied with writing counts as well. */
static bool
is_written(const struct remedy *remedy)
{
	return remedy->access->detail == SBX_WRITE;
}

static bool
is_absent(const struct remedy *remedy)
{
	return remedy->subject->places.here && !here_has(remedy->access->path);
}

/* That the place of an exception is made; several denies may have the same. */
static void
add_excepted(struct remedy *remedy, struct sbx_place at)
{
	bool is_whole = sbx_place_compare(at, remedy->access->path) == 0;
	const char *path = arena_strndup(remedy->arena, at.path, at.len);

	for (size_t i = 0; i < remedy->steps.count; i++) {
		if (strcmp(remedy->steps.items[i].text, path) == 0)
			return;
	}
	remedy_add(remedy, is_whole ? REMEDY_MAKE_EXCEPTED : REMEDY_MAKE_ABOVE,
	    "%s", path);
}

static const char *
rule_words(const struct remedy *remedy, const struct sbx_path *rule)
{
	return shown_rule(remedy->arena, remedy->blob, rule);
}

/* Whether the path lies below a rule's place before its links are followed. */
static bool
is_written_below(const struct remedy *remedy, const struct sbx_path *rule)
{
	const struct places *places = &remedy->subject->places;
	const char *text = arena_printf(remedy->arena, "%s%s",
	    places->anchors[rule->anchor].path,
	    sbx_string(remedy->blob, rule->suffix));
	struct sbx_place written = sbx_place_of(text);

	return sbx_covers(written, remedy->access->path);
}

/*
 * Who denies writing in a file of one's own means it: what git keeps, what runs
 * later.  An exception for one name, a lock above all, would let the command do
 * by halves what it must not do; so it is for people to decide.
 */
static const char *
meant_by(const struct remedy *remedy, const struct sbx_path *rule)
{
	struct sbx_place exception;

	if (!is_written(remedy) ||
	    remedy_is_shipped(remedy->blob, rule->source) ||
	    places_exception(&remedy->subject->places, rule,
		remedy->access->path, &exception))
		return NULL;
	return arena_printf(remedy->arena,
	    "'%s' at %s is there to keep commands from it; what has to write "
	    "there runs outside of the sandbox",
	    rule_words(remedy, rule),
	    show_source_text(remedy->arena, remedy->blob, rule->source));
}

/* A deny of a shipped profile goes as a whole: what else that allows is said. */
static void
drop_shipped(struct remedy *remedy, const struct sbx_path *rule,
    struct sbx_place place)
{
	const char *what = is_written(remedy) ?
	    remedy_kept_by(show_via(remedy->blob, rule->source)) :
	    NULL;

	remedy_lift(remedy, rule->source, rule_words(remedy, rule));
	if (what != NULL)
		remedy_add(remedy, REMEDY_OPENS, "%s", what);
	else
		remedy_add(remedy, REMEDY_OPENS, "%s",
		    rule->glob == 0 &&
			    sbx_place_compare(place, remedy->access->path) ==
				0 ?
			"all that this rule keeps" :
			"all else that this rule denies, where another one "
			"allows it");
}

/* A deny that covers the path, and begins at `place`. */
static void
lift_deny(struct lifting *lifting, const struct sbx_path *rule,
    struct sbx_place place)
{
	struct remedy *remedy = lifting->remedy;
	struct sbx_place exception;

	if (places_exception(&remedy->subject->places, rule,
		remedy->access->path, &exception)) {
		add_excepted(remedy, exception);
		return;
	}
	if (remedy_is_shipped(remedy->blob, rule->source)) {
		drop_shipped(remedy, rule, place);
		return;
	}
	/* Nothing would be left of a rule that begins there, and an exception
	 * lies below the path that the rule writes. */
	if (lifting->object == NULL || !is_written_below(remedy, rule) ||
	    (rule->glob == 0 &&
		sbx_place_compare(place, remedy->access->path) == 0)) {
		remedy_lift(remedy, rule->source, rule_words(remedy, rule));
		return;
	}
	if (is_absent(remedy) && (rule->glob == 0 || here_has(place)))
		add_excepted(remedy, remedy->access->path);
	remedy_add(remedy, REMEDY_EXCEPT, "%s", lifting->object);
	remedy->steps.items[remedy->steps.count - 1].source = rule->source;
}

/* Why a deny stays, or NULL. */
static const char *
deny_that_stays(const struct remedy *remedy, const struct place_rules *rules)
{
	const struct access *access = remedy->access;
	const char *meant = NULL;

	for (size_t i = 0; i < rules->count && meant == NULL; i++) {
		if (rules->rules[i].effect != SBX_ALLOW &&
		    (rules->rules[i].rights & access->detail) != 0 &&
		    sbx_rule_covers(&rules->rules[i], access->path))
			meant = meant_by(remedy, rules->paths[i]);
	}
	return meant;
}

/* Lifts what denies the path; whether something allows it. */
static bool
lift_denies(struct lifting *lifting, const struct place_rules *rules)
{
	const struct access *access = lifting->remedy->access;
	bool given = false;

	for (size_t i = 0; i < rules->count; i++) {
		if ((rules->rules[i].rights & access->detail) == 0 ||
		    !sbx_rule_covers(&rules->rules[i], access->path))
			continue;
		if (rules->rules[i].effect == SBX_ALLOW)
			given = true;
		/* A rule about ~ may stand there twice, for two homes. */
		else if (i == 0 || rules->paths[i] != rules->paths[i - 1])
			lift_deny(lifting, rules->paths[i], rules->rules[i].at);
	}
	return given;
}

/* --- allows --------------------------------------------------------------- */

/* Whether the policy has it already, and only the place is missing. */
static bool
has_allow(const struct remedy *remedy, const char *object)
{
	const struct sbx_blob *blob = remedy->blob;
	const char *wanted = arena_printf(remedy->arena, "allow %s %s",
	    rights_word(SBX_ALLOW, remedy->access->detail), object);

	for (uint32_t i = 0; i < blob->path_count; i++) {
		if (strcmp(shown_rule(remedy->arena, blob, &blob->paths[i]),
			wanted) == 0)
			return true;
	}
	return false;
}

static void
add_none(struct remedy *remedy, const char *fault)
{
	remedy_add(remedy, REMEDY_NONE, "%s", fault);
	add_variable(remedy);
}

/* The first name of the path below a directory. */
static struct sbx_place
first_below(struct sbx_place directory, struct sbx_place path)
{
	uint32_t len = directory.len + 1;

	while (len < path.len && path.path[len] != '/')
		len++;
	return (struct sbx_place){ path.path, len };
}

/* The path; for what is made to be renamed, where it is. */
static struct sbx_place
needed_place(const struct remedy *remedy)
{
	struct sbx_place path = remedy->access->path;

	return is_written(remedy) && is_passing(name_of(remedy, path)) ?
	    remedy_parent(path) :
	    path;
}

/* The directory that a rule has to be about, if it is not about the path. */
static struct sbx_place
directory_for(const struct remedy *remedy)
{
	struct sbx_place path = needed_place(remedy);

	if (is_absent(remedy) && remedy_risk(remedy, path) == NULL)
		path = here_nearest(path);
	while (!is_root(path) && spelled(remedy, path) == NULL)
		path = remedy_parent(path);
	return path;
}

static void
add_directory(struct remedy *remedy, struct sbx_place directory,
    const char *object)
{
	remedy_add(remedy, REMEDY_ADD, "allow %s %s",
	    rights_word(SBX_ALLOW, remedy->access->detail), object);
	if (remedy_has_hook(remedy, directory) ||
	    remedy_has_hook(remedy, needed_place(remedy)))
		remedy_opens(remedy, remedy_kept_by("git-programs"));
	remedy_add_opened(remedy, directory, object);
}

/* A new directory of the path's name in one that gives away too much; false if
 * that does not help. */
static bool
add_new(struct remedy *remedy, struct sbx_place directory)
{
	struct sbx_place path = remedy->access->path, top;
	const char *object;

	if (!is_absent(remedy) || is_passing(name_of(remedy, path)))
		return false;
	top = first_below(directory, path);
	if (is_random(name_of(remedy, top)))
		return false;
	object = spelled(remedy, top);
	if (object == NULL || remedy_risk(remedy, top) != NULL)
		return false;
	remedy_add(remedy, REMEDY_MAKE, "%s",
	    arena_strndup(remedy->arena, top.path, top.len));
	if (!has_allow(remedy, object))
		add_directory(remedy, top, object);
	add_variable(remedy);
	return true;
}

/* The rule about the directory, unless that is home or the like; what is new in
 * one that many use is made first, and the rule is about it alone. */
static void
add_wider(struct remedy *remedy, struct sbx_place directory)
{
	const char *fault = remedy_risk(remedy, directory);
	const char *object = spelled(remedy, directory);

	if (fault == NULL && object != NULL) {
		if (!remedy_is_common(remedy, directory) ||
		    !add_new(remedy, directory))
			add_directory(remedy, directory, object);
	} else if (!add_new(remedy, directory))
		add_none(remedy,
		    arena_printf(remedy->arena, "it takes %s, and %s",
			object != NULL ? object : "a directory",
			fault != NULL ? fault : "no policy can name it"));
}

/* The links on the way, which have to be in the view as well. */
static void
add_links(struct remedy *remedy)
{
	const struct followed *followed = remedy->access->followed;

	for (size_t i = 0; followed != NULL && i < followed->links.count; i++) {
		struct sbx_place link = followed->links.items[i];
		struct sbx_place directory = remedy_parent(link);
		struct remedy reading = *remedy;
		struct access look = *remedy->access;

		if (!verdict_link_hidden(remedy->subject, link))
			continue;
		if (own_remedy_link(remedy, link))
			continue;
		look.detail = SBX_READ;
		look.path = link;
		look.followed = NULL;
		reading.access = &look;
		/* Without a deny of the link itself. */
		if (path_verdict(remedy->subject, &look).by == BY_PATH ||
		    remedy_risk(&reading, directory) != NULL ||
		    spelled(remedy, directory) == NULL) {
			remedy_add(remedy, REMEDY_NONE,
			    "the name that the link leads to is what a rule "
			    "can be about");
			return;
		}
		remedy_add(remedy, REMEDY_ADD, "allow read %s",
		    spelled(remedy, directory));
	}
}

static void
give(struct remedy *remedy, const char *object)
{
	struct sbx_place directory = directory_for(remedy);

	if (sbx_place_compare(directory, remedy->access->path) == 0 &&
	    object != NULL)
		add_directory(remedy, directory, object);
	else
		add_wider(remedy, directory);
}

/* No rule helps against what a level cannot do. */
static void
add_level(struct remedy *remedy)
{
	remedy_add(remedy, REMEDY_HINT,
	    "level full ('sbxrun -l full'), where only the denied place is "
	    "kept from commands");
	if (is_absent(remedy))
		remedy_add(remedy, REMEDY_HINT,
		    "what is there before the sandbox starts is given as it "
		    "is: make it first");
}

void
path_remedy(struct remedy *remedy)
{
	const struct places *places = &remedy->subject->places;
	struct sbx_place path = remedy->access->path;
	struct lifting lifting = { remedy, spelled(remedy, path) };
	const char *fault = remedy_risk(remedy, path);
	struct place_rules rules;
	bool given;

	if (remedy->verdict->by == BY_SPLIT) {
		add_level(remedy);
		return;
	}
	if (remedy->verdict->by == BY_LEFT) {
		add_none(remedy, "without '..' the path is allowed");
		return;
	}
	if (own_remedy(remedy))
		return;
	if (remedy->verdict->by == BY_KEPT) {
		add_none(remedy,
		    "sbx keeps its own files there, and no policy opens them "
		    "to a command");
		return;
	}
	places_rules_for(places, remedy->subject->arch->platforms, path,
	    &rules);
	/* What grants nothing gives nothing. */
	places_rules_there(places, &rules, false);
	if (fault == NULL)
		fault = deny_that_stays(remedy, &rules);
	if (fault != NULL) {
		add_none(remedy, fault);
		return;
	}
	given = lift_denies(&lifting, &rules) &&
	    remedy->verdict->by != BY_DEVICE;
	if (!given)
		give(remedy, lifting.object);
	add_links(remedy);
}
