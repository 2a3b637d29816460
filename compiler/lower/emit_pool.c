/*
 * What the records of a blob point to: strings, each once and in byte order,
 * and the positions in the sources, in the order of their strings.
 */
#include "compiler/lower/lower.h"

#include <stdlib.h>
#include <string.h>

/* "" is the first of them, and at offset 0. */
uint32_t
emit_string(struct emitter *emitter, const char *text)
{
	struct map *strings = &emitter->strings;
	size_t number;
	bool added;

	if (text == NULL || *text == '\0')
		return 0;
	number = emitter->collecting ?
	    map_number(emitter->arena, strings, text, strlen(text), &added) :
	    map_number_find(strings, text, strlen(text));
	return (uint32_t)(uintptr_t)strings->keys.items[number].value;
}

static int
string_compare(const void *a, const void *b)
{
	const struct map_key *const *x = a, *const *y = b;

	return strcmp((*x)->bytes, (*y)->bytes);
}

void
strings_place(struct emitter *emitter)
{
	size_t count = emitter->strings.keys.count, size = sizeof "";
	struct map_key **sorted = arena_alloc(emitter->arena,
	    count * sizeof *sorted);
	char *bytes;

	for (size_t i = 0; i < count; i++)
		sorted[i] = &emitter->strings.keys.items[i];
	qsort(sorted, count, sizeof *sorted, string_compare);
	for (size_t i = 0; i < count; i++) {
		sorted[i]->value = (void *)(uintptr_t)size;
		size += strlen(sorted[i]->bytes) + 1;
	}
	bytes = section_new(emitter, SBX_SECTION_STRINGS, size, 1);
	for (size_t i = 0; i < count; i++)
		strcpy(bytes + (uintptr_t)sorted[i]->value, sorted[i]->bytes);
}

/* --- source positions ----------------------------------------------------- */

static const struct record_layout source_layout = {
	.size = sizeof(struct sbx_source),
	.order = {
		RECORD_FIELD(struct sbx_source, file),
		RECORD_FIELD(struct sbx_source, line),
		RECORD_FIELD(struct sbx_source, column),
		RECORD_FIELD(struct sbx_source, via),
	},
};

static int
source_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	/* Asked for every rule: the record is four integers in that order. */
	for (int i = 0; i < 4; i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

uint32_t
emit_position(struct emitter *emitter, const struct position *position)
{
	struct sbx_source key, *found;

	if (position->file[0] == '\0')
		return SBX_NO_SOURCE;
	key = (struct sbx_source){
		.file = emit_string(emitter, position->file),
		.line = position->line,
		.column = position->column,
		.via = emit_string(emitter, position->via),
	};
	if (emitter->collecting) {
		*arena_push(emitter->arena, &emitter->sources) = key;
		return 0;
	}
	found = bsearch(&key, emitter->sources.items, emitter->sources.count,
	    sizeof key, source_compare);
	return (uint32_t)(found - emitter->sources.items);
}

uint32_t
emit_origin(struct emitter *emitter, const struct origin *origin)
{
	struct position position = policy_position(emitter->policy, origin);

	return emit_position(emitter, &position);
}

/*
 * While collecting, positions hold offset 0 for every string, so equal ones
 * cannot be told yet: they are filled in again, sorted, before the second run.
 */
void
sources_place(struct emitter *emitter)
{
	emitter->sections[SBX_SECTION_SOURCES].data = emitter->sources.items;
	emitter->sections[SBX_SECTION_SOURCES].size = emitter->sources.count *
	    sizeof *emitter->sources.items;
	section_sort(emitter, SBX_SECTION_SOURCES, &source_layout);
	emitter->sources.count = emitter->sections[SBX_SECTION_SOURCES].size /
	    sizeof *emitter->sources.items;
}
