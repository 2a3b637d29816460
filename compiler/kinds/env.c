/*
 * Rules about the caller's variables: `allow env LC_*`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/query/why.h"

#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "format/model.h"
#include "grammar/grammar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* They are compared with each pattern of the rule. */
enum { EXCEPTS_MAX = 64 };

/* The names of an `except`, sorted. */
struct env_excepts {
	VEC(const struct ast_atom *) atoms;
	bool *used;
};

static int
excepts_compare(const void *a, const void *b)
{
	const struct ast_atom *const *x = a, *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

static bool
excepts_read(struct scope *scope, const struct ast_stmt *stmt,
    struct env_excepts *excepts)
{
	const struct ast_atom *atom = stmt->exclusions.first;
	bool good = true;

	for (; atom != NULL; atom = atom->next) {
		if (!object_variable(scope, atom, true)) {
			good = false;
		} else if (strpbrk(atom->text, "* ") != NULL) {
			diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
			    "'except' needs the name of one variable, not '%s'",
			    atom->text);
			good = false;
		}
		*arena_push(scope->arena, &excepts->atoms) = atom;
	}
	excepts->used = arena_alloc(scope->arena, excepts->atoms.count + 1);
	memset(excepts->used, 0, excepts->atoms.count + 1);
	if (excepts->atoms.count > EXCEPTS_MAX) {
		diag_add(scope->diags, DIAG_TOO_MANY, stmt->exclusions.loc,
		    "more than %d names of variables", EXCEPTS_MAX);
		return false;
	}
	if (excepts->atoms.count > 1)
		qsort(excepts->atoms.items, excepts->atoms.count,
		    sizeof *excepts->atoms.items, excepts_compare);
	return good;
}

/* Those that a pattern matches, as they stand in a rule; NULL: nothing is left of
 * the rule. */
static const char *
excepts_of(struct scope *scope, struct env_excepts *excepts,
    const char *pattern)
{
	const char *names = "", *last = "";

	for (size_t i = 0; i < excepts->atoms.count; i++) {
		const char *name = excepts->atoms.items[i]->text;

		if (!sbx_pattern_match(pattern, name, strlen(name)))
			continue;
		excepts->used[i] = true;
		if (strcmp(pattern, name) == 0)
			return NULL;
		if (strcmp(name, last) != 0)
			names = arena_printf(scope->arena, "%s%s%s", names,
			    *names != '\0' ? " " : "", name);
		last = name;
	}
	return arena_intern(scope->arena, names, strlen(names));
}

static void
env_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct scope *scope = &expansion->scope;
	struct env_excepts excepts = { .used = NULL };
	bool good = excepts_read(scope, stmt, &excepts), left = false;

	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.rule.origin.loc = atom->loc;
		item.rule.env.pattern = atom->text;
		if (!object_variable(scope, atom, true) || !good)
			continue;
		item.rule.env.except = excepts_of(scope, &excepts, atom->text);
		left |= item.rule.env.except != NULL;
		if (item.rule.env.except != NULL)
			item_add(expansion, list, &item);
	}
	if (good && !left && excepts.atoms.count > 0)
		diag_add(scope->diags, DIAG_NOTHING_LEFT,
		    stmt->exclusions.first->loc,
		    "'except' takes all of this rule away");
	for (size_t i = 0; i < excepts.atoms.count && good; i++) {
		atom = excepts.atoms.items[i];
		if (!excepts.used[i])
			diag_add(scope->diags, DIAG_EXCLUSION_OUTSIDE,
			    atom->loc, "'%s' is no name of this rule's",
			    atom->text);
	}
}

static bool
env_equals(const struct rule *a, const struct rule *b)
{
	return a->env.pattern == b->env.pattern &&
	    a->env.except == b->env.except;
}

static uint64_t
env_hash(const struct rule *rule)
{
	return hash_name(rule->env.pattern);
}

static void
env_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = stmt_add_rule(builder, &rule->origin,
	    rule->effect, what_words(rule->kind, rule->detail));
	const char *pattern = rule->env.pattern, *name = rule->env.except;

	ast_list_add(&stmt->objects,
	    atom_new(builder,
		strchr(pattern, '*') != NULL ? AST_PATTERN : AST_WORD,
		pattern));
	for (size_t len; *name != '\0'; name += len + (name[len] == ' ')) {
		len = strcspn(name, " ");
		ast_list_add(&stmt->exclusions,
		    atom_new(builder, AST_WORD,
			arena_strndup(builder->arena, name, len)));
	}
}

