/*
 * See names.h.  All patterns are read at once, byte by byte, as one
 * automaton: a state is the set of places in patterns where a name may have
 * got to.  The states that can be reached are gone through breadth first, so
 * that names are as short as they can be; of the bytes that come next only
 * those that some pattern asks for differ from each other, and one that none
 * asks for stands for the rest.
 *
 * A place is an index into all patterns laid end to end, times two; the odd
 * ones are behind a '?', which also takes the rest of a character of several
 * bytes.
 */
#include "compiler/compare/names.h"

#include "compiler/base/map.h"

#include <stdlib.h>
#include <string.h>

/* How many states, and places in them, are gone through before giving up, and
 * how often names that are taken may be replaced. */
enum {
	MOST_STATES = 1 << 16,
	MOST_STEPS = 1 << 27,
	MOST_ROUNDS = 512,
};

/* What stands at a place, beside bytes. */
enum { AT_END = 256, AT_STAR, AT_MARK, AT_GOAL };

struct place {
	uint16_t symbol;
	uint32_t pattern; /* or the first of its group */
};

struct state {
	size_t parent; /* SIZE_MAX: the first */
	uint8_t byte;  /* that led here */
};

struct automaton {
	struct arena *arena;
	struct place *places;
	uint32_t *starts; /* of each pattern */
	uint32_t end;     /* a place behind all, which stands for nothing */
	size_t count;     /* of patterns */
	size_t must;
	struct map states;         /* key: sorted places, a number each */
	VEC(struct state) origins; /* beside it */
	struct map classes;        /* key: accepted patterns */
	size_t steps;              /* places that were looked at */
	uint32_t *next;            /* the state that is being made */
	size_t next_count;
	uint64_t *settled; /* patterns of it that match whatever comes */
};

static size_t
set_words(const struct automaton *automaton)
{
	return (automaton->count + 63) / 64;
}

/* --- the automaton -------------------------------------------------------- */

/* The places of one pattern, from `at` on; returns where they end. */
static size_t
pattern_lay(struct automaton *automaton, const struct name_pattern *pattern,
    uint32_t number, size_t at)
{
	for (size_t i = 0; i <= pattern->len; i++) {
		uint8_t byte = (uint8_t)pattern->text[i];
		uint16_t symbol = byte;

		/* Two stars in a row are one. */
		if (byte == '*' && i > 0 && pattern->text[i - 1] == '*')
			continue;
		if (i == pattern->len)
			symbol = AT_END;
		else if (byte == '*')
			symbol = AT_STAR;
		else if (byte == '?' && pattern->marks)
			symbol = AT_MARK;
		automaton->places[at++] = (struct place){ symbol, number };
	}
	return at;
}

static uint32_t
group_first(const struct name_pattern *patterns, uint32_t number)
{
	uint32_t first = patterns[number].group == 0 ? number : 0;

	while (patterns[first].group != patterns[number].group)
		first++;
	return first;
}

static void
automaton_fill(struct automaton *automaton, const struct name_pattern *patterns)
{
	size_t total = 0, at = 0;

	for (size_t i = 0; i < automaton->count; i++)
		total += patterns[i].len + 2;
	automaton->places = arena_alloc(automaton->arena,
	    (total + 1) * sizeof *automaton->places);
	automaton->next = arena_alloc(automaton->arena,
	    (8 * total + 8) * sizeof *automaton->next);
	automaton->starts = arena_alloc(automaton->arena,
	    (automaton->count + 1) * sizeof *automaton->starts);
	automaton->settled = arena_alloc(automaton->arena,
	    (set_words(automaton) + 1) * sizeof *automaton->settled);
	for (size_t i = 0; i < automaton->count; i++) {
		automaton->starts[i] = (uint32_t)at;
		at = pattern_lay(automaton, &patterns[i],
		    group_first(patterns, (uint32_t)i), at);
	}
	automaton->end = (uint32_t)at;
	for (size_t i = 0; i < automaton->count; i++)
		automaton->places[at + 1 + i] = (struct place){ AT_GOAL,
			(uint32_t)i };
}

