/*
 * See paths.h.  All patterns are read at once, character by character, as one
 * automaton: a state is the set of places in patterns where a name may have
 * got to.  The states that can be reached are gone through breadth first, so
 * that names are as short as they can be; of the characters that come next only
 * those that some pattern asks for differ from each other, and one that none
 * asks for stands for the rest.  So do bytes that are no UTF-8, which
 * `format/glob.c` takes for characters that no pattern asks for.
 *
 * A place is an index into all patterns laid end to end.  A character is its
 * bytes in UTF-8 as one number, the first of them highest.
 */
#include "compiler/compare/paths.h"

#include "compiler/base/base.h"
#include "format/text.h"

#include <stdlib.h>
#include <string.h>

/* How many states, and places in them, are gone through before giving up, and
 * how often names that are taken may be replaced. */
enum {
	MOST_STATES = 1 << 16,
	MOST_STEPS = 1 << 24, /* some 70 MB of states */
	MOST_ROUNDS = 512,
};

/* What stands at a place, beside characters. */
#define AT_END UINT32_C(0xffffff00)
#define AT_STAR UINT32_C(0xffffff01)
#define AT_MARK UINT32_C(0xffffff02)
#define AT_GOAL UINT32_C(0xffffff03)

struct name_place {
	uint32_t symbol;
	uint32_t pattern; /* or the first of its group */
};

struct state {
	size_t parent;      /* SIZE_MAX: the first */
	uint32_t character; /* that led here */
};

struct automaton {
	struct arena *arena;
	struct name_place *places;
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
	uint32_t *asked;   /* characters that some pattern asks for next */
	size_t asked_count;
};

static size_t
set_words(const struct automaton *automaton)
{
	return (automaton->count + 63) / 64;
}

/* --- the automaton -------------------------------------------------------- */

/* The character at an offset, and where the next one begins. */
static uint32_t
character_read(const struct name_pattern *pattern, size_t *at)
{
	uint32_t value, packed = 0;
	size_t size = utf8_decode(pattern->text + *at, pattern->len - *at,
	    &value);

	for (size_t end = *at + (size == 0 ? 1 : size); *at < end; ++*at)
		packed = packed << 8 | (uint8_t)pattern->text[*at];
	return packed;
}

/* The places of one pattern, from `at` on; returns where they end. */
static size_t
pattern_lay(struct automaton *automaton, const struct name_pattern *pattern,
    uint32_t number, size_t at)
{
	uint32_t before = 0;

	for (size_t i = 0; i < pattern->len;) {
		uint32_t symbol = character_read(pattern, &i);

		if (symbol == '*')
			symbol = AT_STAR;
		else if (symbol == '?' && pattern->marks)
			symbol = AT_MARK;
		/* Two stars in a row are one. */
		if (symbol != AT_STAR || before != AT_STAR)
			automaton->places[at++] = (struct name_place){ symbol,
				number };
		before = symbol;
	}
	automaton->places[at++] = (struct name_place){ AT_END, number };
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
	    (4 * total + 4) * sizeof *automaton->next);
	automaton->asked = arena_alloc(automaton->arena,
	    (total + 1) * sizeof *automaton->asked);
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
		automaton->places[at + 1 + i] = (struct name_place){ AT_GOAL,
			(uint32_t)i };
}

/* A star may stand for nothing, so what follows it is reached with it. */
static void
reach(struct automaton *automaton, uint32_t place)
{
	automaton->next[automaton->next_count++] = place;
	while (automaton->places[place].symbol == AT_STAR)
		automaton->next[automaton->next_count++] = ++place;
}

static void
step_place(struct automaton *automaton, uint32_t place, uint32_t character)
{
	uint32_t symbol = automaton->places[place].symbol;

	if (symbol == AT_STAR)
		reach(automaton, place);
	else if (symbol == AT_GOAL)
		automaton->next[automaton->next_count++] = place;
	else if (symbol == AT_MARK || symbol == character)
		reach(automaton, place + 1);
}

static int
number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts them, each once; returns how many are left. */
static size_t
numbers_sort(uint32_t *numbers, size_t count)
{
	size_t kept = 0;

	qsort(numbers, count, sizeof *numbers, number_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	}
	return kept;
}

static void
next_sort(struct automaton *automaton)
{
	automaton->next_count = numbers_sort(automaton->next,
	    automaton->next_count);
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
		uint32_t pattern = automaton->places[next[i]].pattern;

		if (is_forever(automaton, next[i]))
			settled[pattern / 64] |= UINT64_C(1) << pattern % 64;
	}
	for (size_t i = 0; i < automaton->next_count; i++) {
		uint32_t place = next[i];
		uint32_t pattern = automaton->places[place].pattern;

		if (place == automaton->end ||
		    (settled[pattern / 64] >> pattern % 64 & 1) == 0)
			next[kept++] = place;
		else
			next[kept++] = automaton->end + 1 + pattern;
	}
	automaton->next_count = kept;
}

