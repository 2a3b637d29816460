/*
 * What sbxrun looks at before and after the command: `watch ~/.bashrc`.  Such a
 * rule allows and denies nothing.  The access that it is asked about is a
 * change that nobody hears of: "unseen PATH" is denied where a rule watches the
 * path.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "compiler/query/why.h"
#include "format/model.h"

#include <string.h>

/* --- statements ----------------------------------------------------------- */

static void
watch_object(struct expansion *expansion, const struct ast_atom *atom,
    const struct item *base, struct item_list *list)
{
	struct place_list places = { 0 };
	struct item item = *base;
	struct ast_atom root = *atom;

	if (base->rule.detail == SBX_WATCH_GIT &&
	    !place_no_glob(expansion, atom, "watch git",
		"name the directory that has the repository"))
		return;
	if (atom->kind == AST_GLOB &&
	    !glob_split(&expansion->scope, atom, &root, &item.rule.path.glob))
		return;
	if (scope_paths(&expansion->scope, &root, base->rule.origin.platforms,
		&places))
		place_items(expansion, atom, &places, &item, list);
}

static void
watch_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct item item = *base;

	item.rule.effect = SBX_ALLOW;
	for (; atom != NULL; atom = object_next(stmt, atom))
		watch_object(expansion, atom, &item, list);
}

static const char *
watch_text(const struct policy *policy, const struct rule *rule)
{
	return arena_printf(policy->arena, "%s %s",
	    what_words(KIND_WATCH, rule->detail),
	    path_rule_object(policy, &rule->path));
}

static void
watch_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = stmt_add_rule(builder, &rule->origin, SBX_ALLOW,
	    what_words(KIND_WATCH, rule->detail));

	ast_list_add(&stmt->objects, place_object(builder, &rule->path));
}

/* --- records -------------------------------------------------------------- */

static void
watch_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_watch *watch = record;

	fprintf(stream, "%s ", what_words(KIND_WATCH, watch->form));
	show_glob(stream, blob, watch->anchor, watch->suffix, watch->glob);
}

static void
watch_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_watch *watch = record;

	watch->suffix = emit_string(emitter, rule->path.at.suffix);
	watch->anchor = rule->path.at.anchor;
	watch->form = rule->detail;
	if (rule->path.glob != NULL)
		watch->glob = emit_string(emitter, rule->path.glob);
	emit_anchor(emitter, watch->anchor);
}

/* --- questions ------------------------------------------------------------ */

static const char *
watch_ask(const struct places *places, const char *object,
    struct access *access)
{
	const char *fault = places_find(places, object, &access->path);

	return fault == NULL ?
	    NULL :
	    arena_printf(places->arena, "'%s': %s", object, fault);
}

/* Whether a rule watches a path; ~ has two meanings, as where it denies. */
static bool
is_watched(const struct places *places, const struct sbx_watch *watch,
    struct sbx_place path)
{
	const struct sbx_path rule = {
		.suffix = watch->suffix,
		.anchor = watch->anchor,
		.effect = SBX_DENY,
	};

	const char *pattern = sbx_string(places->blob, watch->glob);

	return sbx_watch_covers(watch, pattern,
		   places_rule(places, &rule, false).at, path) ||
	    (places_rule_has_other(places, &rule) &&
		sbx_watch_covers(watch, pattern,
		    places_rule(places, &rule, true).at, path));
}

static struct verdict
watch_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;

	for (uint32_t i = 0; i < blob->watch_count; i++) {
		const struct sbx_watch *watch = &blob->watches[i];

		if ((watch->platforms & subject->arch->platforms) != 0 &&
		    is_watched(&subject->places, watch, access->path))
			return (struct verdict){
				.by = BY_RULE + KIND_WATCH,
				.rule = i,
				.source = watch->source,
			};
	}
	return (struct verdict){ .allowed = true, .source = SBX_NO_SOURCE };
}

static void
watch_answer(const struct why *why)
{
	if (why->verdict.allowed)
		fputs("    no rule watches it\n", why->stream);
	else
		why_say_decider(why, &why->verdict);
}

static const char *
watch_enforcer(const struct why *why, enum sbx_level level)
{
	(void)why;
	(void)level;
	return "sbxrun, which looks before and after, and tells";
}

static void
watch_remedy(struct remedy *remedy)
{
	remedy_lift(remedy, remedy->verdict->source,
	    decider_text(remedy->arena, remedy->blob, remedy->verdict));
}

static const struct access_form watch_forms[] = {
	{ "unseen", NULL, 0 },
	{ NULL, NULL, 0 },
};

/* --- differences ---------------------------------------------------------- */

/* A path that a pattern matches, with these names for its stars; "**" is no
 * directory where that is none. */