/* " except A", or " except { A B }", or nothing. */
static const char *
except_text(struct arena *arena, const char *except)
{
	if (*except == '\0')
		return "";
	return arena_printf(arena,
	    strchr(except, ' ') != NULL ? " except { %s }" : " except %s",
	    except);
}

static const char *
env_text(const struct policy *policy, const struct rule *rule)
{
	return arena_printf(policy->arena, "%s %s %s%s",
	    effect_word(rule->effect), what_words(rule->kind, rule->detail),
	    rule->env.pattern, except_text(policy->arena, rule->env.except));
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
	    sbx_pattern_match(wide->env.pattern, name, strlen(name)) &&
	    !sbx_env_excepts(wide->env.except, name, strlen(name));
}

static void
env_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_env *env = record;

	env->pattern = emit_string(emitter, rule->env.pattern);
	env->except = emit_string(emitter, rule->env.except);
	env->effect = (uint8_t)rule->effect;
}

static void
env_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_env *env = record;
	const char *except = sbx_string(blob, env->except);

	fprintf(stream, "%s env ", effect_word(env->effect));
	show_text(stream, sbx_string(blob, env->pattern));
	if (*except == '\0')
		return;
	fputs(strchr(except, ' ') != NULL ? " except {" : " except", stream);
	for (size_t len; *except != '\0';
	     except += len + (except[len] == ' ')) {
		char name[SBX_MAX_PATH + 1];

		len = strcspn(except, " ");
		snprintf(name, sizeof name, "%.*s", (int)len, except);
		fputc(' ', stream);
		show_text(stream, name);
	}
	if (strchr(sbx_string(blob, env->except), ' ') != NULL)
		fputs(" }", stream);
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

/* On this machine a `set env` below ${runtime} needs that to be somewhere. */
static bool
set_holds(const struct subject *subject, const struct sbx_set *set)
{
	const struct places *places = &subject->places;

	if ((set->platforms & subject->arch->platforms) == 0)
		return false;
	return set->anchor != SBX_ANCHOR_RUNTIME || !places->here ||
	    !places->named[SBX_ANCHOR_RUNTIME];
}

/* The first `set env` of a name that counts for the subject, or how many there
 * are. */
static uint32_t
set_rule(const struct subject *subject, const char *name)
{
	const struct sbx_blob *blob = subject->places.blob;
	uint32_t i = 0, next;

	if (subject->env != NULL) {
		next = env_index_set(subject->env, name);
		while (next != 0 && !set_holds(subject, &blob->set[next - 1]))
			next = subject->env->next_set[next - 1];
		return next == 0 ? blob->set_count : next - 1;
	}
	while (i < blob->set_count &&
	    (!set_holds(subject, &blob->set[i]) ||
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

/* What sbxrun sets itself where the subject runs, or NULL. */
static const struct sbx_given *
given_find(const struct subject *subject, const char *name)
{
	const struct sbx_given *given = sbx_given_find(name);

	/* Test files ask about macOS, too, where sbxrun is not. */
	if (given == NULL || subject->arch->audit == 0 || subject->policy_alone)
		return NULL;
	if (given->by == SBX_GIVEN_AGENT)
		return subject_has_agent(subject) ? given : NULL;
	return sbx_given_holds(given, subject->places.blob,
		   subject->arch->platforms) ?
	    given :
	    NULL;
}

static struct verdict
given_verdict(const struct sbx_given *given)
{
	return (struct verdict){
		.allowed = true,
		.by = given->by == SBX_GIVEN_SCRATCH ? BY_SCRATCH :
		    given->by == SBX_GIVEN_AGENT     ? BY_AGENT :
						       BY_SBXRUN,
		.source = SBX_NO_SOURCE,
	};
}

/* What the rules say of the caller's own. */
static struct verdict
callers_verdict(const struct subject *subject, const char *name)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model = model_verdict(subject, name);
	struct verdict verdict = verdict_begin(model);

	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_ENV;
		verdict.rule = model.rule;
		verdict.source = blob->env[model.rule].source;
	} else if (verdict.allowed) {
		verdict.by = BY_EVERYTHING;
	}
	return verdict;
}

/* What the policy says, whatever sbxrun sets itself. */
static struct verdict
policy_verdict(const struct subject *subject, const char *name)
{
	const struct sbx_blob *blob = subject->places.blob;
	uint32_t set = set_rule(subject, name);

	if (set == blob->set_count)
		return callers_verdict(subject, name);
	return (struct verdict){
		.allowed = true,
		.by = BY_SET,
		.rule = set,
		.source = blob->set[set].source,
	};
}

/* The rule with a secret that the command knows by this variable, or NULL. */
static const struct sbx_name *
find_use(const struct subject *subject, const char *name)
{
	const struct sbx_blob *blob = subject->places.blob;

	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if (rule->variable != 0 && subject->arch->audit != 0 &&
		    (rule->platforms & subject->arch->platforms) != 0 &&
		    strcmp(sbx_string(blob, rule->variable), name) == 0)
			return rule;
	}
	return NULL;
}

