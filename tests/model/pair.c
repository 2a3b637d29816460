/*
 * Two policies, what comparing them says, and all that there is to say of it in
 * the small world of universe.h.
 */
#include "tests/model/universe.h"

void
pair_make(struct pair *pair, struct arena *arena, const struct built *old,
    const struct built *new)
{
	*pair = (struct pair){
		.arena = arena,
		.comparison = {
			.arena = arena,
			.blobs = { &old->blob, &new->blob },
		},
		.built = { old, new },
	};
	compare(&pair->comparison);
}

/* What the reverse comparison says, with the words exchanged; but for a variable
 * that is no longer set, which is wider one way and neutral the other. */
static bool
check_mirror(struct pair *pair)
{
	const size_t *counts = pair->comparison.counts;
	struct pair mirror;

	pair_make(&mirror, pair->arena, pair->built[SIDE_NEW],
	    pair->built[SIDE_OLD]);
	for (size_t i = 0; i < pair->comparison.differences.count; i++) {
		if (pair->comparison.differences.items[i].kind ==
		    DIFFERENCE_SET)
			return true;
	}
	for (size_t i = 0; i < mirror.comparison.differences.count; i++) {
		if (mirror.comparison.differences.items[i].kind ==
		    DIFFERENCE_SET)
			return true;
	}
	if (mirror.comparison.counts[CHANGE_WIDER] == counts[CHANGE_NARROWER] &&
	    mirror.comparison.counts[CHANGE_NARROWER] == counts[CHANGE_WIDER])
		return true;
	return wrong(pair,
	    "%zu wider and %zu narrower, but the other way "
	    "round %zu and %zu",
	    counts[CHANGE_WIDER], counts[CHANGE_NARROWER],
	    mirror.comparison.counts[CHANGE_WIDER],
	    mirror.comparison.counts[CHANGE_NARROWER]);
}

bool
check_pair(struct pair *pair, struct chance *chance)
{
	const struct comparison *comparison = &pair->comparison;

	if (pair->built[SIDE_OLD] == pair->built[SIDE_NEW] &&
	    comparison->differences.count > 0)
		return wrong(pair, "a policy differs from itself: %s",
		    comparison->differences.items[0].what);
	for (size_t i = 0; i < comparison->differences.count; i++) {
		if (!check_witness(pair, &comparison->differences.items[i]))
			return false;
	}
	return check_paths(pair, chance) && check_paths(pair, chance) &&
	    check_ports(pair, chance) && check_env(pair, chance) &&
	    check_calls(pair, chance) && check_settings(pair) &&
	    (!chance_percent(chance, 10) || check_mirror(pair));
}