/* A star may stand for nothing, so what follows it is reached with it. */
static void
reach(struct automaton *automaton, uint32_t place)
{
	automaton->next[automaton->next_count++] = place * 2;
	while (automaton->places[place].symbol == AT_STAR)
		automaton->next[automaton->next_count++] = ++place * 2;
}

static bool
is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

static void
step_place(struct automaton *automaton, uint32_t place, uint8_t byte)
{
	uint16_t symbol = automaton->places[place].symbol;

	if (symbol == AT_STAR)
		reach(automaton, place);
	else if (symbol == AT_MARK)
		automaton->next[automaton->next_count++] = (place + 1) * 2 + 1;
	else if (symbol == AT_GOAL)
		automaton->next[automaton->next_count++] = place * 2;
	else if (symbol == byte)
		reach(automaton, place + 1);
}

static int
place_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
next_sort(struct automaton *automaton)
{
	size_t kept = 0;

	qsort(automaton->next, automaton->next_count, sizeof *automaton->next,
	    place_compare);
	for (size_t i = 0; i < automaton->next_count; i++) {
		if (kept == 0 ||
		    automaton->next[kept - 1] != automaton->next[i])
			automaton->next[kept++] = automaton->next[i];
	}
	automaton->next_count = kept;
}

/* Whether nothing that comes can keep the pattern from matching. */
static bool
is_forever(const struct automaton *automaton, uint32_t place)
{
	return automaton->places[place].symbol == AT_STAR &&
	    automaton->places[place + 1].symbol == AT_END;
}

/* Where a pattern, or one of its group, matches whatever comes, all of its
 * places become one, its goal. */
static void
next_settle(struct automaton *automaton)
{
	uint32_t *next = automaton->next;
	uint64_t *settled = automaton->settled;
	size_t kept = 0;

	memset(settled, 0, set_words(automaton) * sizeof *settled);
	for (size_t i = 0; i < automaton->next_count; i++) {
		uint32_t pattern = automaton->places[next[i] / 2].pattern;

		if (is_forever(automaton, next[i] / 2))
			settled[pattern / 64] |= UINT64_C(1) << pattern % 64;
	}
	for (size_t i = 0; i < automaton->next_count; i++) {
		uint32_t place = next[i] / 2;
		uint32_t pattern = automaton->places[place].pattern;

		if (place == automaton->end ||
		    (settled[pattern / 64] >> pattern % 64 & 1) == 0)
			next[kept++] = next[i];
		else
			next[kept++] = (automaton->end + 1 + pattern) * 2;
	}
	automaton->next_count = kept;
}

/* The state after one more byte, into automaton->next. */
static void
step(struct automaton *automaton, const uint32_t *state, size_t count,
    uint8_t byte)
{
	automaton->next_count = 0;
	automaton->steps += count;
	for (size_t i = 0; i < count; i++) {
		uint32_t place = state[i] / 2;
		bool inside = state[i] % 2 != 0;

		if (inside && is_continuation(byte)) {
			automaton->next[automaton->next_count++] = state[i];
			continue;
		}
		step_place(automaton, place, byte);
		while (inside && automaton->places[place].symbol == AT_STAR)
			step_place(automaton, ++place, byte);
	}
	next_settle(automaton);
	next_sort(automaton);
}

/* --- going through it ----------------------------------------------------- */

/* Whether the pattern that a name must match may still do so. */
static bool
is_alive(const struct automaton *automaton, const uint32_t *state, size_t count)
{
	if (automaton->must == SIZE_MAX)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (automaton->places[state[i] / 2].pattern == automaton->must)
			return true;
	}
	return false;
}