static struct verdict
env_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_given *given = given_find(subject, access->name);
	const struct sbx_name *use = find_use(subject, access->name);
	struct verdict verdict;

	if (use != NULL)
		return (struct verdict){
			.allowed = true,
			.by = BY_RULE + KIND_DOMAIN,
			.rule = (uint32_t)(use - subject->places.blob->names),
			.source = use->source,
		};
	if (given != NULL && sbx_given_overrides(given))
		return given_verdict(given);
	verdict = policy_verdict(subject, access->name);
	return given == NULL || verdict.by == BY_SET ? verdict :
						       given_verdict(given);
}

static void
answer_given(const struct why *why, const struct sbx_given *given)
{
	static const char *const values[] = {
		[SBX_GIVEN_SCRATCH] = "where the scratch directory is",
		[SBX_GIVEN_PROXY] = "for programs that look for a proxy alone",
		[SBX_GIVEN_TRUST] = "whom to believe where TLS is ended",
		[SBX_GIVEN_GIT] = "where a copy of the settings of git is",
		[SBX_GIVEN_AGENT] = "where the socket of the agent is",
		[SBX_GIVEN_PROFILE] = "the name of the profile",
		[SBX_GIVEN_LEVEL] = "the level",
		[SBX_GIVEN_SESSION] = "the name of the session",
	};
	struct verdict policy = policy_verdict(why->subject, why->access->name);

	fprintf(why->stream, "    sbxrun sets it itself: %s\n",
	    values[given->by]);
	/* What gives or takes the caller's, or gives another. */
	if (policy.by != BY_SET && (policy.by != BY_ENV || policy.allowed))
		return;
	why_say_rule(why, "this changes nothing: ", policy.source);
	decider_show(why->stream, why->blob, &policy);
	why_say_rule_end(why, decider_platforms(why->blob, &policy),
	    policy.source);
}

/* The `set env` of this name that have no place here. */
static void
answer_unset(const struct why *why)
{
	const struct sbx_blob *blob = why->blob;

	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];

		if ((set->platforms & why->subject->arch->platforms) == 0 ||
		    set_holds(why->subject, set) ||
		    strcmp(sbx_string(blob, set->name), why->access->name) != 0)
			continue;
		why_say_rule(why,
		    "XDG_RUNTIME_DIR is not set, so that this sets nothing: ",
		    set->source);
		kind_set.show(why->stream, blob, set);
		why_say_rule_end(why, set->platforms, set->source);
	}
}

/* Where what a `set env` of this name opens in the home is not there. */
static void
answer_absent(const struct why *why)
{
	const struct sbx_blob *blob = why->blob;
	const struct places *places = &why->subject->places;

	for (uint32_t i = 0; i < blob->set_count && places->here; i++) {
		const struct sbx_set *set = &blob->set[i];
		const char *opened = sbx_set_opened(blob, set,
		    why->subject->arch->platforms);

		if (opened == NULL ||
		    strcmp(sbx_string(blob, set->name), why->access->name) != 0)
			continue;
		opened = arena_printf(places->arena, "%s%s",
		    places->anchors[SBX_ANCHOR_HOME].path, opened);
		if (access(opened, F_OK) == 0 || errno != ENOENT)
			continue;
		fputs("    ", why->stream);
		show_text(why->stream, opened);
		fprintf(why->stream,
		    " is not there, so that it leads to ${tmp}%s, in the "
		    "scratch directory\n",
		    sbx_string(blob, set->text));
	}
}

