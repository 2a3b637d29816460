/*
 * Rules about the caller's variables: `allow env LC_*`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/lower/emitter.h"
#include "format/model.h"

#include <string.h>

static bool
env_resolve(struct scope *scope, const struct ast_atom *atom, struct rule *rule)
{
	rule->env.pattern = atom->text;
	return object_variable(scope, atom, true);
}

static bool
env_equals(const struct rule *a, const struct rule *b)
{
	return a->env.pattern == b->env.pattern;
}

static void
env_object(const struct rule *rule, struct rule_object *object)
{
	object->text = rule->env.pattern;
	object->kind = strchr(object->text, '*') != NULL ? AST_PATTERN :
							   AST_WORD;
}

static void
env_spans(struct arena *arena, const struct rule *rule,
    struct rule_spans *spans)
{
	*arena_push(arena, &spans->list) = (struct rule_span){
		.name = rule->env.pattern,
		.wide = strchr(rule->env.pattern, '*') != NULL,
	};
}

static bool
env_covers(const struct rule *wide, const struct rule *rule)
{
	const char *name = rule->env.pattern;

	return strchr(name, '*') == NULL &&
	    sbx_pattern_match(wide->env.pattern, name, strlen(name));
}

static void
env_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_env *env = record;

	env->pattern = emit_string(emitter, rule->env.pattern);
	env->effect = (uint8_t)rule->effect;
}

static void
env_read(struct arena *arena, const struct sbx_blob *blob, const void *record,
    struct rule *rule)
{
	const struct sbx_env *env = record;

	rule->effect = (enum sbx_effect)env->effect;
	rule->env.pattern = record_string(arena, blob, env->pattern);
}

const struct rule_kind kind_env = {
	.noun = "the name of a variable",
	.resolve = env_resolve,
	.holds_beside_everything = true,
	.equals = env_equals,
	.object = env_object,
	.spans = env_spans,
	.covers = env_covers,
	.section = SBX_SECTION_ENV,
	.section_name = "the rules of variables",
	.record = {
		RECORD_LAYOUT(struct sbx_env),
		.order = {
			RECORD_FIELD(struct sbx_env, pattern),
			RECORD_FIELD(struct sbx_env, effect),
			RECORD_FIELD(struct sbx_env, source),
		},
	},
	.fill = env_fill,
	.read = env_read,
};