static void
keep_state(struct automaton *automaton, size_t parent, uint8_t byte)
{
	bool added;

	if (!is_alive(automaton, automaton->next, automaton->next_count))
		return;
	map_number(automaton->arena, &automaton->states, automaton->next,
	    automaton->next_count * sizeof *automaton->next, &added);
	if (added)
		*arena_push(automaton->arena,
		    &automaton->origins) = (struct state){ parent, byte };
}

/* The bytes that some pattern asks for next. */
static void
ask_bytes(const struct automaton *automaton, const uint32_t *state,
    size_t count, bool asked[256], bool *marks)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t place = state[i] / 2;

		*marks |= state[i] % 2 != 0;
		while (automaton->places[place].symbol == AT_STAR)
			place++;
		*marks |= automaton->places[place].symbol == AT_MARK;
		if (automaton->places[place].symbol < AT_END)
			asked[automaton->places[place].symbol] = true;
	}
}

/* A byte that no pattern asks for; 0 if each is. */
static uint8_t
other_byte(const bool asked[256])
{
	static const char order[] =
	    "xyzwvutsrqponmlkjihgfedcbaXYZWVUTSRQPONMLKJIHGFEDCBA0123456789_-+";

	for (const char *byte = order; *byte != '\0'; byte++) {
		if (!asked[(uint8_t)*byte])
			return (uint8_t)*byte;
	}
	for (unsigned byte = 1; byte < 256; byte++) {
		if (!asked[byte] && byte != '/' && byte != '=' && byte != '*' &&
		    !is_continuation((uint8_t)byte))
			return (uint8_t)byte;
	}
	return 0;
}

static uint8_t
other_continuation(const bool asked[256])
{
	for (unsigned byte = 0x80; byte < 0xc0; byte++) {
		if (!asked[byte])
			return (uint8_t)byte;
	}
	return 0;
}

static void
follow(struct automaton *automaton, size_t number, uint8_t byte)
{
	const struct map_key *key = &automaton->states.keys.items[number];

	if (byte == 0 || byte == '/')
		return;
	step(automaton, key->bytes, key->size / sizeof(uint32_t), byte);
	keep_state(automaton, number, byte);
}

static void
expand(struct automaton *automaton, size_t number)
{
	const struct map_key *key = &automaton->states.keys.items[number];
	bool asked[256] = { false }, marks = false;

	ask_bytes(automaton, key->bytes, key->size / sizeof(uint32_t), asked,
	    &marks);
	follow(automaton, number, other_byte(asked));
	for (unsigned byte = 1; byte < 256; byte++) {
		if (asked[byte])
			follow(automaton, number, (uint8_t)byte);
	}
	/* Only a '?' tells these from others, in names that are no UTF-8. */
	if (marks)
		follow(automaton, number, other_continuation(asked));
}

/* --- names ---------------------------------------------------------------- */

static const char *
state_name(const struct automaton *automaton, size_t number, size_t *len)
{
	char *name;

	*len = 0;
	for (size_t at = number;
	     automaton->origins.items[at].parent != SIZE_MAX;
	     at = automaton->origins.items[at].parent)
		(*len)++;
	name = arena_alloc(automaton->arena, *len + 1);
	for (size_t i = *len; i-- > 0;) {
		name[i] = (char)automaton->origins.items[number].byte;
		number = automaton->origins.items[number].parent;
	}
	return name;
}

static void
accept(const struct automaton *automaton, size_t number, uint64_t *accepts)
{
	const struct map_key *key = &automaton->states.keys.items[number];
	const uint32_t *state = key->bytes;

	memset(accepts, 0, set_words(automaton) * sizeof *accepts);
	for (size_t i = 0; i < key->size / sizeof *state; i++) {
		uint32_t place = state[i] / 2;
		uint32_t pattern = automaton->places[place].pattern;

		while (automaton->places[place].symbol == AT_STAR)
			place++;
		if (automaton->places[place].symbol == AT_END ||
		    automaton->places[place].symbol == AT_GOAL)
			accepts[pattern / 64] |= UINT64_C(1) << pattern % 64;
	}
}

