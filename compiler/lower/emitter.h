/*
 * What the files of emit*.c share.  emit.c drives: it has the tables filled
 * three times, since strings are sorted before they have offsets, and positions
 * before they have indices.
 *
 *	1  collects strings			strings_place()
 *	2  collects positions			sources_place()
 *	3  fills the records for good
 */
#ifndef SBX_EMITTER_H
#define SBX_EMITTER_H

#include "compiler/lower/emit.h"
#include "compiler/policy/kind.h"

struct emitter {
	const struct policy *policy;
	const struct filter_set *filters;
	struct arena *arena;
	bool collecting;    /* runs 1 and 2 */
	struct map strings; /* each with its offset, once they are placed */
	VEC(struct sbx_source) sources;
	struct placed_rule *placed; /* path rules in the order of the blob */
	size_t placed_count;
	uint64_t anchors_used; /* bit per anchor: SBX_MAX_ANCHORS is 64 */
	struct {
		void *data;
		size_t size;
	} sections[SBX_SECTION_END];
};

/* A section of `count` zeroed records. */
void *section_new(struct emitter *emitter, enum sbx_section_kind kind,
    size_t count, size_t record);

/* The order of two records; `layout` is theirs. */
int records_compare(const void *a, const void *b, void *layout);

/* Sorts a section's records and makes one of equal ones, which is for the
 * platforms of all, if they have such. */
void section_sort(struct emitter *emitter, enum sbx_section_kind kind,
    const struct record_layout *layout);

/* emit_pool.c: the offset of a string; NULL is "".  While collecting, adds
 * it. */
uint32_t emit_string(struct emitter *emitter, const char *text);

/* The index of a position; SBX_NO_SOURCE for a place that is none. */
uint32_t emit_position(struct emitter *emitter,
    const struct position *position);
uint32_t emit_origin(struct emitter *emitter, const struct origin *origin);

/* What was collected gets its offsets and indices, and becomes a section. */
void strings_place(struct emitter *emitter);
void sources_place(struct emitter *emitter);

/* Notes that a record refers to an anchor, if it does. */
void emit_anchor(struct emitter *emitter, uint16_t anchor);

/* emit_tables.c: a run over all tables. */
void emit_tables(struct emitter *emitter);

#endif
