/*
 * `except`: the exclusions of one statement about paths, and those of them that
 * each of its paths gets.
 */
#include "compiler/policy/kind.h"

#include <stdlib.h>
#include <string.h>

/* A blob holds fewer; these may be for other platforms, or inside others. */
enum { MAX_EXCLUSIONS = 4 * SBX_MAX_RULES };

/* Whether an exclusion lies where the rule speaks, as far as that is known
 * here. */
static bool
is_exclusion_of(const struct path_rule *rule, struct target exclusion)
{
	if (exclusion.anchor != rule->at.anchor)
		return true;
	if (!target_covers(rule->at, exclusion))
		return false;
	return rule->glob == NULL ||
	    glob_touches(rule->glob,
		exclusion.suffix + strlen(rule->at.suffix));
}

static int
exclusions_compare(const void *a, const void *b)
{
	const struct exclusion *const *x = a, *const *y = b;

	return target_compare((*x)->place.at, (*y)->place.at);
}

/* The first of the sorted exclusions that is not before a place. */
static size_t
exclusion_from(const struct exclusions *exclusions, struct target at)
{
	size_t low = 0, high = exclusions->list.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (target_compare(exclusions->sorted[middle]->place.at, at) <
		    0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether this very place is an exclusion; marks it. */
static bool
is_excluded(struct exclusions *exclusions, struct target at, uint8_t platforms)
{
	size_t i = exclusion_from(exclusions, at);
	bool found = false;

	for (; i < exclusions->list.count &&
	     target_compare(exclusions->sorted[i]->place.at, at) == 0;
	     i++) {
		if ((exclusions->sorted[i]->place.platforms & platforms) == 0)
			continue;
		exclusions->sorted[i]->used = true;
		found = true;
	}
	return found;
}

/* Whether an exclusion swallows the path: it is the same place, or above it. */
static bool
is_swallowed(struct exclusions *exclusions, const struct path_rule *rule)
{
	size_t len = strlen(rule->at.suffix);
	char *suffix = arena_strndup(exclusions->expansion->arena,
	    rule->at.suffix, len);
	struct target at = { suffix, rule->at.anchor };

	while (!is_excluded(exclusions, at, rule->origin.platforms)) {
		if (len == 0)
			return false;
		while (suffix[--len] != '/')
			;
		suffix[len] = '\0';
	}
	return true;
}

/* Adds those of some exclusions that are about the rule and in none of its
 * others, which are sorted too. */
static void
exclusions_add(struct exclusions *exclusions, struct path_rule *rule,
    struct target *targets, const size_t range[2])
{
	uint16_t *count = &rule->exclusion_count;

	for (size_t i = range[0]; i < range[1]; i++) {
		struct exclusion *exclusion = exclusions->sorted[i];
		struct target at = exclusion->place.at;

		if ((exclusion->place.platforms & rule->origin.platforms) ==
			0 ||
		    !is_exclusion_of(rule, at))
			continue;
		exclusion->used = true;
		if (*count == 0 || !target_covers(targets[*count - 1], at))
			targets[(*count)++] = at;
	}
}

/* Each rule has its own exclusions: a statement gives the product. */
static bool
has_room(struct exclusions *exclusions, const struct path_rule *rule,
    size_t count)
{
	struct expansion *expansion = exclusions->expansion;

	expansion->exclusions += count;
	if (expansion->exclusions <= MAX_EXCLUSIONS)
		return true;
	if (!expansion->full)
		diag_add(expansion->diags, DIAG_TOO_MANY, rule->origin.loc,
		    "more than %d exceptions", MAX_EXCLUSIONS);
	expansion->full = true;
	return false;
}

/*
 * The exclusions of one path, sorted and none inside another; false if one of
 * them swallows the path.  Those of another anchor may lie below it too.
 */
bool
exclusions_cut(struct exclusions *exclusions, struct path_rule *rule)
{
	const struct target anchor = { "", rule->at.anchor };
	const struct target next = { "", (uint16_t)(rule->at.anchor + 1) };
	size_t all = exclusions->list.count, end;
	struct target *targets;

	if (all == 0)
		return true;
	if (is_swallowed(exclusions, rule))
		return false;
	size_t own[2] = { exclusion_from(exclusions, rule->at), 0 };
	size_t before[2] = { 0, exclusion_from(exclusions, anchor) };
	size_t behind[2] = { exclusion_from(exclusions, next), all };
	for (end = own[0]; end < behind[0] &&
	     target_covers(rule->at, exclusions->sorted[end]->place.at);)
		end++;
	own[1] = end;
	if (!has_room(exclusions, rule,
		before[1] + end - own[0] + all - behind[0]))
		return true;
	targets = arena_alloc(exclusions->expansion->arena,
	    (before[1] + end - own[0] + all - behind[0]) * sizeof *targets);
	rule->exclusions = targets;
	exclusions_add(exclusions, rule, targets, before);
	exclusions_add(exclusions, rule, targets, own);
	exclusions_add(exclusions, rule, targets, behind);
	return true;
}

bool
exclusions_differ(const struct exclusions *exclusions, uint8_t platforms)
{
	return (platforms & ~exclusions->platforms) != 0;
}

static void
exclusions_sort(struct exclusions *exclusions)
{
	size_t count = exclusions->list.count;

	exclusions->sorted = arena_alloc(exclusions->expansion->arena,
	    count * sizeof *exclusions->sorted);
	for (size_t i = 0; i < count; i++) {
		exclusions->sorted[i] = &exclusions->list.items[i];
		exclusions->platforms &= exclusions->sorted[i]->place.platforms;
	}
	if (count > 1)
		qsort(exclusions->sorted, count, sizeof *exclusions->sorted,
		    exclusions_compare);
}

bool
exclusions_read(struct exclusions *exclusions, struct expansion *expansion,
    const struct ast_stmt *stmt, uint8_t platforms)
{
	struct scope *scope = &expansion->scope;
	bool good = true;

	exclusions->expansion = expansion;
	exclusions->platforms = SBX_ON_ALL;
	for (const struct ast_atom *atom = stmt->exclusions.first; atom != NULL;
	     atom = atom->next) {
		struct place_list list = { 0 };

		good &= scope_paths(scope, atom, platforms, &list);
		for (size_t i = 0; i < list.places.count; i++)
			*arena_push(scope->arena,
			    &exclusions->list) = (struct exclusion){
				.place = list.places.items[i],
				.atom = atom,
			};
	}
	if (exclusions->list.count <= UINT16_MAX) {
		exclusions_sort(exclusions);
		return good;
	}
	diag_add(scope->diags, DIAG_TOO_MANY, stmt->exclusions.loc,
	    "more than %d holes in one rule", UINT16_MAX);
	return false;
}

/* An object with several paths cuts something if one of them does. */
void
exclusions_report(const struct exclusions *exclusions,
    const struct ast_stmt *stmt)
{
	const struct ast_atom *atom = stmt->exclusions.first;
	struct diags *diags = exclusions->expansion->diags;
	size_t i = 0;

	for (; atom != NULL; atom = atom->next) {
		bool used = false;
		struct diag *diag;

		for (; i < exclusions->list.count &&
		     exclusions->list.items[i].atom == atom;
		     i++)
			used |= exclusions->list.items[i].used;
		if (used)
			continue;
		diag = diag_add(diags, DIAG_EXCLUSION_OUTSIDE, atom->loc,
		    "'%s' is not below any path of this rule", atom->text);
		diag_help(diag,
		    "'except' cuts places out of the "
		    "paths that stand before it");
	}
}
