/*
 * What the path rules of a policy say at each place: which of them cover it.
 * The rules are in an index (format/index.c) for each anchor, since where an
 * anchor lies is not known before the policy is bound.  Of each rule it is
 * found out once what the rules around it cover: those above its place, and
 * those at its place that are stronger.  So no question goes through all rules,
 * however many there are at one place.
 *
 * A rule with a glob applies to less than its place and what lies in it: others
 * may cover it, and it covers nothing here.
 */
#include "compiler/check/check.h"

#include "compiler/policy/kind.h"

#include <string.h>

enum { MAX_ASKED = 8 }; /* rules with exclusions, about one other rule */

/* --- the index ------------------------------------------------------------ */

/* Which of two rules at one place is looked at first: denies before allows,
 * then the one that says more, then what is inherited. */
static int
compare_strength(const struct path_rule *a, const struct path_rule *b)
{
	static const int rank[] = {
		[SBX_DENY] = 0,
		[SBX_PREFER_DENY] = 1,
		[SBX_ALLOW] = 2,
	};
	int order = rank[a->effect] - rank[b->effect];

	if (order == 0)
		order = (a->exclusion_count != 0) - (b->exclusion_count != 0);
	if (order == 0)
		order = __builtin_popcount(b->rights) -
		    __builtin_popcount(a->rights);
	if (order == 0)
		order = __builtin_popcount(b->origin.platforms) -
		    __builtin_popcount(a->origin.platforms);
	return order == 0 ? a->origin.own - b->origin.own : order;
}

static bool
is_stronger(const void *context, uint32_t a, uint32_t b)
{
	const struct path_rule *rules = context;
	int order = glob_compare(rules[a].glob, rules[b].glob);

	return order != 0 ? order < 0 :
			    compare_strength(&rules[a], &rules[b]) < 0;
}

static struct sbx_place
suffix_place(struct target at)
{
	return sbx_place_of(at.suffix);
}

/* An index for each anchor, all in one piece of memory. */
static void
grants_sort(struct grants *grants)
{
	const struct policy *policy = grants->policy;
	size_t count = policy->paths.count, used = 0;
	struct sbx_place *places = arena_alloc(policy->arena,
	    (count + 1) * sizeof *places);
	uint32_t *room = arena_alloc(policy->arena,
	    (2 * count + 1) * sizeof *room);

	for (size_t i = 0; i < count; i++) {
		places[i] = suffix_place(policy->paths.items[i].at);
		grants->of[policy->paths.items[i].at.anchor].count++;
	}
	for (size_t i = 0; i < SBX_MAX_ANCHORS; i++) {
		struct sbx_index *index = &grants->of[i];

		index->records = places;
		index->size = sizeof *places;
		index->tie = is_stronger;
		index->tie_context = policy->paths.items;
		index->sorted = room + used;
		index->outer = room + count + used;
		used += index->count;
		index->count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct sbx_index *index =
		    &grants->of[policy->paths.items[i].at.anchor];

		index->sorted[index->count++] = (uint32_t)i;
	}
	for (size_t i = 0; i < SBX_MAX_ANCHORS; i++)
		sbx_index_make(&grants->of[i]);
}

/* --- coverage ------------------------------------------------------------- */

static bool
is_asked(const struct path_rule *rule, enum cover cover)
{
	switch (cover) {
	case COVER_ALLOW:
		return rule->effect == SBX_ALLOW;
	case COVER_DENY:
		return rule->effect == SBX_DENY;
	case COVER_HELD_DENY:
		return rule->effect == SBX_DENY ||
		    (rule->effect == SBX_PREFER_DENY &&
			rule->rights != SBX_WRITE);
	case COVER_ANY_DENY:
	case COVER_END:
		break;
	}
	return rule->effect != SBX_ALLOW;
}

/*
 * Platforms and rights as bits of one number: bit 3 * platform + right.  It
 * numbers the entries of coverage.by, too.
 */