/* Makes a class of a state, if it is the first with what it accepts. */
static void
classify(struct automaton *automaton, size_t number,
    struct name_classes *classes)
{
	size_t words = set_words(automaton), must = automaton->must;
	uint64_t *accepts = arena_alloc(automaton->arena,
	    (words + 1) * sizeof *accepts);
	struct name_class class = { .accepts = accepts };
	bool added;

	if (automaton->origins.items[number].parent == SIZE_MAX)
		return;
	accept(automaton, number, accepts);
	if (must != SIZE_MAX && !name_class_matches(&class, must))
		return;
	map_number(automaton->arena, &automaton->classes, accepts,
	    words * sizeof *accepts, &added);
	if (!added)
		return;
	class.name = state_name(automaton, number, &class.len);
	*arena_push(automaton->arena, &classes->list) = class;
}

/* One round: all classes of these patterns. */
static bool
classes_find(struct arena *arena, const struct name_pattern *patterns,
    size_t count, size_t must, struct name_classes *classes)
{
	struct automaton automaton = {
		.arena = arena,
		.count = count,
		.must = must,
	};

	automaton_fill(&automaton, patterns);
	classes->list.items = NULL;
	classes->list.count = 0;
	for (size_t i = 0; i < count; i++)
		reach(&automaton, automaton.starts[i]);
	/* No name has been read yet: a state that no other is equal to. */
	automaton.next[automaton.next_count++] = automaton.end * 2;
	next_sort(&automaton);
	keep_state(&automaton, SIZE_MAX, 0);
	for (size_t i = 0; i < automaton.origins.count; i++) {
		if (i == MOST_STATES || automaton.steps > MOST_STEPS)
			return false;
		classify(&automaton, i, classes);
		expand(&automaton, i);
	}
	return true;
}

/* Takes out classes of names that are patterns from `count` on. */
static void
classes_drop(struct name_classes *classes, size_t count, size_t total)
{
	size_t kept = 0;

	for (size_t i = 0; i < classes->list.count; i++) {
		const struct name_class *class = &classes->list.items[i];
		size_t extra = count;

		while (extra < total && !name_class_matches(class, extra))
			extra++;
		if (extra == total)
			classes->list.items[kept++] = *class;
	}
	classes->list.count = kept;
}

/*
 * A name that is taken becomes one more pattern, so that the next round tells
 * it from others with the same matches.
 */
bool
name_classes(struct arena *arena, const struct name_question *question,
    struct name_classes *classes)
{
	const struct name_taken *taken = &question->taken;
	struct {
		VEC(struct name_pattern) list;
	} all = { 0 };

	for (size_t i = 0; i < question->count; i++)
		*arena_push(arena, &all.list) = question->patterns[i];
	for (unsigned round = 0; round < MOST_ROUNDS; round++) {
		size_t before = all.list.count;

		if (!classes_find(arena, all.list.items, before, question->must,
			classes))
			return false;
		classes_drop(classes, question->count, before);
		for (size_t i = 0; i < classes->list.count; i++) {
			const struct name_class *class =
			    &classes->list.items[i];

			if (taken->is_taken(taken->context, class->name,
				class->len))
				*arena_push(arena,
				    &all.list) = (struct name_pattern){
					.text = class->name,
					.len = class->len,
				};
		}
		if (all.list.count == before)
			return true;
	}
	return false;
}

const char *
name_sample(struct arena *arena, const struct name_pattern *pattern,
    const char *star)
{
	const char *name = "";

	for (size_t i = 0; i < pattern->len; i++) {
		char byte = pattern->text[i];

		if (byte == '*')
			name = arena_printf(arena, "%s%s", name, star);
		else
			name = arena_printf(arena, "%s%c", name,
			    byte == '?' && pattern->marks ? 'x' : byte);
	}
	return name;
}
