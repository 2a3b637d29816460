/*
 * Rules about the caller's variables: `allow env LC_*`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/query/env_index.h"

#include "compiler/compare/parts.h"
#include "compiler/lower/emitter.h"
#include "compiler/query/decider.h"
#include "compiler/query/remedy.h"
#include "compiler/query/show.h"
#include "compiler/query/sockets.h"
#include "compiler/query/why.h"
#include "format/model.h"
#include "grammar/token.h"

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

static uint64_t
env_hash(const struct rule *rule)
{
	return hash_name(rule->env.pattern);
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

/* --- questions ------------------------------------------------------------ */

static const char *
env_ask(const struct places *places, const char *object, struct access *access)
{
	access->name = object;
	if (object[0] != '\0' && strpbrk(object, "=*") == NULL)
		return NULL;
	return arena_printf(places->arena, "'%s' is no name of a variable",
	    object);
}

static void
env_show_access(FILE *stream, const struct access *access)
{
	show_text(stream, access->name);
}

/* The first `set env` of a name on the subject's machine, or how many there
 * are. */
static uint32_t
set_rule(const struct subject *subject, const char *name)
{
	const struct sbx_blob *blob = subject->places.blob;
	uint32_t i = 0, next;

	if (subject->env != NULL) {
		next = env_index_set(subject->env, name);
		while (next != 0 &&
		    (blob->set[next - 1].platforms &
			subject->arch->platforms) == 0)
			next = subject->env->next_set[next - 1];
		return next == 0 ? blob->set_count : next - 1;
	}
	while (i < blob->set_count &&
	    ((blob->set[i].platforms & subject->arch->platforms) == 0 ||
		strcmp(sbx_string(blob, blob->set[i].name), name) != 0))
		i++;
	return i;
}

static struct sbx_verdict
model_verdict(const struct subject *subject, const char *name)
{
	struct sbx_blob blob = *subject->places.blob;
	const struct env_records *some = NULL;
	struct sbx_verdict model;

	if (subject->env != NULL) {
		some = env_index_rules(subject->env, name);
		blob.env = some->records.items;
		blob.env_count = (uint32_t)some->records.count;
	}
	model = sbx_env_verdict(&blob, subject->arch->platforms, name,
	    strlen(name));
	if (some != NULL && model.rule != SBX_NO_RULE)
		model.rule = some->numbers.items[model.rule];
	return model;
}

static struct verdict
env_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model = model_verdict(subject, access->name);
	struct verdict verdict = verdict_begin(model);
	uint32_t set = set_rule(subject, access->name);

	if (set < blob->set_count)
		return (struct verdict){
			.allowed = true,
			.by = BY_SET,
			.rule = set,
			.source = blob->set[set].source,
		};
	/* The loader sets it wherever there is a scratch directory. */
	if ((blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED) != 0 &&
	    strcmp(access->name, "TMPDIR") == 0)
		return (struct verdict){
			.allowed = true,
			.by = BY_SCRATCH,
			.source = SBX_NO_SOURCE,
		};
	if (strcmp(access->name, "SSH_AUTH_SOCK") == 0 &&
	    subject_has_agent(subject))
		return (struct verdict){
			.allowed = true,
			.by = BY_AGENT,
			.source = SBX_NO_SOURCE,
		};
	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_ENV;
		verdict.rule = model.rule;
		verdict.source = blob->env[model.rule].source;
	} else if (verdict.allowed) {
		verdict.by = BY_EVERYTHING;
	}
	return verdict;
}

static void
env_answer(const struct why *why)
{
	if (why->verdict.by == BY_SCRATCH)
		fputs("    sbxrun sets it, to the scratch directory\n",
		    why->stream);
	else if (why->verdict.by == BY_AGENT)
		fputs("    sbxrun sets it, to the agent's socket, if a rule "
		      "opens one\n",
		    why->stream);
	else
		why_say_decider(why, &why->verdict);
}

static const char *
env_enforcer(const struct why *why, enum sbx_level level)
{
	(void)why;
	(void)level;
	return "sbxrun, which does not hand it on";
}

/* As an object: in quotes if it is no plain word; NULL if it cannot be one. */
static const char *
spelled_variable(struct arena *arena, const char *name)
{
	const struct ast_atom *atom = token_object(arena, name, NULL);
	const char *spelled = spelled_path(arena, name);

	if (atom != NULL && atom->kind == AST_WORD)
		return name;
	return spelled == NULL || spelled[0] == '"' ?
	    spelled :
	    arena_printf(arena, "\"%s\"", spelled);
}

static void
env_remedy(struct remedy *remedy)
{
	const struct sbx_blob *blob = remedy->blob;
	const char *name = remedy->access->name, *object;
	size_t len = strlen(name);
	bool given = blob->meta->flags & SBX_EVERYTHING;

	for (uint32_t i = 0; i < blob->env_count; i++) {
		const struct sbx_env *rule = &blob->env[i];
		const char *pattern = sbx_string(blob, rule->pattern);

		if ((rule->platforms & remedy->subject->arch->platforms) == 0 ||
		    !sbx_pattern_match(pattern, name, len))
			continue;
		if (rule->effect == SBX_ALLOW)
			given = true;
		else
			remedy_lift(remedy, rule->source,
			    record_text(remedy->arena, blob, &kind_env, rule));
	}
	if (given)
		return;
	object = spelled_variable(remedy->arena, name);
	if (object == NULL)
		remedy_add(remedy, REMEDY_NONE, "no policy can hold its name");
	else
		remedy_add(remedy, REMEDY_ADD, "allow env %s", object);
}

static const struct access_form env_forms[] = {
	{ "env", NULL, 0 },
	{ NULL, NULL, 0 },
};

const struct rule_kind kind_env = {
	.id = KIND_ENV,
	.noun = "the name of a variable",
	.resolve = env_resolve,
	.holds_beside_everything = true,
	.equals = env_equals,
	.hash = env_hash,
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
	.forms = env_forms,
	.usage = "syscall NAME, or env NAME",
	.ask = env_ask,
	.show_access = env_show_access,
	.verdict = env_verdict,
	.answer = env_answer,
	.enforcer = env_enforcer,
	.remedy = env_remedy,
	.difference = {
		.word = "env",
		.title = "environment",
		.explain = "Which of the caller's variables are handed on.",
	},
	.compare = compare_env,
};
