/*
 * What the records of a blob point to: strings, each once and in byte order,
 * and the positions in the sources, in the order of their strings.
 */
#include "compiler/lower/emitter.h"

#include <stdlib.h>
#include <string.h>

static struct emit_string *
string_slot(const struct emitter *emitter, const char *text)
{
	size_t slot = ((uintptr_t)text >> 3) * (size_t)0x9e3779b97f4a7c15;

	for (slot >>= 20;; slot++) {
		struct emit_string *string =
		    &emitter->strings[slot & (emitter->string_slots - 1)];

		if (string->text == NULL || string->text == text)
			return string;
	}
}

static void
strings_grow(struct emitter *emitter)
{
	struct emit_string *old = emitter->strings;
	size_t slots = emitter->string_slots;

	if (emitter->string_count * 2 < slots)
		return;
	emitter->string_slots = slots ? slots * 2 : 256;
	emitter->strings = arena_alloc(emitter->arena,
	    emitter->string_slots * sizeof *old);
	for (size_t i = 0; i < slots; i++) {
		if (old[i].text != NULL)
			*string_slot(emitter, old[i].text) = old[i];
	}
}

uint32_t
emit_string(struct emitter *emitter, const char *text)
{
	struct emit_string *string;

	if (text == NULL)
		text = "";
	text = arena_intern(emitter->arena, text, strlen(text));
	strings_grow(emitter);
	string = string_slot(emitter, text);
	if (emitter->collecting && string->text == NULL) {
		string->text = text;
		emitter->string_count++;
	}
	return string->offset;
}

static int
string_compare(const void *a, const void *b)
{
	const struct emit_string *const *x = a, *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

void
strings_place(struct emitter *emitter)
{
	struct emit_string **sorted = arena_alloc(emitter->arena,
	    emitter->string_count * sizeof *sorted);
	size_t count = 0, size = 0;
	char *bytes;

	for (size_t i = 0; i < emitter->string_slots; i++) {
		if (emitter->strings[i].text != NULL)
			sorted[count++] = &emitter->strings[i];
	}
	qsort(sorted, count, sizeof *sorted, string_compare);
	for (size_t i = 0; i < count; i++) {
		sorted[i]->offset = (uint32_t)size;
		size += strlen(sorted[i]->text) + 1;
	}
	bytes = section_new(emitter, SBX_SECTION_STRINGS, size, 1);
	for (size_t i = 0; i < count; i++)
		strcpy(bytes + sorted[i]->offset, sorted[i]->text);
}

/* --- source positions ----------------------------------------------------- */

static int
source_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	/* file, line, column, via: a record is four integers in that order. */
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
	section_sort(emitter, SBX_SECTION_SOURCES,
	    sizeof *emitter->sources.items, 0, source_compare);
	emitter->sources.count = emitter->sections[SBX_SECTION_SOURCES].size /
	    sizeof *emitter->sources.items;
}
