/*
 * Variables that the policy sets itself: `set env TMPDIR = /tmp`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/lower/lower.h"
#include "compiler/query/why.h"
#include "grammar/grammar.h"

#include <string.h>

/* The name of an anchor and text, of which the language takes the former. */
static const char *
value_text(const struct builder *builder, const struct rule *rule)
{
	const char *text = rule->set.text;

	if (rule->set.anchor == SBX_NO_ANCHOR ||
	    rule->set.anchor == SBX_ANCHOR_ROOT)
		return text;
	if (*text == '\0' || *text == '/')
		return policy_target_text(builder->policy,
		    (struct target){ text, rule->set.anchor });
	return arena_printf(builder->arena, "${%s}%s",
	    policy_anchor_name(builder->policy, rule->set.anchor), text);
}

static void
set_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = stmt_add(builder, AST_SET, &rule->origin);
	const char *text = value_text(builder, rule);
	enum ast_atom_kind kind = token_value(builder->arena, text)->kind;

	add_word(builder, stmt, "env");
	stmt->name = atom_new(builder, AST_WORD, rule->set.name);
	/* The text of a group has no '@', and this value has. */
	ast_list_add(&stmt->objects,
	    atom_new(builder, kind == AST_GROUP ? AST_STRING : kind, text));
}

static const char *
set_text(const struct policy *policy, const struct rule *rule)
{
	return arena_printf(policy->arena, "set env %s", rule->set.name);
}

static void
set_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_set *set = record;

	fputs("set env ", stream);
	show_text(stream, sbx_string(blob, set->name));
	fputs(" = ", stream);
	if (set->anchor == SBX_NO_ANCHOR)
		show_text(stream, sbx_string(blob, set->text));
	else
		show_place(stream, blob, set->anchor, set->text);
}

static void
set_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_set *set = record;

	set->name = emit_string(emitter, rule->set.name);
	set->text = emit_string(emitter, rule->set.text);
	set->anchor = rule->set.anchor;
	emit_anchor(emitter, rule->set.anchor);
}

const struct rule_kind kind_set = {
	.id = KIND_SET,
	.text = set_text,
	.holds_beside_everything = true,
	.show = set_show,
	.state = set_state,
	.section = SBX_SECTION_SET,
	.section_name = "the values of variables",
	.record = {
		RECORD_LAYOUT(struct sbx_set),
		.order = {
			RECORD_FIELD(struct sbx_set, name),
			RECORD_FIELD(struct sbx_set, anchor),
			RECORD_FIELD(struct sbx_set, text),
			RECORD_FIELD(struct sbx_set, source),
		},
	},
	.fill = set_fill,
	.difference = {
		.word = "set",
		.title = "variables that are set",
		.silence = "does not set it",
	},
};
