/*
 * Limits: `limit timeout 300s`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/lower/emitter.h"
#include "compiler/restore/builder.h"

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

static void
limit_read(struct arena *arena, const struct sbx_blob *blob, const void *record,
    struct rule *rule)
{
	const struct sbx_limit *limit = record;

	(void)arena;
	(void)blob;
	rule->detail = (uint8_t)limit->kind;
	rule->limit.value = limit->value;
}

const struct rule_kind kind_limit = {
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
	.read = limit_read,
};
