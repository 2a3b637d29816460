/*
 * limit, set, about and require: of each one stands.  The child's wins over
 * the parent's and a profile's over that of a group that it uses; `limit X
 * none` wins too and then leaves nothing.  A floor (`require`) is never
 * lowered by what comes later.
 *
 * All are noted first.  Then they are sorted so that those of one kind and key
 * stand together, the strongest first, and each takes the platforms that none
 * before it has taken.  What the shipped group `offline` sets is left out where
 * a rule leads out of the sandbox.
 */
#include "compiler/policy/kind.h"

#include "compiler/base/base.h"
#include "format/blob.h"

#include <stdlib.h>
#include <string.h>

static struct setting *
setting_add(struct expansion *expansion, const struct context *context,
    const struct ast_stmt *stmt, enum setting_kind kind, struct loc loc)
{
	struct setting *setting = arena_push(expansion->arena,
	    &expansion->settings);

	setting->origin = context_origin(expansion, context, stmt, loc);
	setting->position = policy_position(expansion->policy,
	    &setting->origin);
	setting->kind = kind;
	setting->name = "";
	setting->text = "";
	setting->anchor = SBX_NO_ANCHOR;
	setting->block = context->block;
	setting->layer = expansion->layer;
	setting->depth = context->depth;
	setting->order = expansion->settings.count;
	if (kind != SETTING_LIMIT && kind != SETTING_SET)
		setting->origin.platforms = SBX_ON_ALL;
	return setting;
}

void
expand_limit(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	const struct ast_atom *word = object_first(stmt);
	const struct ast_atom *value = object_next(stmt, word);
	const struct limit_word *limit = limit_find(word->text);
	bool none = value->kind == AST_WORD && strcmp(value->text, "none") == 0;
	struct setting *setting;
	struct diag *diag;
	uint64_t number = 0;

	if (limit == NULL) {
		diag = diag_add(expansion->diags, DIAG_UNKNOWN_LIMIT, word->loc,
		    "unknown limit '%s'", word->text);
		if (limit_nearest(word->text) != NULL)
			diag_did_you_mean(diag, limit_nearest(word->text));
		else
			diag_help(diag, "limits are%s",
			    limit_words(expansion->arena));
		return;
	}
	if (!none && !object_limit(&expansion->scope, limit, value, &number))
		return;
	setting = setting_add(expansion, context, stmt, SETTING_LIMIT,
	    word->loc);
	setting->key = limit->kind;
	setting->none = none;
	setting->value = number;
}

void
expand_set(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	const struct ast_atom *word = stmt->words.first;
	struct rule rule = { .origin.platforms = context->platforms };
	struct setting *setting;

	if (strcmp(word->text, "env") != 0) {
		diag_help(diag_add(expansion->diags, DIAG_UNKNOWN_WORD,
			      word->loc, "unknown word '%s' after 'set'",
			      word->text),
		    "write 'set env NAME = VALUE'");
		return;
	}
	if (!object_variable(&expansion->scope, stmt->name, false) ||
	    (!stmt->drop &&
		!object_value(&expansion->scope, stmt->objects.first, &rule)))
		return;
	setting = setting_add(expansion, context, stmt, SETTING_SET,
	    stmt->name->loc);
	setting->name = stmt->name->text;
	setting->none = stmt->drop;
	if (stmt->drop)
		return;
	setting->text = rule.set.text;
	setting->anchor = rule.set.anchor;
}

void
expand_about(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	setting_add(expansion, context, stmt, SETTING_ABOUT, stmt->loc)->text =
	    stmt->name->text;
}

static bool
require_level(struct expansion *expansion, const struct ast_atom *atom,
    uint64_t *value)
{
	int level = level_find(atom->text);
	struct diag *diag;

	*value = (uint64_t)level;
	if (level >= 0)
		return true;
	diag = diag_add(expansion->diags, DIAG_UNKNOWN_WORD, atom->loc,
	    "unknown level '%s'", atom->text);
	if (level_nearest(atom->text) != NULL)
		diag_did_you_mean(diag, level_nearest(atom->text));
	else
		diag_help(diag, "expected full, standard, minimal or none");
	return false;
}

static bool
require_landlock(struct expansion *expansion, const struct ast_atom *atom,
    uint64_t *value)
{
	struct diag *diag;
	char *end;

	*value = strtoull(atom->text, &end, 10);
	if (atom->kind == AST_NUMBER && *end == '\0' && *value >= 1 &&
	    *value <= SBX_LANDLOCK_LAST_ABI)
		return true;
	diag = diag_add(expansion->diags, DIAG_BAD_ABI, atom->loc,
	    "'%s' is not a Landlock ABI", atom->text);
	diag_help(diag, "this sbxc knows 1 to %d", SBX_LANDLOCK_LAST_ABI);
	return false;
}

