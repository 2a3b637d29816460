/*
 * format/index.c against going through all records: which of them cover a path,
 * and which lie in it; and the order of those at one place.
 */
#include "format/model.h"
#include "tests/lib/tap.h"

#include <string.h>

enum { ROUNDS = 2000, RECORDS = 24, QUESTIONS = 40, TEXT_SIZE = 32 };

struct record {
	struct sbx_place at;
	uint32_t weight;
	char text[TEXT_SIZE];
};

struct world {
	struct record records[RECORDS];
	uint32_t sorted[RECORDS], outer[RECORDS];
	struct sbx_index index;
};

static uint32_t
draw(uint64_t *state, uint32_t bound)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(*state >> 33) % bound;
}

static struct sbx_place
draw_place(uint64_t *state, char text[TEXT_SIZE])
{
	static const char *const names[] = { "/a", "/b", "/a.b", "/a-" };

	text[0] = '\0';
	for (uint32_t depth = draw(state, 4); depth > 0; depth--)
		strcat(text, names[draw(state, 4)]);
	return (struct sbx_place){ text, (uint32_t)strlen(text) };
}

static bool
is_lighter(const void *context, uint32_t a, uint32_t b)
{
	const struct record *records = context;

	return records[a].weight < records[b].weight;
}

/* Every second round of records that are not all in the index. */
static void
world_make(struct world *world, uint64_t *state, bool some)
{
	world->index = (struct sbx_index){
		.records = world->records,
		.size = sizeof *world->records,
		.sorted = world->sorted,
		.outer = world->outer,
		.tie = is_lighter,
		.tie_context = world->records,
	};
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct record *record = &world->records[i];

		record->at = draw_place(state, record->text);
		record->weight = draw(state, 3);
		if (!some || draw(state, 2) != 0)
			world->sorted[world->index.count++] = i;
	}
	if (some)
		sbx_index_make(&world->index);
	else
		sbx_index_make_all(&world->index);
}

static bool
order_holds(const struct world *world)
{
	for (uint32_t i = 1; i < world->index.count; i++) {
		uint32_t a = world->sorted[i - 1], b = world->sorted[i];
		const struct record *x = &world->records[a];
		const struct record *y = &world->records[b];
		int order = sbx_place_compare(x->at, y->at);

		if (order > 0 || (order == 0 && x->weight > y->weight) ||
		    (order == 0 && x->weight == y->weight && a > b))
			return false;
	}
	return true;
}

static bool
answers_hold(struct world *world, struct sbx_place path)
{
	struct sbx_index *index = &world->index;
	struct sbx_range within = sbx_index_within(index, path);
	bool found[RECORDS] = { false };

	for (uint32_t at = sbx_index_find(index, path); at > 0;
	     at = index->outer[at - 1])
		found[at - 1] = true;
	for (uint32_t i = 0; i < index->count; i++) {
		struct sbx_place at = world->records[world->sorted[i]].at;

		if (found[i] != sbx_covers(at, path) ||
		    (i >= within.first && i < within.end) !=
			sbx_covers(path, at))
			return false;
	}
	return sbx_index_reaches(index, path) == (within.first < within.end);
}

int
main(void)
{
	static struct world world;
	unsigned disorder = 0, wrong = 0;
	uint64_t state = 1;
	struct tap tap = { 0 };

	for (uint32_t i = 0; i < ROUNDS; i++) {
		world_make(&world, &state, i % 2 != 0);
		disorder += !order_holds(&world);
		for (uint32_t j = 0; j < QUESTIONS; j++) {
			char text[TEXT_SIZE];

			wrong += !answers_hold(&world,
			    draw_place(&state, text));
		}
	}
	tap_ok(&tap, disorder == 0, "path order, then the tie: %u wrong",
	    disorder);
	tap_ok(&tap, wrong == 0, "what covers a path and lies in it: %u wrong",
	    wrong);
	return tap_done(&tap);
}
