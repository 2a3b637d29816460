/*
 * Two policies that an input decides on, one made from the other: what `sbxc
 * diff` says of them is held against each access of a small world, as
 * tests/model/compare.c does with policies by chance.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kept_programs.h"
#include "tests/model/universe.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct style style = { .base = "" };
	struct arena *arena = arena_new();
	struct built *built = arena_alloc(arena, 2 * sizeof *built);
	struct chance chance = { .bytes = data, .left = size };
	struct pair pair;

	kept_programs_begin();
	family_next(&chance, arena, &style, &built[0], NULL);
	family_next(&chance, arena, &style, &built[1], &built[0]);
	pair_make(&pair, arena, &built[0], &built[1]);
	if (!check_pair(&pair, &chance)) {
		for (int side = 0; side < 2; side++) {
			char text[TEXT_SIZE];
			size_t len = draft_print(&built[side].draft, &style,
			    text);

			fwrite(text, 1, len, stderr);
		}
		must(false, pair.fault);
	}
	arena_release(arena);
	return 0;
}