void
expand_require(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	static const char *const words[] = { "landlock", "level" };
	const struct ast_atom *word = object_first(stmt);
	const struct ast_atom *atom = object_next(stmt, word);
	bool level = strcmp(word->text, "level") == 0;
	struct setting *setting;
	struct diag *diag;
	uint64_t value;

	if (!level && strcmp(word->text, "landlock") != 0) {
		diag = diag_add(expansion->diags, DIAG_UNKNOWN_WORD, word->loc,
		    "unknown word '%s' after 'require'", word->text);
		if (nearest_name(word->text, words, 2) != NULL)
			diag_did_you_mean(diag,
			    nearest_name(word->text, words, 2));
		else
			diag_help(diag, "expected 'level' or 'landlock'");
		return;
	}
	if (level ? !require_level(expansion, atom, &value) :
		    !require_landlock(expansion, atom, &value))
		return;
	if ((context->platforms & SBX_ON_LINUX) != SBX_ON_LINUX) {
		diag = diag_add(expansion->diags, DIAG_FLOOR_HERE, stmt->loc,
		    "a floor for %s alone", platform_text(context->platforms));
		diag_help(diag,
		    "a floor is for Linux as a whole: put it outside of this "
		    "'on' block");
		return;
	}
	setting = setting_add(expansion, context, stmt,
	    level ? SETTING_LEVEL : SETTING_LANDLOCK, atom->loc);
	setting->value = value;
}

/* Of one kind and key, so that one stands for both. */
static int
compare_keys(const struct setting *a, const struct setting *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->name == b->name ? 0 : strcmp(a->name, b->name);
}

static int
compare_ranks(const struct setting *a, const struct setting *b)
{
	if (a->layer != b->layer)
		return a->layer > b->layer ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return 0;
}

static bool
is_floor(const struct setting *setting)
{
	return setting->kind == SETTING_LEVEL ||
	    setting->kind == SETTING_LANDLOCK;
}

static int
compare_settings(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	int order = compare_keys(x, y);

	if (order == 0)
		order = compare_ranks(x, y);
	/* Of the floors of two groups the higher one holds. */
	if (order == 0 && is_floor(x) && x->value != y->value)
		return x->value > y->value ? -1 : 1;
	/* Where they agree, no order of the text may show in the blob. */
	if (order == 0)
		order = position_compare(&x->position, &y->position);
	if (order == 0)
		order = x->order < y->order ? -1 : 1;
	return order;
}

static const char *
setting_text(const struct expansion *expansion, const struct setting *setting)
{
	switch (setting->kind) {
	case SETTING_LIMIT:
		return arena_printf(expansion->arena, "limit %s",
		    limit_of_kind((enum sbx_limit_kind)setting->key)->word);
	case SETTING_SET:
		return arena_printf(expansion->arena, "set env %s",
		    setting->name);
	case SETTING_ABOUT:
		return "about";
	case SETTING_LEVEL:
		return "require level";
	case SETTING_LANDLOCK:
		return "require landlock";
	}
	return "";
}

static bool
settings_agree(const struct setting *a, const struct setting *b)
{
	return a->value == b->value && a->none == b->none &&
	    a->anchor == b->anchor && strcmp(a->text, b->text) == 0;
}

/* Two statements of equal rank for one platform: nothing says which wins. */
static void
report_twice(struct expansion *expansion, const struct setting *first,
    const struct setting *second)
{
	const char *text = setting_text(expansion, second);
	bool same = first->block == second->block;
	struct diag *diag;

	if (first->order > second->order) {
		const struct setting *swap = first;

		first = second;
		second = swap;
	}
	if (!same && (is_floor(first) || settings_agree(first, second)))
		return;
	diag = diag_add(expansion->diags, DIAG_SAID_TWICE, second->origin.loc,
	    same ? "'%s' stands twice in '%s'" :
		   "'%s' of group '%s' contradicts another group's",
	    text, second->block->name);
	if (!same)
		diag_help(diag, "say in the profile which one is meant");
	diag_note(diag, first->origin.loc,
	    same ? "it is here first" : "the other one is here");
}

static void
report_lowered(struct expansion *expansion, const struct setting *strong,
    const struct setting *weak)
{
	const char *word = setting_text(expansion, strong);
	struct diag *diag;

	if (strong->kind == SETTING_LEVEL)
		diag = diag_add(expansion->diags, DIAG_LOWERED,
		    strong->origin.loc,
		    "'%s %s' is below the inherited level '%s'", word,
		    level_word((enum sbx_level)strong->value),
		    level_word((enum sbx_level)weak->value));
	else
		diag = diag_add(expansion->diags, DIAG_LOWERED,
		    strong->origin.loc, "'%s %u' is below the inherited %u",
		    word, (unsigned)strong->value, (unsigned)weak->value);
	diag_help(diag, "a floor can be raised only");
	diag_note(diag, weak->origin.loc, "it is required here");
}

