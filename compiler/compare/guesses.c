/* See lookup.h. */
#include "compiler/compare/lookup.h"
#include "compiler/query/glob_list.h"

#include <string.h>

/* All globs that may match below the directory, for the guesses about it. */
static struct bundle *
bundle_get(const struct lookup *lookup)
{
	const struct walk *walk = lookup->walk;
	struct search *search = lookup->search;

	if (search->bundle != NULL)
		return search->bundle;
	search->bundle = bundle_make();
	search->nameless = 0;
	for (size_t i = walk_first_live(walk); i < walk->lives.count; i++) {
		const struct live *live = &walk->lives.items[i];
		const struct merged_rule *rule = walk->bounds[live->bound].rule;

		if (walk->excluded[live->bound] == 0)
			bundle_add(search->bundle, rule, live->states,
			    rule_facts(rule, walk->right));
		search->nameless += !glob_is_named(rule->glob);
	}
	walk->pass->comparison->work += STATE_WORK *
	    (walk->lives.count - walk_first_live(walk));
	return search->bundle;
}

/* The plainest names that a glob matches; how many, or 0 if they will not do. */
static size_t
guess_make(struct lookup *lookup, const struct merged_rule *rule,
    const char *star, const char *names[SBX_MAX_GLOB])
{
	size_t count = 0;

	for (uint32_t i = 0; i < rule->glob->count; i++) {
		const char *name;

		if (rule->glob->any >> i & 1)
			continue;
		name = name_sample(lookup->search->arena,
		    &lookup->walk->rules->parts.items[rule->parts[i]], star);
		if (*name == '\0' ||
		    (count == 0 && lookup_takes(lookup, name, strlen(name))))
			return 0;
		names[count++] = name;
	}
	return count;
}

/*
 * The plainest path that a glob matches.  Most of the time that is a witness,
 * and then nothing has to be searched for.
 */
static bool
guess_try(struct lookup *lookup, struct live live, const struct reached *first,
    const char *star)
{
	const struct merged_rule *rule = lookup->walk->bounds[live.bound].rule;
	struct comparison *comparison = lookup->walk->pass->comparison;
	const char *names[SBX_MAX_GLOB];
	size_t count = guess_make(lookup, rule, star, names);
	struct reached state = *first;
	const char *path;

	path = arena_strndup(lookup->search->arena, lookup->walk->path,
	    lookup->walk->len);
	for (size_t i = 0; i < count; i++) {
		live.states = sbx_glob_step(rule->glob, live.states, names[i],
		    strlen(names[i]));
		state.covered |= live.bound == lookup->bound &&
		    sbx_glob_matches(rule->glob, live.states);
		path = arena_printf(lookup->search->arena, "%s/%s", path,
		    names[i]);
	}
	if (count == 0 || !state.covered)
		return false;
	state.facts |= bundle_facts(bundle_get(lookup), lookup->rule, names,
			   count, &comparison->work) &
	    lookup_facts(lookup);
	if (!lookup_differs(lookup, &state))
		return false;
	/* The verdict function tries each of them. */
	comparison->work += lookup->search->nameless;
	return walk_note(lookup->walk, lookup->rule, path,
	    (uint32_t)strlen(path), false);
}

/* By the rule's own glob; for a rule that covers all, by some of the others. */
bool
lookup_guess(struct lookup *lookup, const struct reached *first, size_t own)
{
	enum { MOST_GUESSES = 16 };
	const struct walk *walk = lookup->walk;
	size_t begin = first->covered ? walk_first_live(walk) : own;
	size_t end = first->covered ? walk->lives.count : own + 1;
	unsigned guesses = 0;

	for (size_t i = begin; i < end && guesses < MOST_GUESSES; i++) {
		struct live live = walk->lives.items[i];

		if (walk->excluded[live.bound] != 0)
			continue;
		if (guess_try(lookup, live, first, "x") ||
		    guess_try(lookup, live, first, ""))
			return true;
		guesses++;
	}
	return false;
}
