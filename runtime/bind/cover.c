#include "runtime/bind/cover.h"

#include "runtime/bind/sort.h"

static struct sbx_place
place_at(const struct cover *cover, uint32_t index)
{
	return cover->rules[cover->sorted[index]].at;
}

static bool
place_before(const void *context, uint32_t a, uint32_t b)
{
	const struct sbx_rule *rules = context;

	return sbx_place_compare(rules[a].at, rules[b].at) < 0;
}

void
cover_room(struct cover *cover, struct arena *arena, uint32_t max)
{
	cover->sorted = arena_take(arena, max, sizeof *cover->sorted);
	cover->outer = arena_take(arena, max, sizeof *cover->outer);
}

void
cover_rules(struct cover *cover, const struct sbx_rule *rules, uint32_t count)
{
	cover->rules = rules;
	cover->count = count;
	cover->last = 0;
	for (uint32_t i = 0; i < count; i++)
		cover->sorted[i] = i;
	/* Until it is filled, `outer` is spare room. */
	sort(cover->sorted, count, cover->outer, place_before, rules);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t outer = i;

		while (outer > 0 &&
		    !sbx_covers(place_at(cover, outer - 1), place_at(cover, i)))
			outer = cover->outer[outer - 1];
		cover->outer[i] = outer;
	}
}

static bool
comes_after(const struct cover *cover, uint32_t index, struct sbx_place path)
{
	return index == cover->count ||
	    sbx_place_compare(place_at(cover, index), path) > 0;
}

/*
 * How many rules stand before the first whose place comes after the path.  Who
 * asks mostly asks for one path after the other.
 */
static uint32_t
find(struct cover *cover, struct sbx_place path)
{
	uint32_t low = 0, high = cover->count;

	for (uint32_t i = cover->last; i <= cover->count && i < cover->last + 2;
	     i++) {
		if ((i == 0 || !comes_after(cover, i - 1, path)) &&
		    comes_after(cover, i, path))
			return cover->last = i;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (comes_after(cover, middle, path))
			high = middle;
		else
			low = middle + 1;
	}
	return cover->last = low;
}

bool
cover_allows(struct cover *cover, uint8_t right, struct sbx_place path)
{
	bool allowed = false;

	/* All that covers the path is on this way, and more. */
	for (uint32_t i = find(cover, path); i > 0; i = cover->outer[i - 1]) {
		struct sbx_verdict verdict =
		    sbx_path_verdict(&cover->rules[cover->sorted[i - 1]], 1,
			right, path);

		if (verdict.reason == SBX_BECAUSE_DENIED)
			return false;
		allowed |= sbx_verdict_allows(verdict);
	}
	return allowed;
}

bool
cover_gives(struct cover *cover, uint8_t right, struct sbx_place path)
{
	for (uint32_t i = find(cover, path); i > 0; i = cover->outer[i - 1]) {
		const struct sbx_rule *rule =
		    &cover->rules[cover->sorted[i - 1]];

		if (rule->effect == SBX_ALLOW && (rule->rights & right) &&
		    sbx_covers(rule->at, path))
			return true;
	}
	return false;
}