static uint32_t
cells_of(uint8_t platforms, uint8_t rights)
{
	uint32_t cells = 0;

	for (unsigned i = 0; i < PLATFORM_COUNT; i++) {
		if ((platforms >> i & 1) != 0)
			cells |= (uint32_t)(rights & SBX_RIGHTS)
			    << RIGHT_COUNT * i;
	}
	return cells;
}

static void
coverage_add(struct coverage *coverage, const struct path_rule *rule,
    uint32_t number)
{
	if (rule->glob != NULL)
		return;
	if (rule->exclusion_count > 0) {
		coverage->excepting = number;
		return;
	}
	for (enum cover cover = 0; cover < COVER_END; cover++) {
		uint32_t cells = is_asked(rule, cover) ?
		    cells_of(rule->origin.platforms, rule->rights) :
		    0;

		for (; cells != 0; cells &= cells - 1) {
			unsigned cell = (unsigned)__builtin_ctz(cells);

			if (coverage->by[cover][cell] == 0)
				coverage->by[cover][cell] = number;
		}
	}
}

void
grants_init(struct grants *grants, const struct policy *policy)
{
	struct arena *arena = policy->arena;

	*grants = (struct grants){
		.policy = policy,
		.of = arena_alloc(arena, SBX_MAX_ANCHORS * sizeof *grants->of),
		.coverages = arena_alloc(arena,
		    (policy->paths.count + 1) * sizeof *grants->coverages),
	};
	grants_sort(grants);
	for (size_t i = 0; i < SBX_MAX_ANCHORS; i++) {
		const struct sbx_index *index = &grants->of[i];

		for (uint32_t at = 0; at < index->count; at++) {
			uint32_t rule = index->sorted[at];
			struct coverage *coverage = &grants->coverages[rule];

			if (index->outer[at] > 0) {
				uint32_t around =
				    index->sorted[index->outer[at] - 1];

				*coverage = grants->coverages[around];
				coverage->around = around + 1;
			}
			coverage_add(coverage, &policy->paths.items[rule],
			    rule + 1);
		}
	}
}

/* --- rules with exclusions ------------------------------------------------ */

static const struct path_rule *
rule_of(const struct grants *grants, uint32_t number)
{
	return &grants->policy->paths.items[number - 1];
}

/* The nearest rule with exclusions around rule `number`. */
static uint32_t
excepting_around(const struct grants *grants, uint32_t number)
{
	uint32_t around = grants->coverages[number - 1].around;

	return around == 0 ? 0 : grants->coverages[around - 1].excepting;
}

/* How many of the rule's exclusions, which are sorted and apart, are at the
 * place or come before it. */
