/*
 * Blanket rules, which have words and no object: `allow network full`.  In the
 * blob they have no table: for Linux its meta record holds what they come to,
 * and for macOS the text.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/compare/compare.h"
#include "compiler/query/why.h"

#include <string.h>

static const char spawn_reason[] = "deny spawn";
enum { STAGED = 1 << 16 }; /* beside enum sbx_meta_flag: of sbx_stage_rule() */

/* What the policies of a comparison give or not as a whole. */
static const struct freedom {
	uint32_t flag;
	bool denies; /* the flag takes it away */
	const char *rule, *what;
} freedoms[] = {
	{ SBX_SIGNAL_ANYWHERE, false, "allow signal anywhere",
	    "signals to processes outside" },
	{ SBX_ABSTRACT_ANYWHERE, false, "allow abstract anywhere",
	    "abstract sockets of processes outside" },
	{ SBX_NO_SPAWN, true, spawn_reason, "new processes" },
	{ STAGED, true, "stage write", "changes of the workspace at once" },
};

static void
blanket_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct item item = *base;

	if (atom != NULL) {
		diag_add(expansion->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "nothing goes after '%s', found '%s'",
		    what_words(KIND_BLANKET, item.rule.detail), atom->text);
		return;
	}
	if (item.rule.detail == BLANKET_EVERYTHING &&
	    stmt->effect != SBX_ALLOW) {
		diag_help(diag_add(expansion->diags, DIAG_WRONG_EFFECT,
			      object_first(stmt)->loc,
			      "'everything' cannot be denied"),
		    "what is not allowed is denied: delete this line");
		return;
	}
	if (item.rule.detail == BLANKET_SPAWN && stmt->effect == SBX_ALLOW &&
	    !stmt->drop) {
		diag_help(diag_add(expansion->diags, DIAG_WRONG_EFFECT,
			      object_first(stmt)->loc,
			      "'spawn' cannot be allowed"),
		    "a command may start others unless 'deny spawn' is there: "
		    "'drop deny spawn' takes an inherited one back");
		return;
	}
	if (stmt->words.first != NULL)
		item.rule.origin.loc = (struct loc){
			stmt->words.first->loc.begin,
			stmt->words.last->loc.end,
		};
	item_add(expansion, list, &item);
}

static void
blanket_spans(struct arena *arena, const struct rule *rule,
    struct rule_spans *spans)
{
	(void)rule;
	*arena_push(arena, &spans->list) = (struct rule_span){ .low = 0 };
}

/* --- questions ------------------------------------------------------------ */

/* Of blanket rules only this one is asked about: the others have other
 * words. */
static const char *
spawn_ask(const struct places *places, const char *object,
    struct access *access)
{
	(void)places;
	(void)object;
	(void)access;
	return NULL;
}

/* The record of a system call that it denies says where `deny spawn` is. */
static uint32_t
spawn_source(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		const struct sbx_syscall *call = &blob->syscalls[i];

		if (strcmp(sbx_string(blob, call->reason), spawn_reason) == 0)
			return call->source;
	}
	return SBX_NO_SOURCE;
}

static struct verdict
spawn_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	bool denied = blob->meta->flags & SBX_NO_SPAWN;
	struct verdict verdict = {
		.allowed = !denied,
		.unenforced = denied && subject->level == SBX_LEVEL_NONE,
		.by = denied ? BY_SPAWN : BY_NOTHING,
		.source = denied ? spawn_source(blob) : SBX_NO_SOURCE,
	};

	(void)access;
	return verdict;
}

static void
spawn_answer(const struct why *why)
{
	if (why->verdict.allowed)
		fputs("    no rule denies it\n", why->stream);
	else
		why_say_decider(why, &why->verdict);
}

static const char *
spawn_enforcer(const struct why *why, enum sbx_level level)
{
	(void)why;
	return level == SBX_LEVEL_NONE ?
	    NULL :
	    "the filter, in which the command can only make threads";
}

static void
spawn_remedy(struct remedy *remedy)
{
	remedy_lift(remedy, remedy->verdict->source, spawn_reason);
}

static const struct access_form blanket_forms[] = {
	{ "spawn", "", BLANKET_SPAWN },
	{ NULL, NULL, 0 },
};

/* --- differences ---------------------------------------------------------- */

/* Whether a policy gives it, and what it says of it. */
static bool
is_open(const struct pass *pass, const struct sbx_blob *blob,
    const struct freedom *freedom, struct explanation *says)
{
	const struct sbx_path *stage = sbx_stage_rule(blob, pass->platforms);
	bool staged = freedom->flag == STAGED;
	bool everything = !staged && blob->meta->flags & SBX_EVERYTHING;
	bool flag = staged ? stage != NULL : blob->meta->flags & freedom->flag;

	says->source = SBX_NO_SOURCE;
	says->text = everything ? "allow everything" :
	    flag                ? freedom->rule :
	    freedom->denies     ? "no rule denies it" :
				  NULL;
	if (flag && freedom->denies && !everything)
		says->source = staged ? stage->source : spawn_source(blob);
	return everything || flag != freedom->denies;
}

/* The network is compared with the ports. */
static void
blanket_compare(struct pass *pass)
{
	for (size_t i = 0; i < countof(freedoms); i++) {
		struct explanation says[SIDE_COUNT] = { 0 };
		bool open[SIDE_COUNT];

		for (unsigned side = 0; side < SIDE_COUNT; side++)
			open[side] = is_open(pass,
			    pass->comparison->blobs[side], &freedoms[i],
			    &says[side]);
		if (open[SIDE_OLD] != open[SIDE_NEW])
			pass_note_setting(pass, DIFFERENCE_BLANKET,
			    open[SIDE_NEW] ? CHANGE_WIDER : CHANGE_NARROWER,
			    freedoms[i].what, says);
	}
}

const struct rule_kind kind_blanket = {
	.id = KIND_BLANKET,
	.expand = blanket_expand,
	.spans = blanket_spans,
	.forms = blanket_forms,
	.usage = "spawn",
	.ask = spawn_ask,
	.verdict = spawn_verdict,
	.answer = spawn_answer,
	.enforcer = spawn_enforcer,
	.remedy = spawn_remedy,
	.difference = {
		.word = "scope",
		.title = "scopes",
		.silence = "no rule allows it",
	},
	.compare = blanket_compare,
};