/* The state after one more character, into automaton->next. */
static void
step(struct automaton *automaton, const uint32_t *state, size_t count,
    uint32_t character)
{
	automaton->next_count = 0;
	automaton->steps += count;
	for (size_t i = 0; i < count; i++)
		step_place(automaton, state[i], character);
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
		if (automaton->places[state[i]].pattern == automaton->must)
			return true;
	}
	return false;
}

static void
keep_state(struct automaton *automaton, size_t parent, uint32_t character)
{
	bool added;

	if (!is_alive(automaton, automaton->next, automaton->next_count))
		return;
	map_number(automaton->arena, &automaton->states, automaton->next,
	    automaton->next_count * sizeof *automaton->next, &added);
	if (added)
		*arena_push(automaton->arena,
		    &automaton->origins) = (struct state){ parent, character };
}

static void
ask_characters(struct automaton *automaton, const uint32_t *state, size_t count)
{
	automaton->asked_count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t symbol = automaton->places[state[i]].symbol;

		if (symbol < AT_END)
			automaton->asked[automaton->asked_count++] = symbol;
	}
	automaton->asked_count = numbers_sort(automaton->asked,
	    automaton->asked_count);
}

static bool
is_asked(const struct automaton *automaton, uint32_t character)
{
	return bsearch(&character, automaton->asked, automaton->asked_count,
		   sizeof character, number_compare) != NULL;
}

/* A character that no pattern asks for; 0 if each is. */
static uint32_t
other_character(const struct automaton *automaton)
{
	static const char order[] =
	    "xyzwvutsrqponmlkjihgfedcbaXYZWVUTSRQPONMLKJIHGFEDCBA0123456789_-+";

	for (const char *byte = order; *byte != '\0'; byte++) {
		if (!is_asked(automaton, (uint8_t)*byte))
			return (uint8_t)*byte;
	}
	/* From U+4E00 on, 512 that can be seen. */
	for (uint32_t lead = 0xe4b8; lead <= 0xe4bf; lead++) {
		for (uint32_t last = 0x80; last <= 0xbf; last++) {
			if (!is_asked(automaton, lead << 8 | last))
				return lead << 8 | last;
		}
	}
	return 0;
}

static void
follow(struct automaton *automaton, size_t number, uint32_t character)
{
	const struct map_key *key = &automaton->states.keys.items[number];

	if (character == 0 || character == '/')
		return;
	step(automaton, key->bytes, key->size / sizeof(uint32_t), character);
	keep_state(automaton, number, character);
}

static void
expand(struct automaton *automaton, size_t number)
{
	const struct map_key *key = &automaton->states.keys.items[number];

	ask_characters(automaton, key->bytes, key->size / sizeof(uint32_t));
	follow(automaton, number, other_character(automaton));
	for (size_t i = 0; i < automaton->asked_count; i++)
		follow(automaton, number, automaton->asked[i]);
}

/* --- names ---------------------------------------------------------------- */

static const char *
state_name(const struct automaton *automaton, size_t number, size_t *len)
{
	const struct state *origins = automaton->origins.items;
	char *name;

	*len = 0;
	for (size_t at = number; origins[at].parent != SIZE_MAX;
	     at = origins[at].parent) {
		for (uint32_t rest = origins[at].character; rest != 0;
		     rest >>= 8)
			++*len;
	}
	name = arena_alloc(automaton->arena, *len + 1);
	for (size_t i = *len; i > 0; number = origins[number].parent) {
		for (uint32_t rest = origins[number].character; rest != 0;
		     rest >>= 8)
			name[--i] = (char)(rest & 0xff);
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
		uint32_t symbol = automaton->places[state[i]].symbol;
		uint32_t pattern = automaton->places[state[i]].pattern;

		if (symbol == AT_END || symbol == AT_GOAL)
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
	automaton.next[automaton.next_count++] = automaton.end;
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
	size_t star_len = strlen(star), len = 0;
	char *name = arena_alloc(arena, pattern->len * (1 + star_len) + 1);

	for (size_t i = 0; i < pattern->len; i++) {
		char byte = pattern->text[i];

		if (byte == '*') {
			memcpy(name + len, star, star_len);
			len += star_len;
		} else {
			if (byte == '?' && pattern->marks)
				byte = star_len == 1 ? *star : 'x';
			name[len++] = byte;
		}
	}
	name[len] = '\0';
	return name;
}
