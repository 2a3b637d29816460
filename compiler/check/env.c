/*
 * Checks of variables.  Exact names are looked up; patterns with a star are
 * few, and asked one by one.
 */
#include "compiler/check/check.h"

#include "format/model.h"

#include <string.h>

enum { MAX_PATTERNS = 64 };

/* What is denied: names, and patterns with a star in them. */
struct denied_env {
	struct map names; /* to struct env_rule */
	const struct env_rule *patterns[MAX_PATTERNS];
	size_t count;
};

static void
denied_gather(const struct checker *checker, struct denied_env *denied)
{
	memset(denied, 0, sizeof *denied);
	for (size_t i = 0; i < checker->policy->env.count; i++) {
		struct env_rule *rule = &checker->policy->env.items[i];

		if (rule->effect == SBX_ALLOW)
			continue;
		map_put(checker->arena, &denied->names, rule->pattern, rule);
		if (strchr(rule->pattern, '*') != NULL &&
		    denied->count < MAX_PATTERNS)
			denied->patterns[denied->count++] = rule;
	}
}

/* A deny that holds for this name or pattern wherever it is meant. */
static const struct env_rule *
denied_find(const struct denied_env *denied, const char *name,
    uint8_t platforms)
{
	const struct env_rule *rule = map_find(&denied->names, name);

	if (rule != NULL && (platforms & ~rule->origin.platforms) == 0)
		return rule;
	for (size_t i = 0; i < denied->count; i++) {
		rule = denied->patterns[i];
		if ((platforms & ~rule->origin.platforms) == 0 &&
		    strchr(name, '*') == NULL &&
		    sbx_pattern_match(rule->pattern, name, strlen(name)))
			return rule;
	}
	return NULL;
}

static void
note_env(struct checker *checker, struct diag *diag,
    const struct env_rule *rule)
{
	diag_note(checker->diags, diag, rule->origin.loc,
	    "'%s' of '%s' is here", env_rule_text(checker->policy, rule),
	    rule->origin.via);
}

/* The same pattern again; what is inherited counts as first. */
void
check_env_duplicate(struct checker *checker)
{
	struct map seen[SBX_EFFECT_END] = { 0 };

	for (int own = 0; own <= 1; own++) {
		for (size_t i = 0; i < checker->policy->env.count; i++) {
			struct env_rule *rule = &checker->policy->env.items[i];
			struct map *map = &seen[rule->effect];
			const struct env_rule *first = map_find(map,
			    rule->pattern);

			if (rule->origin.own != (own == 1))
				continue;
			if (first == NULL)
				map_put(checker->arena, map, rule->pattern,
				    rule);
			else if (own == 1 &&
			    (rule->origin.platforms &
				~first->origin.platforms) == 0)
				note_env(checker,
				    check_report(checker, rule->origin.loc,
					"duplicate rule '%s'",
					env_rule_text(checker->policy, rule)),
				    first);
		}
	}
}

void
check_env_denied(struct checker *checker)
{
	struct denied_env denied;

	denied_gather(checker, &denied);
	for (size_t i = 0; i < checker->policy->env.count; i++) {
		const struct env_rule *rule = &checker->policy->env.items[i];
		const struct env_rule *deny;
		struct diag *diag;

		if (rule->effect != SBX_ALLOW || !rule->origin.own)
			continue;
		deny = denied_find(&denied, rule->pattern,
		    rule->origin.platforms);
		if (deny == NULL)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' has no effect: it is denied",
		    env_rule_text(checker->policy, rule));
		diag_help(checker->diags, diag,
		    "deny beats allow: delete or drop one of the two");
		note_env(checker, diag, deny);
	}
}

void
check_set_denied(struct checker *checker)
{
	struct denied_env denied;

	denied_gather(checker, &denied);
	for (size_t i = 0; i < checker->policy->set.count; i++) {
		const struct set_rule *set = &checker->policy->set.items[i];
		const struct env_rule *deny = denied_find(&denied, set->name,
		    set->origin.platforms);
		struct diag *diag;

		if (deny == NULL || !set->origin.own)
			continue;
		diag = check_report(checker, set->origin.loc,
		    "'%s' is denied, and set all the same", set->name);
		diag_help(checker->diags, diag,
		    "'deny env' is about the "
		    "caller's variables; this value is part of the policy");
		note_env(checker, diag, deny);
	}
}
