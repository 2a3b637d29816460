/* What this machine adds to places: see places_ask_machine(). */
#include "compiler/query/places.h"

/* The view has the links that lead to what is allowed. */
void
places_find_shown(struct places *places)
{
	for (uint32_t i = 0; i < places->blob->path_count; i++) {
		const struct sbx_path *path = &places->blob->paths[i];
		struct followed followed;

		if (path->effect != SBX_ALLOW || places->named[path->anchor])
			continue;
		followed = here_follow(places->arena,
		    places_rule(places, path, false).at.path);
		for (size_t j = 0; j < followed.links.count; j++)
			*arena_push(places->arena,
			    &places->shown) = followed.links.items[j];
	}
}

static bool
has_link(const struct followed *followed, struct sbx_place link)
{
	for (size_t i = 0; i < followed->links.count; i++) {
		if (sbx_place_compare(followed->links.items[i], link) == 0)
			return true;
	}
	return false;
}

/* Whether a link is on the way to one of a rule's exceptions: an allow gives
 * nothing by it. */
static bool
is_excepted(const struct places *places, const struct sbx_path *path,
    struct sbx_place link)
{
	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &places->blob->exclusions[path->first_exclusion + i];
		struct sbx_place anchor = places->anchors[exclusion->anchor];
		const char *at = arena_printf(places->arena, "%.*s%s",
		    (int)anchor.len, anchor.path,
		    sbx_string(places->blob, exclusion->suffix));
		struct followed followed = here_follow(places->arena, at);

		if (has_link(&followed, link))
			return true;
	}
	return false;
}

static void
add_denied(struct places *places, const struct sbx_path *path,
    struct sbx_rule rule, struct sbx_place at)
{
	rule.at = at;
	*arena_push(places->arena,
	    &places->denied) = (struct denied_place){ path, rule };
}

/* The links on the way to what a rule denies may not be replaced. */
static void
deny_links(struct places *places, const struct sbx_path *path,
    const struct followed *way)
{
	struct sbx_rule rule = {
		.source = path->source,
		.effect = path->effect,
		.rights = SBX_WRITE,
	};

	for (size_t i = 0; i < way->links.count; i++)
		add_denied(places, path, rule, way->links.items[i]);
}

static void
deny_way(struct places *places, const struct sbx_path *path,
    struct sbx_place anchor)
{
	struct followed way = here_follow(places->arena,
	    arena_printf(places->arena, "%.*s%s", (int)anchor.len, anchor.path,
		sbx_string(places->blob, path->suffix)));

	deny_links(places, path, &way);
}

static void
deny_matches(struct places *places, const struct sbx_path *path,
    struct sbx_rule rule, const struct here_links *found)
{
	for (size_t i = 0; i < found->others.count; i++) {
		if (sbx_rule_covers(&rule, found->others.items[i]))
			add_denied(places, path, rule, found->others.items[i]);
	}
}

static void
allow_matches(struct places *places, struct sbx_rule rule,
    const struct here_links *found)
{
	for (size_t i = 0; i < found->others.count; i++) {
		if (sbx_rule_covers(&rule, found->others.items[i]))
			*arena_push(places->arena,
			    &places->matched) = found->others.items[i];
	}
}

static void
find_linked(struct places *places, const struct sbx_path *path, bool other_home)
{
	struct sbx_rule rule = places_rule(places, path, other_home);
	bool allows = path->effect == SBX_ALLOW;
	struct here_links links = { 0 };

	here_glob_links(places->arena, sbx_string(places->blob, path->glob),
	    rule.at, &links);
	if (allows)
		allow_matches(places, rule, &links);
	else
		deny_matches(places, path, rule, &links);
	for (size_t i = 0; i < links.list.count; i++) {
		struct sbx_place link = links.list.items[i];
		struct followed followed = here_follow(places->arena,
		    arena_strndup(places->arena, link.path, link.len));

		if (!sbx_rule_covers(&rule, link) ||
		    (allows &&
			(is_excepted(places, path, link) ||
			    places_way_planted(places, &followed))))
			continue;
		*arena_push(places->arena, &places->linked) =
		    (struct linked_match){ path, followed.place };
		if (!allows)
			deny_links(places, path, &followed);
		for (size_t j = 0; allows && j < followed.links.count; j++)
			*arena_push(places->arena,
			    &places->shown) = followed.links.items[j];
	}
}

void
places_find_linked(struct places *places)
{
	for (uint32_t i = 0; i < places->blob->path_count; i++) {
		const struct sbx_path *path = &places->blob->paths[i];

		if (places->named[path->anchor] ||
		    places_is_planted(places, path))
			continue;
		if (path->effect != SBX_ALLOW)
			deny_way(places, path, places->anchors[path->anchor]);
		if (places_rule_has_other(places, path))
			deny_way(places, path, places->other_home);
		if (path->glob == 0)
			continue;
		find_linked(places, path, false);
		if (places_rule_has_other(places, path))
			find_linked(places, path, true);
	}
}

bool
places_show_link(const struct places *places, struct sbx_place link)
{
	for (size_t i = 0; i < places->shown.count; i++) {
		if (sbx_place_compare(places->shown.items[i], link) == 0)
			return true;
	}
	return false;
}

bool
places_exception(const struct places *places, const struct sbx_path *path,
    struct sbx_place about, struct sbx_place *at)
{
	struct sbx_rule rule;

	if (!places->here || path->effect == SBX_ALLOW)
		return false;
	rule = places_rule(places, path, false);
	for (uint16_t i = 0; i < rule.exclusion_count; i++) {
		*at = rule.exclusions[i];
		if (sbx_covers(*at, about) && !here_has(*at))
			return true;
	}
	return false;
}

static void
keep(struct place_rules *rules, const struct sbx_path *path,
    struct sbx_rule rule)
{
	rules->paths[rules->count] = path;
	rules->rules[rules->count++] = rule;
}

/* An exception takes nothing out of a deny if nothing is there when the sandbox
 * starts.  A glob that does not match yet denies nothing either. */
static void
drop_absent_exclusions(const struct places *places, struct sbx_rule *rule,
    bool is_glob)
{
	struct sbx_place *kept = arena_alloc(places->arena,
	    (rule->exclusion_count + 1u) * sizeof *kept);
	uint16_t count = 0;

	if (is_glob && !here_has(rule->at))
		return;
	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		struct sbx_place at = rule->exclusions[i];

		if (places->named[places_anchor(places, at)] || here_has(at))
			kept[count++] = at;
	}
	rule->exclusions = kept;
	rule->exclusion_count = count;
}

const struct sbx_path *
places_rules_there(const struct places *places, struct place_rules *rules,
    bool denies)
{
	const struct sbx_path *absent = NULL;
	size_t count = rules->count;

	if (!places->here)
		return NULL;
	rules->count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct sbx_path *path = rules->paths[i];

		if (path->effect != SBX_ALLOW && path->exclusion_count > 0)
			drop_absent_exclusions(places, &rules->rules[i],
			    path->glob != 0);
		if (places_is_planted(places, path) ||
		    (!places->named[path->anchor] &&
			(path->effect == SBX_ALLOW || denies) &&
			!here_has(rules->rules[i].at)))
			absent = absent != NULL && path->effect == SBX_ALLOW &&
				absent->effect != SBX_ALLOW ?
			    absent :
			    path;
		else
			keep(rules, path, rules->rules[i]);
	}
	return absent;
}
