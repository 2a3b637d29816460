/*
 * What a rule about a path gives away beside the path: what no remedy offers, and
 * what one says that it opens.
 */
#include "compiler/check/check.h"
#include "compiler/query/why.h"

#include <string.h>

static bool
is_root(struct sbx_place place)
{
	return place.len == 0;
}

struct target
remedy_target(const struct remedy *remedy, struct sbx_place place)
{
	const struct places *places = &remedy->subject->places;
	uint16_t anchor = places_anchor(places, place);
	const char *named = arena_strndup(remedy->arena, place.path, place.len);

	return (struct target){ named + places->anchors[anchor].len, anchor };
}

struct sbx_place
remedy_parent(struct sbx_place path)
{
	while (path.len > 0 && path.path[--path.len] != '/')
		;
	return path;
}

/* Whether the policy denies a place that lies in the one in question. */
static bool
is_kept(const void *context, struct target place, enum sbx_right right)
{
	const struct remedy *remedy = context;
	const struct places *places = &remedy->subject->places;
	const struct sbx_place *anchor = &places->anchors[place.anchor];
	const char *path = arena_printf(remedy->arena, "%s%s", anchor->path,
	    place.suffix);
	struct sbx_place at = sbx_place_of(path);
	struct place_rules rules;

	places_rules_over(places, remedy->subject->arch->platforms, at, &rules);
	return sbx_path_verdict(rules.rules, rules.count, (uint8_t)right, at)
		   .reason == SBX_BECAUSE_DENIED;
}

/* What git runs of a repository to which the place belongs, or NULL. */
static const char *
hook_of(const struct remedy *remedy, struct sbx_place place)
{
	return risk_of_git(remedy_target(remedy, place).suffix,
	    remedy->access->detail);
}

const char *
remedy_risk(const struct remedy *remedy, struct sbx_place place)
{
	struct target at = remedy_target(remedy, place);
	const char *hook = hook_of(remedy, place);

	if (is_root(place))
		return "it is the whole machine";
	if (hook != NULL && at.anchor != SBX_ANCHOR_WORKSPACE)
		return arena_printf(remedy->arena, "it gives away %s", hook);
	if (at.anchor == SBX_ANCHOR_WORKSPACE || at.anchor == SBX_ANCHOR_TMP ||
	    at.anchor >= SBX_ANCHOR_PARAM)
		return NULL;
	return risk_of_place(remedy->arena, at, remedy->access->detail, is_kept,
	    remedy);
}

/* --- what is said ------------------------------------------------------------ */

const char *
remedy_kept_by(const char *group)
{
	static const struct {
		const char *group, *what;
	} table[] = {
#define GROUP_KEEPS(group, what) { group, what },
#define HOME_VARIABLE(place, variable, value)
#define FETCHER(name)
#include "compiler/tables/remedies.def"
#undef FETCHER
#undef HOME_VARIABLE
#undef GROUP_KEEPS
	};

	for (size_t i = 0; group != NULL && i < countof(table); i++) {
		if (strcmp(table[i].group, group) == 0)
			return table[i].what;
	}
	return NULL;
}

bool
remedy_is_common(const struct remedy *remedy, struct sbx_place directory)
{
	const struct places *places = &remedy->subject->places;
	uint16_t anchor = places_anchor(places, directory);

	return anchor == SBX_ANCHOR_ROOT &&
	    remedy->access->detail == SBX_WRITE &&
	    (is_root(remedy_parent(directory)) ||
		(places->here && here_is_shared(directory)));
}

/* Whether an allow of the right is about something in the place. */
static bool
has_inside(const struct remedy *remedy, struct sbx_place place,
    enum sbx_right right)
{
	const struct sbx_blob *blob = remedy->blob;

	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *rule = &blob->paths[i];
		const char *text = arena_printf(remedy->arena, "%s%s",
		    remedy->subject->places.anchors[rule->anchor].path,
		    sbx_string(blob, rule->suffix));
		struct sbx_place at = sbx_place_of(text);

		if (rule->effect == SBX_ALLOW && rule->glob == 0 &&
		    (rule->rights & right) != 0 && sbx_covers(place, at))
			return true;
	}
	return false;
}

/* Whether the policy has the other one of writing and executing a place, of which
 * sbxc check warns: the sandbox's own ground is for both. */
static bool
is_written_and_run(const struct remedy *remedy, struct sbx_place place)
{
	const struct access *access = remedy->access;
	struct access other = {
		.kind = KIND_PATH,
		.detail = access->detail == SBX_WRITE ? SBX_EXEC : SBX_WRITE,
		.path = place,
	};

	return access->detail != SBX_READ &&
	    !risk_is_own_ground(remedy_target(remedy, place)) &&
	    (path_verdict(remedy->subject, &other).allowed ||
		has_inside(remedy, place, other.detail));
}

bool
remedy_has_hook(const struct remedy *remedy, struct sbx_place place)
{
	return hook_of(remedy, place) != NULL;
}

void
remedy_add_opened(struct remedy *remedy, struct sbx_place place,
    const char *object)
{
	if (remedy_is_common(remedy, place))
		remedy_opens(remedy,
		    arena_printf(remedy->arena,
			"all that lies in %s, of whatever program", object));
	if (is_written_and_run(remedy, place))
		remedy_opens(remedy,
		    "programs that one command leaves there and another runs");
}
