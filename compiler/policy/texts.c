/*
 * Path rules as they are written, for diagnostics; those of all kinds have
 * rule_text() (kind.h).  Texts lie in the policy's arena.
 */
#include "compiler/policy/policy.h"

#include "compiler/policy/kind.h"
#include "compiler/tables/tables.h"

#include <string.h>

enum { MAX_EXCLUSIONS = 4 }; /* that are spelled out */

/* " except /a", " except { /a /b }", or nothing. */
static const char *
exclusions_text(const struct policy *policy, const struct path_rule *rule,
    const struct target *more)
{
	size_t count = rule->exclusion_count + (more != NULL);
	const char *text = "";

	for (size_t i = 0; i < rule->exclusion_count && i < MAX_EXCLUSIONS; i++)
		text = arena_printf(policy->arena, "%s %s", text,
		    policy_target_text(policy, rule->exclusions[i]));
	if (rule->exclusion_count > MAX_EXCLUSIONS)
		text = arena_printf(policy->arena, "%s ...", text);
	if (more != NULL)
		text = arena_printf(policy->arena, "%s %s", text,
		    policy_target_text(policy, *more));
	if (count == 0)
		return "";
	return arena_printf(policy->arena,
	    count == 1 ? " except%s" : " except {%s }", text);
}

/* "/srv/x", or "glob "/srv/x*"". */
const char *
path_rule_object(const struct policy *policy, const struct path_rule *rule)
{
	const char *place = policy_target_text(policy, rule->at);

	if (rule->glob == NULL)
		return place;
	return arena_printf(policy->arena, "glob \"%s%s\"",
	    strcmp(place, "/") == 0 ? "" : place, rule->glob);
}

const char *
path_rule_text(const struct policy *policy, const struct path_rule *rule,
    const struct target *more)
{
	return arena_printf(policy->arena, "%s %s%s",
	    path_words(policy->arena, rule->effect, rule->rights),
	    path_rule_object(policy, rule),
	    exclusions_text(policy, rule, more));
}

size_t
path_object_end(const struct policy *policy, size_t index)
{
	uint32_t begin = policy->paths.items[index].origin.loc.begin;

	while (index < policy->paths.count &&
	    policy->paths.items[index].origin.loc.begin == begin)
		index++;
	return index;
}

const char *
path_object_text(const struct policy *policy, size_t index, size_t end)
{
	struct path_rule rule = policy->paths.items[index];
	const struct source *source = sources_find(policy->sources,
	    rule.origin.loc);
	uint32_t len = rule.origin.loc.end - rule.origin.loc.begin;

	rule.exclusion_count = 0;
	if (end - index > 1 && source != NULL) {
		rule.glob = NULL;
		rule.at.anchor = SBX_ANCHOR_ROOT;
		rule.at.suffix = arena_strndup(policy->arena,
		    source->text + (rule.origin.loc.begin - source->base), len);
	}
	return path_rule_text(policy, &rule, NULL);
}

const char *
rule_text(const struct policy *policy, const struct rule *rule)
{
	const struct rule_kind *kind = rule_kinds[rule->kind];
	const char *words = what_words(rule->kind, rule->detail);
	struct rule_object object;

	if (kind->text != NULL)
		return kind->text(policy, rule);
	if (kind->object == NULL)
		return arena_printf(policy->arena, "%s %s",
		    effect_word(rule->effect), words);
	kind->object(rule, &object);
	return arena_printf(policy->arena, "%s %s %s%s",
	    effect_word(rule->effect), words,
	    object.kind == AST_GROUP ? "@" : "", object.text);
}
