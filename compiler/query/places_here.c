/* What this machine adds to places: see places_ask_machine(). */
#include "compiler/query/why.h"

#include "format/model.h"

#include <stdlib.h>
#include <string.h>

/* --- what the loader's binder says ---------------------------------------- */

/* A match of a glob, where it is found by its name or where a link leads. */
static void
add_match(struct places *places, const struct bound_path *bound)
{
	struct sbx_rule text = places_rule(places, bound->path, false);
	struct sbx_place at = bound->rule.at;
	struct sbx_glob glob;

	if (bound->path->effect == SBX_ALLOW)
		*arena_push(places->arena, &places->matched) = at;
	if (!sbx_glob_parse(sbx_string(places->blob, bound->path->glob),
		&glob) ||
	    sbx_glob_find(&glob, text.at, at).len != at.len)
		*arena_push(places->arena,
		    &places->linked) = (struct linked_match){ bound->path, at };
}

static void
add_rule(struct places *places, bool *planted, const struct bound_path *bound)
{
	const struct sbx_path *path = bound->path;

	if (bound->planted && path->glob == 0)
		planted[path - places->blob->paths] = true;
	if (bound->planted || bound->absent)
		return;
	if (path->glob != 0 && !bound->is_link)
		add_match(places, bound);
	if (path->effect != SBX_ALLOW && (path->glob != 0 || bound->is_link))
		*arena_push(places->arena, &places->denied) =
		    (struct denied_place){ path, bound->rule };
}

static void
take_bound(struct places *places, const struct bound *bound)
{
	const struct sbx_blob *blob = places->blob;
	bool *planted = arena_alloc(places->arena,
	    (blob->path_count + 1u) * sizeof *planted);

	for (uint32_t i = 0; i < bound->rule_count; i++)
		add_rule(places, planted, &bound->rules[i]);
	for (uint32_t i = 0; i < bound->glob_count; i++) {
		if (bound->globs[i].planted)
			planted[bound->globs[i].path - blob->paths] = true;
	}
	for (uint32_t i = 0; i < bound->link_count; i++)
		*arena_push(places->arena, &places->shown) = bound->links[i];
	places->planted = planted;
	for (uint32_t i = 0; i < blob->socket_count; i++) {
		const char *fault = places_socket_fault(places,
		    &blob->sockets[i]);

		if (blob->sockets[i].form == SBX_SOCKET_SSH_AGENT &&
		    fault != NULL)
			places->agent_fault = fault;
	}
}

static const struct bound *
ask_binder(const struct places *places)
{
	const struct sbx_blob *blob = places->blob;
	struct bind_question question = {
		.blob = blob,
		.workspace = places->finds ?
		    NULL :
		    places->named[SBX_ANCHOR_WORKSPACE] ?
		    "none" :
		    places->anchors[SBX_ANCHOR_WORKSPACE].path,
		.home = places->named[SBX_ANCHOR_HOME] ?
		    NULL :
		    places->anchors[SBX_ANCHOR_HOME].path,
		.scratch = places->anchors[SBX_ANCHOR_TMP],
	};
	const char **words = arena_alloc(places->arena,
	    (blob->anchor_count + 1u) * sizeof *words);

	for (uint16_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		if (!places->named[i])
			words[question.definition_count++] =
			    arena_printf(places->arena, "%s=%s",
				sbx_string(blob, blob->anchors[i].name),
				places->anchors[i].path);
	}
	question.definitions = words;
	return binder_ask(&question);
}

void
places_ask_machine(struct places *places)
{
	const char *agent = getenv("SSH_AUTH_SOCK");

	places->here = true;
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < places->blob->anchor_count;
	     i++) {
		if (!places->named[i])
			places_bind(places, (uint16_t)i,
			    places->anchors[i].path);
	}
	if (places->has_other_home)
		places_bind_other_home(places, places->other_home.path);
	if (agent != NULL && agent[0] == '/')
		places->agent = here_follow(places->arena, agent).place;
	places->bound = ask_binder(places);
	if (places->finds && places->bound->workspace.len > 0)
		places->anchors[SBX_ANCHOR_WORKSPACE] =
		    places->bound->workspace;
	if (places->bound->fault == NULL)
		take_bound(places, places->bound);
	places_reset_index(places);
}

const char *
places_socket_fault(const struct places *places,
    const struct sbx_socket *socket)
{
	const struct bound *bound = places->bound;

	for (uint32_t i = 0; bound != NULL && i < bound->socket_count; i++) {
		if (bound->sockets[i].socket == socket)
			return bound->sockets[i].fault;
	}
	return NULL;
}

bool
places_is_planted(const struct places *places, const struct sbx_path *path)
{
	return places->planted != NULL &&
	    places->planted[path - places->blob->paths];
}

bool
places_is_no_agent(const struct places *places, struct sbx_place path)
{
	return places->here && sbx_place_compare(path, places->agent) == 0 &&
	    strcmp(path.path, "/${ssh-agent}") == 0;
}

/* --- what is there -------------------------------------------------------- */

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