static const char *
pattern_witness(struct arena *arena, const char *pattern, const char *star)
{
	const char *text = "";

	for (const char *part = pattern + 1;; part++) {
		size_t len = strcspn(part, "/");
		const char *name = "";

		for (size_t i = 0; i < len; i++)
			name = part[i] == '*' ?
			    arena_printf(arena, "%s%s", name, star) :
			    arena_printf(arena, "%s%c", name,
				part[i] == '?' ? 'q' : part[i]);
		if (*name == '\0' && strncmp(part, "**/", 3) != 0)
			name = "q";
		if (*name != '\0')
			text = arena_printf(arena, "%s/%s", text, name);
		part += len;
		if (*part == '\0')
			return text;
	}
}

/* Names below a watched place that stand for all that the rule covers.  Of a
 * pattern they are some of those that it matches. */
static const char *
watch_witness(struct arena *arena, uint8_t form, const char *pattern,
    unsigned number)
{
	static const char *const stars[] = { "q-watched~", "", "q", ".q.q" };
	const char *other = "", *end = "";

	if (*pattern != '\0')
		return number < countof(stars) ?
		    pattern_witness(arena, pattern, stars[number]) :
		    NULL;
	if (form != SBX_WATCH_GIT)
		return number == 0 ? "" : NULL;
	if (number == 0)
		return "/.git";
	number--;
	if (number >= SBX_GIT_TOLD) {
		unsigned which = number / SBX_GIT_TOLD - 1;

		if (which >= SBX_GIT_OTHERS)
			return NULL;
		other = sbx_git_others[which];
		end = "/x";
	}
	return arena_printf(arena, "/.git%s%s%s", other, end,
	    sbx_git_names[number % SBX_GIT_TOLD].name);
}

/* Asks both sides about one path that a rule of one side covers. */
static void
compare_witness(struct pass *pass, enum side side, uint32_t rule,
    const char *below)
{
	struct arena *arena = pass->comparison->arena;
	const struct places *places = &pass->subjects[side].places;
	const struct sbx_watch *watch = &places->blob->watches[rule];
	const struct sbx_path at = {
		.suffix = watch->suffix,
		.anchor = watch->anchor,
	};
	const char *path = arena_printf(arena, "%s%s",
	    places_rule(places, &at, false).at.path, below);
	const struct access access = {
		.kind = KIND_WATCH,
		.path = sbx_place_of(path),
	};
	const struct note_key key = {
		.kind = DIFFERENCE_WATCH,
		.change = side == SIDE_OLD ? CHANGE_WIDER : CHANGE_NARROWER,
		.side = side,
		.by = BY_RULE + KIND_WATCH,
		.rule = rule,
	};

	if (pass_ask(pass, !side, &access, SBX_LEVEL_FULL, 0).allowed &&
	    !pass_again(pass, &key))
		pass_note_access(pass, &key, &access, SBX_LEVEL_FULL, 0);
}

static void
watch_compare(struct pass *pass)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = pass->comparison->blobs[side];

		for (uint32_t i = 0; i < blob->watch_count; i++) {
			const struct sbx_watch *watch = &blob->watches[i];
			const char *below;

			if ((watch->platforms & pass->platforms) == 0)
				continue;
			for (unsigned number = 0;
			     (below = watch_witness(pass->comparison->arena,
				  watch->form, sbx_string(blob, watch->glob),
				  number)) != NULL;
			     number++)
				compare_witness(pass, (enum side)side, i,
				    below);
		}
	}
}

const struct rule_kind kind_watch = {
	.id = KIND_WATCH,
	.noun = "a path",
	.expand = watch_expand,
	.equals = place_equals,
	.hash = place_hash,
	.holds_beside_everything = true,
	.text = watch_text,
	.state = watch_state,
	.show = watch_show,
	.section = SBX_SECTION_WATCHES,
	.section_name = "the watched places",
	.record = {
		RECORD_LAYOUT(struct sbx_watch),
		.order = {
			RECORD_FIELD(struct sbx_watch, anchor),
			RECORD_FIELD(struct sbx_watch, suffix),
			RECORD_FIELD(struct sbx_watch, form),
			RECORD_FIELD(struct sbx_watch, glob),
			RECORD_FIELD(struct sbx_watch, source),
		},
	},
	.fill = watch_fill,
	.forms = watch_forms,
	.usage = "unseen PATH",
	.ask = watch_ask,
	.show_access = place_show_access,
	.verdict = watch_verdict,
	.answer = watch_answer,
	.enforcer = watch_enforcer,
	.remedy = watch_remedy,
	.difference = {
		.word = "watch",
		.title = "watched places",
		.silence = "no rule watches it",
	},
	.compare = watch_compare,
};