static void
env_answer(const struct why *why)
{
	const struct sbx_given *given = sbx_given_find(why->access->name);

	if (why->verdict.by == BY_SCRATCH || why->verdict.by == BY_AGENT ||
	    why->verdict.by == BY_SBXRUN)
		answer_given(why, given);
	else
		why_say_decider(why, &why->verdict);
	if (why->verdict.by == BY_RULE + KIND_DOMAIN) {
		const struct sbx_name *use =
		    &why->blob->names[why->verdict.rule];

		fprintf(why->stream,
		    "    it has something in place of secret %s, which the "
		    "command may use and cannot read\n",
		    sbx_string(why->blob, use->secret));
		return;
	}
	answer_unset(why);
	if (why->verdict.by == BY_SET)
		answer_absent(why);
	if (given != NULL && given->by == SBX_GIVEN_AGENT)
		why_say_no_agent(why);
	if (why->verdict.by == BY_ENV && why->verdict.allowed &&
	    why->subject->places.here && getenv(why->access->name) == NULL)
		fputs("    but it is not set here\n", why->stream);
	if (given != NULL && given->by == SBX_GIVEN_SESSION)
		fputs("    in a session sbxrun sets it itself: the name of the "
		      "session\n",
		    why->stream);
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
	const struct ast_atom *atom = token_object(arena, name);
	const char *spelled = spelled_path(arena, name);

	if (atom != NULL && atom->kind == AST_WORD)
		return name;
	return spelled == NULL || spelled[0] == '"' ?
	    spelled :
	    arena_printf(arena, "\"%s\"", spelled);
}

/* A list of names with one more. */
static const char *
with_name(struct arena *arena, const char *except, const char *name)
{
	return *except == '\0' ? name :
				 arena_printf(arena, "%s %s", except, name);
}

static void
env_remedy(struct remedy *remedy)
{
	const struct sbx_blob *blob = remedy->blob;
	const char *name = remedy->access->name, *object;
	size_t len = strlen(name);
	bool given = blob->meta->flags & SBX_EVERYTHING;

	if (strcmp(name, "SSH_AUTH_SOCK") == 0 && remedy_agent(remedy))
		return;
	for (uint32_t i = 0; i < blob->env_count; i++) {
		const struct sbx_env *rule = &blob->env[i];
		const char *pattern = sbx_string(blob, rule->pattern);

		if ((rule->platforms & remedy->subject->arch->platforms) == 0 ||
		    !sbx_pattern_match(pattern, name, len) ||
		    sbx_env_excepts(sbx_string(blob, rule->except), name, len))
			continue;
		if (rule->effect == SBX_ALLOW) {
			given = true;
			continue;
		}
		remedy_lift(remedy, rule->source,
		    record_text(remedy->arena, blob, &kind_env, rule));
		object = spelled_variable(remedy->arena, name);
		if (strchr(pattern, '*') != NULL && object != NULL)
			remedy_add(remedy, REMEDY_ADD, "deny env %s%s", pattern,
			    except_text(remedy->arena,
				with_name(remedy->arena,
				    sbx_string(blob, rule->except), object)));
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
	.has_exclusions = true,
	.expand = env_expand,
	.holds_beside_everything = true,
	.equals = env_equals,
	.hash = env_hash,
	.state = env_state,
	.text = env_text,
	.show = env_show,
	.spans = env_spans,
	.covers = env_covers,
	.section = SBX_SECTION_ENV,
	.section_name = "the rules of variables",
	.record = {
		RECORD_LAYOUT(struct sbx_env),
		.order = {
			RECORD_FIELD(struct sbx_env, pattern),
			RECORD_FIELD(struct sbx_env, except),
			RECORD_FIELD(struct sbx_env, effect),
			RECORD_FIELD(struct sbx_env, source),
		},
	},
	.fill = env_fill,
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
	},
	.compare = compare_env,
};
