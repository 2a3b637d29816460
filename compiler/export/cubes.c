/*
 * A decision list over arguments as conditions of which exactly one holds.
 * libseccomp has no lists of which the first rule that holds decides, no
 * negation of a masked comparison, and one comparison for each argument; so the
 * arguments are cut into cubes: some bits of each have some values.
 */
#include "compiler/export/export.h"

struct cutting {
	struct arena *arena;
	const struct filter_entry *entry;
	uint32_t but;
	struct cubes *cubes;
};

enum holds { NEVER, PERHAPS, ALWAYS };

static enum holds
test_holds(const struct filter_test *test, const struct cube *cube)
{
	uint32_t fixed = cube->masks[test->arg];
	uint32_t value = cube->values[test->arg];

	if (((value ^ test->value) & fixed & test->mask) != 0 ||
	    (test->value & ~test->mask) != 0)
		return NEVER;
	return (test->mask & ~fixed) != 0 ? PERHAPS : ALWAYS;
}

static enum holds
clause_holds(const struct filter_clause *clause, const struct cube *cube)
{
	enum holds all = ALWAYS;

	for (size_t i = 0; i < clause->test_count; i++) {
		enum holds holds = test_holds(&clause->tests[i], cube);

		if (holds < all)
			all = holds;
	}
	return all;
}

/* What the list says if no clause decides that only perhaps holds. */
static uint32_t
sure_action(const struct filter_entry *entry, const struct cube *cube)
{
	for (size_t i = 0; i < entry->clause_count; i++) {
		if (clause_holds(&entry->clauses[i], cube) == ALWAYS)
			return entry->clauses[i].action;
	}
	return entry->action;
}

/*
 * The test to split at: the one of the fewest open bits, so that requests of
 * ioctl(2) are told apart by their type before all of their bits are.  NULL:
 * every call of the cube gets the same.
 */
static const struct filter_test *
open_test(const struct filter_entry *entry, const struct cube *cube,
    uint32_t sure)
{
	const struct filter_test *best = NULL;
	int fewest = 33;

	for (size_t i = 0; i < entry->clause_count; i++) {
		const struct filter_clause *clause = &entry->clauses[i];
		enum holds holds = clause_holds(clause, cube);

		if (holds == ALWAYS)
			break;
		if (holds == NEVER || clause->action == sure)
			continue;
		for (size_t j = 0; j < clause->test_count; j++) {
			const struct filter_test *test = &clause->tests[j];
			uint32_t open = test->mask & ~cube->masks[test->arg];

			if (open != 0 && __builtin_popcount(open) < fewest) {
				fewest = __builtin_popcount(open);
				best = test;
			}
		}
	}
	return best;
}

/* At most 32 bits of each argument are split, so this is as deep. */
static void
cut(struct cutting *cutting, struct cube cube)
{
	uint32_t sure = sure_action(cutting->entry, &cube), bit;
	const struct filter_test *test = open_test(cutting->entry, &cube, sure);

	if (test == NULL) {
		cube.action = sure;
		if (sure != cutting->but)
			*arena_push(cutting->arena,
			    &cutting->cubes->list) = cube;
		return;
	}
	bit = test->mask & ~cube.masks[test->arg];
	bit = UINT32_C(1) << (31 - __builtin_clz(bit));
	cube.masks[test->arg] |= bit;
	cut(cutting, cube);
	cube.values[test->arg] |= bit;
	cut(cutting, cube);
}

void
cubes_cut(struct arena *arena, const struct filter_entry *entry, uint32_t but,
    struct cubes *cubes)
{
	struct cutting cutting = { arena, entry, but, cubes };

	cut(&cutting, (struct cube){ .action = entry->action });
}
