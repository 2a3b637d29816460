/*
 * The rules about variables by name, for whoever asks a policy about many: the
 * model is asked about the few rules that may speak of a name, and says the
 * same as of all.
 */
#include "compiler/query/why.h"

#include <stdlib.h>
#include <string.h>

static size_t
name_number(struct env_index *index, const char *name)
{
	bool added;
	size_t number = map_number(index->arena, &index->names, name,
	    strlen(name), &added);

	if (added) {
		*arena_push(index->arena, &index->first_rule) = 0;
		*arena_push(index->arena, &index->first_set) = 0;
	}
	return number;
}

/* A list of records that begins with a number. */
static void
list_add(uint32_t *first, uint32_t *next, uint32_t number)
{
	next[number] = *first;
	*first = number + 1;
}

static void
affix_add(struct env_index *index, struct env_affixes *affixes,
    const char *affix, size_t len, uint32_t number)
{
	bool added;
	size_t at = map_number(index->arena, &affixes->keys, affix, len,
	    &added);

	if (added)
		*arena_push(index->arena, &affixes->first) = 0;
	affixes->lengths |= UINT64_C(1) << len;
	list_add(&affixes->first.items[at], index->next_rule, number);
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void
add_pattern(struct env_index *index, const char *pattern, uint32_t number)
{
	size_t begin = least(strcspn(pattern, "*"), ENV_AFFIX_MAX);
	const char *end = strrchr(pattern, '*') + 1;
	size_t len = least(strlen(end), ENV_AFFIX_MAX);

	if (begin > 0)
		affix_add(index, &index->begins, pattern, begin, number);
	else
		affix_add(index, &index->ends, end + strlen(end) - len, len,
		    number);
}

/* The last is added first, so that each list is in the order of the blob. */
static void
add_rules(struct env_index *index)
{
	const struct sbx_blob *blob = index->blob;

	for (uint32_t i = blob->env_count; i-- > 0;) {
		const char *pattern = sbx_string(blob, blob->env[i].pattern);
		size_t name;

		if (strchr(pattern, '*') != NULL) {
			add_pattern(index, pattern, i);
			continue;
		}
		name = name_number(index, pattern);
		list_add(&index->first_rule.items[name], index->next_rule, i);
	}
}

static void
add_sets(struct env_index *index)
{
	const struct sbx_blob *blob = index->blob;

	for (uint32_t i = blob->set_count; i-- > 0;) {
		size_t name = name_number(index,
		    sbx_string(blob, blob->set[i].name));

		list_add(&index->first_set.items[name], index->next_set, i);
	}
}

struct env_index *
env_index_new(struct arena *arena, const struct sbx_blob *blob)
{
	struct env_index *index = arena_alloc(arena, sizeof *index);

	index->arena = arena;
	index->blob = blob;
	index->next_rule = arena_alloc(arena,
	    blob->env_count * sizeof *index->next_rule);
	index->next_set = arena_alloc(arena,
	    blob->set_count * sizeof *index->next_set);
	index->some.records.items = arena_alloc(arena,
	    blob->env_count * sizeof *index->some.records.items);
	index->some.numbers.items = arena_alloc(arena,
	    blob->env_count * sizeof *index->some.numbers.items);
	add_rules(index);
	add_sets(index);
	return index;
}

static void
some_add(struct env_index *index, uint32_t next)
{
	struct env_records *some = &index->some;

	for (; next != 0; next = index->next_rule[next - 1])
		some->numbers.items[some->numbers.count++] = next - 1;
}

static void
some_add_affixes(struct env_index *index, const struct env_affixes *affixes,
    const char *name, bool ends)
{
	size_t len = strlen(name);

	for (size_t i = 0; i <= least(len, ENV_AFFIX_MAX); i++) {
		size_t at;

		if ((affixes->lengths >> i & 1) == 0)
			continue;
		at = map_number_find(&affixes->keys,
		    ends ? name + len - i : name, i);
		if (at != SIZE_MAX)
			some_add(index, affixes->first.items[at]);
	}
}

static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

const struct env_records *
env_index_rules(struct env_index *index, const char *name)
{
	size_t at = map_number_find(&index->names, name, strlen(name));
	struct env_records *some = &index->some;

	some->numbers.count = 0;
	if (at != SIZE_MAX)
		some_add(index, index->first_rule.items[at]);
	some_add_affixes(index, &index->begins, name, false);
	some_add_affixes(index, &index->ends, name, true);
	if (some->numbers.count > 1)
		qsort(some->numbers.items, some->numbers.count,
		    sizeof *some->numbers.items, compare_numbers);
	for (size_t i = 0; i < some->numbers.count; i++)
		some->records.items[i] =
		    index->blob->env[some->numbers.items[i]];
	some->records.count = some->numbers.count;
	return some;
}

uint32_t
env_index_set(const struct env_index *index, const char *name)
{
	size_t at = map_number_find(&index->names, name, strlen(name));

	return at == SIZE_MAX ? 0 : index->first_set.items[at];
}
