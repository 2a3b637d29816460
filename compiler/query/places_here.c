/* What this machine adds to places: see places_ask_machine(). */
#include "compiler/query/places.h"

/* The view has the links that lead to what is allowed. */
void
places_find_planted(struct places *places)
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
			    &places->planted) = followed.links.items[j];
	}
}

bool
places_show_link(const struct places *places, struct sbx_place link)
{
	for (size_t i = 0; i < places->planted.count; i++) {
		if (sbx_place_compare(places->planted.items[i], link) == 0)
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

		if (!places->named[path->anchor] &&
		    (path->effect == SBX_ALLOW || denies) &&
		    !here_has(rules->rules[i].at))
			absent = path;
		else
			keep(rules, path, rules->rules[i]);
	}
	return absent;
}
