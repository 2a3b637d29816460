/*
 * Limits: `limit timeout 300s`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"

#include <inttypes.h>

static const struct limit_word *
limit_of(const struct rule *rule)
{
	return limit_of_kind((enum sbx_limit_kind)rule->detail);
}

static void
limit_state(struct builder *builder, const struct rule *rule)
{
	const struct limit_word *limit = limit_of(rule);

	add_pair(builder, AST_LIMIT, &rule->origin, limit->word,
	    atom_new(builder, AST_NUMBER,
		limit_value_text(builder->arena, limit, rule->limit.value)));
}

static const char *
limit_text(const struct policy *policy, const struct rule *rule)
{
	return arena_printf(policy->arena, "limit %s", limit_of(rule)->word);
}

static void
limit_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_limit *limit = record;

	(void)blob;
	fprintf(stream, "limit %s %" PRIu64,
	    limit_of_kind((enum sbx_limit_kind)limit->kind)->word,
	    limit->value);
}

static void
limit_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_limit *limit = record;

	(void)emitter;
	limit->value = rule->limit.value;
	limit->kind = rule->detail;
}

/* --- differences ---------------------------------------------------------- */

static const struct sbx_limit *
limit_get(const struct pass *pass, enum side side, enum sbx_limit_kind kind)
{
	const struct sbx_blob *blob = pass->comparison->blobs[side];

	for (uint32_t i = 0; i < blob->limit_count; i++) {
		if (blob->limits[i].kind == kind &&
		    (blob->limits[i].platforms & pass->platforms) != 0)
			return &blob->limits[i];
	}
	return NULL;
}

/* "limit timeout 300s", as it may be written. */
static const char *
limit_says(struct arena *arena, const struct sbx_limit *limit)
{
	static const struct {
		uint64_t factor;
		const char *unit;
	} sizes[] = {
		{ UINT64_C(1) << 40, "TiB" },
		{ UINT64_C(1) << 30, "GiB" },
		{ UINT64_C(1) << 20, "MiB" },
		{ UINT64_C(1) << 10, "KiB" },
	};
	const struct limit_word *word = limit_of_kind(
	    (enum sbx_limit_kind)limit->kind);

	for (size_t i = 0; word->unit == UNIT_BYTES && i < countof(sizes);
	     i++) {
		if (limit->value != 0 && limit->value % sizes[i].factor == 0)
			return arena_printf(arena, "limit %s %" PRIu64 "%s",
			    word->word, limit->value / sizes[i].factor,
			    sizes[i].unit);
	}
	return arena_printf(arena, "limit %s %" PRIu64 "%s", word->word,
	    limit->value,
	    word->unit == UNIT_BYTES    ? "B" :
		word->unit == UNIT_TIME ? "s" :
					  "");
}

static void
compare_limit(struct pass *pass, enum sbx_limit_kind kind)
{
	struct arena *arena = pass->comparison->arena;
	struct explanation says[SIDE_COUNT];
	uint64_t values[SIDE_COUNT];

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_limit *limit = limit_get(pass, (enum side)side,
		    kind);

		says[side] = (struct explanation){ .source = SBX_NO_SOURCE };
		if (limit != NULL)
			says[side] = (struct explanation){
				.text = limit_says(arena, limit),
				.source = limit->source,
			};
		values[side] = limit == NULL ? UINT64_MAX : limit->value;
		if (limit != NULL && limit->value == UINT64_MAX)
			values[side]--;
	}
	if (values[SIDE_OLD] != values[SIDE_NEW])
		pass_note_setting(pass, DIFFERENCE_LIMIT,
		    values[SIDE_NEW] > values[SIDE_OLD] ? CHANGE_WIDER :
							  CHANGE_NARROWER,
		    arena_printf(arena, "limit %s", limit_of_kind(kind)->word),
		    says);
}

static void
limit_compare(struct pass *pass)
{
	for (int kind = 0; kind < SBX_LIMIT_END; kind++)
		compare_limit(pass, (enum sbx_limit_kind)kind);
}

const struct rule_kind kind_limit = {
	.id = KIND_LIMIT,
	.text = limit_text,
	.holds_beside_everything = true,
	.show = limit_show,
	.state = limit_state,
	.section = SBX_SECTION_LIMITS,
	.section_name = "the limits",
	.record = {
		RECORD_LAYOUT(struct sbx_limit),
		.order = {
			RECORD_FIELD(struct sbx_limit, kind),
			RECORD_FIELD(struct sbx_limit, value),
			RECORD_FIELD(struct sbx_limit, source),
		},
	},
	.fill = limit_fill,
	.difference = {
		.word = "limit",
		.title = "limits",
		.silence = "no limit",
	},
	.compare = limit_compare,
};
