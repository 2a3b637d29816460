/*
 * What compiler/compare/compare.h says of two policies, against asking about
 * everything there is in a small world.
 *
 *	compare [SEED [PAIRS]]
 *	compare --witnesses SEED COUNT BASE PROBE
 *
 * Policies are made at random, in families: each is the one before with a few
 * rules changed.  Two of a family are compared, and then each access of a
 * finite universe (paths in every binding, ports, system calls with arguments,
 * names of variables) is put to verdict_of() for both.  Whatever differs must
 * have been reported, as wider or narrower, with a rule that speaks of it; and
 * each witness that was reported must differ when it is asked about.  What the
 * first lets through more is what the second lets through less, so the
 * comparison the other way round must say the same with the words exchanged.
 *
 * With --witnesses it writes pairs of blobs about the tree BASE and says on
 * which paths and ports they differ, for a script that tries them in the
 * kernel.
 */
#include "tests/lib/tap.h"
#include "tests/model/compare_kernel.h"
#include "tests/model/universe.h"

enum {
	PAIRS = 5000,
	FAMILY = 12, /* policies, each from the one before */
};

static void
pair_print(const struct pair *pair, const struct style *style)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		char text[TEXT_SIZE];
		size_t size = draft_print(&pair->built[side]->draft, style,
		    text);

		printf("# --- %s\n", side == SIDE_OLD ? "old" : "new");
		for (size_t i = 0; i < size; i++) {
			if (i == 0 || text[i - 1] == '\n')
				fputs("# ", stdout);
			putchar(text[i]);
		}
	}
	for (size_t i = 0; i < pair->comparison.differences.count; i++) {
		const struct difference *difference =
		    &pair->comparison.differences.items[i];

		printf("# %s: %s\n", change_word(difference->change),
		    difference->what);
	}
}

struct totals {
	size_t pairs, witnesses, kinds[DIFFERENCE_END];
};

static void
count_pair(const struct pair *pair, struct totals *totals)
{
	totals->pairs++;
	for (size_t i = 0; i < pair->comparison.differences.count; i++) {
		const struct difference *difference =
		    &pair->comparison.differences.items[i];

		totals->kinds[difference->kind]++;
		totals->witnesses += difference->witnessed;
	}
}

/* A family, each of which is compared with what it was made from, with itself
 * and with others.  False after printing a pair that is wrong. */
static bool
family_run(struct chance *chance, size_t *pairs, struct totals *totals)
{
	static const struct style style = { .base = "" };
	struct arena *arena = arena_new();
	struct built *family = arena_alloc(arena, FAMILY * sizeof *family);
	bool good = true;

	for (size_t i = 0; i < FAMILY; i++)
		family_next(chance, arena, &style, &family[i],
		    i > 0 ? &family[i - 1] : NULL);
	for (size_t i = 0; good && *pairs > 0 && i < 6 * FAMILY; i++) {
		struct arena *own = arena_new();
		size_t old = chance_below(chance, FAMILY);
		size_t near = old + 1 < FAMILY ? old + 1 : 0;
		size_t new = chance_percent(chance, 70) ?
		    near :
		    chance_below(chance, FAMILY);
		struct pair pair;

		(*pairs)--;
		pair_make(&pair, own, &family[old], &family[new]);
		count_pair(&pair, totals);
		good = check_pair(&pair, chance);
		if (!good) {
			printf("# %s\n", pair.fault);
			pair_print(&pair, &style);
		}
		arena_release(own);
	}
	arena_release(arena);
	return good;
}

static int
run_pairs(uint64_t seed, size_t pairs)
{
	struct tap tap = { 0 };
	struct totals totals = { 0 };
	bool good = true;

	for (size_t left = pairs; good && left > 0; seed++) {
		struct chance chance = { .state = seed };

		good = family_run(&chance, &left, &totals);
		if (!good)
			printf("# seed %ju\n", (uintmax_t)seed);
	}
	tap_ok(&tap, good, "%zu pairs of policies, %zu witnesses", totals.pairs,
	    totals.witnesses);
	/* Hosts have tests/model/hosts.c. */
	for (int kind = 0; kind <= DIFFERENCE_STRENGTH; kind++) {
		if (kind >= DIFFERENCE_DOMAIN && kind <= DIFFERENCE_PROXY)
			continue;
		tap_ok(&tap, totals.kinds[kind] > 0 || !good || pairs < 500,
		    "differences of kind %s: %zu",
		    difference_word((enum difference_kind)kind),
		    totals.kinds[kind]);
	}
	return tap_done(&tap);
}

int
main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "--witnesses") == 0)
		return print_witnesses(strtoull(argv[2], NULL, 10),
		    strtoul(argv[3], NULL, 10), argv[4], argv[5]);
	return run_pairs(argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
	    argc > 2 ? strtoul(argv[2], NULL, 10) : tap_rounds(PAIRS));
}