static size_t
exclusions_before(const struct path_rule *rule, struct target at)
{
	size_t low = 0, high = rule->exclusion_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (target_compare(rule->exclusions[middle], at) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
rule_applies(const struct path_rule *rule, struct target at)
{
	size_t before;

	if (!target_covers(rule->at, at))
		return false;
	before = exclusions_before(rule, at);
	return before == 0 || !target_covers(rule->exclusions[before - 1], at);
}

/* Whether an exclusion of the rule lies at, above or below a place, or may
 * do. */
static bool
exclusion_touches(const struct path_rule *rule, struct target at)
{
	size_t before, count = rule->exclusion_count;

	if (rule->exclusions[0].anchor != at.anchor ||
	    rule->exclusions[count - 1].anchor != at.anchor)
		return true;
	before = exclusions_before(rule, at);
	return (before > 0 &&
		   target_covers(rule->exclusions[before - 1], at)) ||
	    (before < count && target_covers(at, rule->exclusions[before]));
}

bool
same_exclusions(const struct path_rule *a, const struct path_rule *b)
{
	if (a->exclusion_count != b->exclusion_count)
		return false;
	for (size_t i = 0; i < a->exclusion_count; i++) {
		if (target_compare(a->exclusions[i], b->exclusions[i]) != 0)
			return false;
	}
	return true;
}

/* One of them that covers all of the rule. */
static uint32_t
excepting_cover(const struct grants *grants, uint32_t number, enum cover cover,
    uint8_t rights)
{
	const struct path_rule *rule = rule_of(grants, number);
	uint32_t other = excepting_around(grants, number);

	for (size_t asked = 0; other != 0 && asked < MAX_ASKED;
	     asked++, other = excepting_around(grants, other)) {
		const struct path_rule *candidate = rule_of(grants, other);

		if (is_asked(candidate, cover) &&
		    (rights & ~candidate->rights) == 0 &&
		    (rule->origin.platforms & ~candidate->origin.platforms) ==
			0 &&
		    (!exclusion_touches(candidate, rule->at) ||
			(target_compare(candidate->at, rule->at) == 0 &&
			    same_exclusions(candidate, rule))))
			return other;
	}
	return 0;
}

/* --- questions ------------------------------------------------------------ */

uint32_t
grants_cover(const struct grants *grants, size_t index, enum cover cover,
    uint8_t rights)
{
	const struct path_rule *rule = &grants->policy->paths.items[index];
	uint32_t around = grants->coverages[index].around, found = 0;
	uint32_t cells = cells_of(rule->origin.platforms, rights);

	if (around == 0)
		return 0;
	for (; cells != 0; cells &= cells - 1) {
		found = grants->coverages[around - 1]
			    .by[cover][__builtin_ctz(cells)];
		if (found == 0)
			return excepting_cover(grants, (uint32_t)index + 1,
			    cover, rights);
	}
	return found;
}

/* What covers a place; NULL: nothing. */
static const struct coverage *
coverage_at(const struct grants *grants, struct target at)
{
	struct sbx_index *index = &grants->of[at.anchor];
	uint32_t position = sbx_index_find(index, suffix_place(at));

	return position == 0 ? NULL :
			       &grants->coverages[index->sorted[position - 1]];
}

enum cover
grants_held(const struct grants *grants)
{
	return grants->policy->level == SBX_LEVEL_FULL ? COVER_ANY_DENY :
							 COVER_HELD_DENY;
}

bool
grants_denied(const struct grants *grants, uint8_t platforms, uint8_t right,
    struct target at)
{
	const struct coverage *coverage = coverage_at(grants, at);
	enum cover cover = grants_held(grants);
	uint32_t missing = cells_of(platforms, right);

	if (coverage == NULL)
		return missing == 0;
	for (uint32_t cells = missing; cells != 0; cells &= cells - 1) {
		unsigned cell = (unsigned)__builtin_ctz(cells);

		if (coverage->by[cover][cell] != 0)
			missing &= ~(UINT32_C(1) << cell);
	}
	for (uint32_t other = coverage->excepting; other != 0 && missing != 0;
	     other = excepting_around(grants, other)) {
		const struct path_rule *rule = rule_of(grants, other);

		if (is_asked(rule, cover) && rule_applies(rule, at))
			missing &= ~cells_of(rule->origin.platforms,
			    rule->rights);
	}
	return missing == 0;
}

const struct path_rule *
grants_allow(const struct grants *grants, uint8_t platforms, uint8_t rights,
    struct target at)
{
	const struct coverage *coverage = coverage_at(grants, at);
	const struct path_rule *found = NULL;

	if (coverage == NULL)
		return NULL;
	for (uint32_t cells = cells_of(platforms, rights); cells != 0;
	     cells &= cells - 1) {
		uint32_t number =
		    coverage->by[COVER_ALLOW][__builtin_ctz(cells)];

		if (number != 0 &&
		    (found == NULL ||
			target_covers(rule_of(grants, number)->at, found->at)))
			found = rule_of(grants, number);
	}
	for (uint32_t other = coverage->excepting; other != 0;
	     other = excepting_around(grants, other)) {
		const struct path_rule *rule = rule_of(grants, other);

		if (rule->effect == SBX_ALLOW && (rule->rights & rights) != 0 &&
		    (rule->origin.platforms & platforms) != 0 &&
		    rule_applies(rule, at) &&
		    (found == NULL || target_covers(rule->at, found->at)))
			found = rule;
	}
	return found;
}
