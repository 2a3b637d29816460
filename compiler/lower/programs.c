/*
 * What the filters of several policies share, above all programs that were
 * emitted.  Most filters of a policy decide alike, and so do
 * those of the profiles of one file; emitting and trying a program is most of
 * what a profile costs.
 */
#include "compiler/lower/lower.h"

#include <string.h>

/* A policy has some twenty; a file of many profiles that all differ in their
 * system calls must not fill the memory. */
enum { PROGRAMS_KEPT = 256 };

/* Numbers, one after the other. */
struct words {
	uint32_t *items;
	size_t count;
};

static void
words_add(struct words *words, uint32_t word)
{
	words->items[words->count++] = word;
}

static void
words_add_clause(struct words *words, const struct filter_clause *clause)
{
	words_add(words, clause->action);
	words_add(words, clause->test_count);
	for (size_t i = 0; i < clause->test_count; i++) {
		words_add(words, clause->tests[i].arg);
		words_add(words, clause->tests[i].mask);
		words_add(words, clause->tests[i].value);
	}
}

/* The words of a clause and of an entry without its clauses. */
enum { CLAUSE_WORDS = 2 + 3 * 3, ENTRY_WORDS = 2 };

/* All that bpf_emit() looks at, until the next one is asked for. */
static struct words
filter_words(struct programs *programs, const struct filter *filter)
{
	size_t room = 1 + filter->entry_count * ENTRY_WORDS;
	struct words words = { NULL, 0 };

	for (size_t i = 0; i < filter->entry_count; i++)
		room += filter->entries[i].clause_count * CLAUSE_WORDS;
	if (room > programs->room) {
		programs->words = arena_alloc(programs->arena,
		    room * sizeof *programs->words);
		programs->room = room;
	}
	words.items = programs->words;
	words_add(&words, filter->arch->audit);
	for (size_t i = 0; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];

		words_add(&words, entry->action);
		words_add(&words, (uint32_t)entry->clause_count);
		for (size_t j = 0; j < entry->clause_count; j++)
			words_add_clause(&words, &entry->clauses[j]);
	}
	return words;
}

/*
 * What it takes to emit a program, where compiling a rule takes 1: it grows with
 * the cube of the ranges of numbers that fare alike (bpf.c).
 */
static size_t
emission_cost(const struct filter *filter)
{
	size_t ranges = 1;

	for (size_t i = 1; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];

		ranges += entry[0].action != entry[-1].action ||
		    entry[0].clause_count + entry[-1].clause_count > 0;
	}
	return 36 + ranges * ranges * ranges / 8000;
}

struct bpf_program
programs_get(struct programs *programs, struct arena *arena,
    const struct filter *filter)
{
	struct words words = filter_words(programs, filter);
	size_t size = words.count * sizeof *words.items;
	size_t number = map_number_find(&programs->keys, words.items, size);
	struct bpf_program program;
	bool added;

	if (number == SIZE_MAX)
		programs->spent += emission_cost(filter);
	if (number != SIZE_MAX) {
		program = programs->list.items[number];
	} else if (programs->list.count >= PROGRAMS_KEPT) {
		program = bpf_emit(arena, filter);
	} else {
		program = bpf_emit(programs->arena, filter);
		map_number(programs->arena, &programs->keys, words.items, size,
		    &added);
		*arena_push(programs->arena, &programs->list) = program;
	}
	return program;
}

const struct bare_machine *
programs_bare(struct programs *programs, const struct arch *arch)
{
	struct bare_machine *bare;

	if (programs->bare == NULL)
		programs->bare = arena_alloc(programs->arena,
		    arch_count * sizeof *programs->bare);
	bare = &programs->bare[arch - arches];
	if (bare->entries == NULL)
		bare_make(programs->arena, arch, bare);
	return bare;
}