static void
setting_stand(struct policy *policy, const struct setting *setting)
{
	struct rule *rule;

	switch (setting->kind) {
	case SETTING_LIMIT:
		rule = policy_add(policy, KIND_LIMIT, &setting->origin,
		    SBX_ALLOW);
		rule->detail = (uint8_t)setting->key;
		rule->limit.value = setting->value;
		break;
	case SETTING_SET:
		rule = policy_add(policy, KIND_SET, &setting->origin,
		    SBX_ALLOW);
		rule->set.name = setting->name;
		rule->set.text = setting->text;
		rule->set.anchor = setting->anchor;
		break;
	case SETTING_ABOUT:
		policy->about = setting->text;
		break;
	case SETTING_LEVEL:
		policy->level = (enum sbx_level)setting->value;
		policy->level_origin = setting->origin;
		break;
	case SETTING_LANDLOCK:
		policy->landlock = (int)setting->value;
		policy->landlock_origin = setting->origin;
		break;
	}
}

/* Walks one run from the strongest: each takes the platforms that are left. */
static void
run_settle(struct expansion *expansion, struct setting *run, size_t count)
{
	const struct setting *last[8] = { NULL };

	for (size_t i = 0; i < count; i++) {
		struct setting *setting = &run[i];
		const struct setting *equal = NULL, *lower = NULL;

		setting->stands = setting->origin.platforms;
		for (unsigned bit = 0; bit < 8; bit++) {
			const struct setting *stronger = last[bit];

			if ((setting->origin.platforms >> bit & 1) == 0)
				continue;
			last[bit] = setting;
			if (stronger == NULL)
				continue;
			setting->stands &= (uint8_t) ~(1u << bit);
			if (compare_ranks(stronger, setting) == 0)
				equal = stronger;
			else if (is_floor(setting) &&
			    stronger->value < setting->value)
				lower = stronger;
		}
		if (equal != NULL)
			report_twice(expansion, equal, setting);
		if (lower != NULL)
			report_lowered(expansion, lower, setting);
	}
}

/* Walks one run from the weakest: `limit X none` and `drop set env X` need
 * something to lift. */
static void
run_lifts(struct expansion *expansion, const struct setting *run, size_t count)
{
	uint8_t limited = 0;
	struct diag *diag;

	for (size_t i = count; i-- > 0;) {
		const struct setting *setting = &run[i];

		if (!setting->none)
			limited |= setting->origin.platforms;
		/* Beside `set env X` of the same block it is reported already. */
		if (setting->kind == SETTING_SET && setting->stands == 0)
			continue;
		if (!setting->none || !setting->origin.own ||
		    (limited & setting->origin.platforms) != 0)
			continue;
		diag = setting->kind == SETTING_SET ?
		    diag_add(expansion->diags, DIAG_NOT_INHERITED,
			setting->origin.loc, "no 'set env %s' is inherited",
			setting->name) :
		    diag_add(expansion->diags, DIAG_LIFTS_NOTHING,
			setting->origin.loc, "no limit '%s' is inherited",
			limit_of_kind((enum sbx_limit_kind)setting->key)->word);
		diag_help(diag, "delete this line");
	}
}

/* --- tools without a network ---------------------------------------------- */

/* The shipped group whose settings tell tools that nothing leads out. */
static const char offline_group[] = "offline";

/* Whether the rule lets a command reach what is not in its sandbox. */
static bool
leads_out(const struct rule *rule)
{
	if (rule->effect != SBX_ALLOW)
		return false;
	if (rule->kind == KIND_PORT)
		return rule->detail == SBX_CONNECT_TCP ||
		    rule->detail == SBX_HOST_TCP;
	if (rule->kind == KIND_BLANKET)
		return rule->detail == BLANKET_NETWORK ||
		    rule->detail == BLANKET_EVERYTHING;
	return rule->kind == KIND_DOMAIN || rule->kind == KIND_ENDPOINT ||
	    rule->kind == KIND_PROXY;
}

/* Where something leads out. */
static uint8_t
platforms_online(const struct expansion *expansion)
{
	uint8_t online = 0, denied = 0;

	for (size_t i = 0; i < expansion->items.list.count; i++) {
		const struct item *item = &expansion->items.list.items[i];

		if (leads_out(&item->rule))
			online |= item->rule.origin.platforms;
		else if (item->rule.kind == KIND_BLANKET &&
		    item->rule.detail == BLANKET_NETWORK)
			denied |= item->rule.origin.platforms;
	}
	return online & (uint8_t)~denied;
}

static int
compare_orders(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

void
expand_settings(struct expansion *expansion)
{
	struct setting *all = expansion->settings.items;
	size_t count = expansion->settings.count, end;
	uint8_t online = platforms_online(expansion);

	if (count == 0)
		return;
	qsort(all, count, sizeof *all, compare_settings);
	for (size_t first = 0; first < count; first = end) {
		end = first + 1;
		while (end < count && compare_keys(&all[first], &all[end]) == 0)
			end++;
		run_settle(expansion, &all[first], end - first);
		run_lifts(expansion, &all[first], end - first);
	}
	qsort(all, count, sizeof *all, compare_orders);
	for (size_t i = 0; i < count; i++) {
		if (all[i].kind == SETTING_SET &&
		    strcmp(all[i].block->name, offline_group) == 0)
			all[i].stands &= (uint8_t)~online;
		if (all[i].stands == 0 || all[i].none)
			continue;
		all[i].origin.platforms = all[i].stands;
		setting_stand(expansion->policy, &all[i]);
	}
}
