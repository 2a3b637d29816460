/*
 * Rules: one statement gives an item for each of its objects.  What an object
 * is, the kind of the rule says (kind.h).
 */
#include "compiler/policy/kind.h"

struct origin
context_origin(struct expansion *expansion, const struct context *context,
    const struct ast_stmt *stmt, struct loc loc)
{
	return (struct origin){
		.loc = loc,
		.via = context->block->name,
		.platforms = context->platforms,
		.own = !context->block->source->builtin,
		.from = scope_position(&expansion->scope, stmt),
	};
}

bool
rule_equals(const struct rule *a, const struct rule *b)
{
	const struct rule_kind *kind = rule_kinds[a->kind];

	return a->kind == b->kind && a->effect == b->effect &&
	    a->detail == b->detail &&
	    (kind->equals == NULL || kind->equals(a, b));
}

const struct rule_kind *
rule_kind_of_section(uint32_t section)
{
	for (int id = 0; id < KIND_END; id++) {
		if (section != 0 && rule_kinds[id]->section == section)
			return rule_kinds[id];
	}
	return NULL;
}

/*
 * A group that an earlier layer expanded is expanded again if rules of it may
 * have been dropped between; what is still there is not added twice.
 */
static bool
is_there(struct expansion *expansion, const struct item *item)
{
	struct item_index *index = expansion->again;
	uint32_t *at = item_index_find(index, item);

	for (; at != NULL && *at != 0; at = &index->next.items[*at - 1]) {
		struct item *old = &expansion->items.list.items[*at - 1];

		if (old->rule.origin.loc.begin == item->rule.origin.loc.begin &&
		    !old->dropped && rule_equals(&old->rule, &item->rule) &&
		    (item->rule.origin.platforms &
			~old->rule.origin.platforms) == 0)
			return true;
	}
	return false;
}

void
item_add(struct expansion *expansion, struct item_list *list,
    const struct item *item)
{
	if (expansion->repeats && is_there(expansion, item))
		return;
	if (list->list.count < SBX_MAX_RULES) {
		*arena_push(expansion->arena, &list->list) = *item;
		return;
	}
	if (!expansion->full) {
		diag_help(diag_add(expansion->diags, DIAG_TOO_MANY,
			      item->rule.origin.loc, "more than %d rules",
			      SBX_MAX_RULES),
		    "a directory means its whole tree");
	}
	expansion->full = true;
}

/* An item for each object that follows the words. */
static void
expand_objects(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	const struct rule_kind *kind = rule_kinds[base->rule.kind];

	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.rule.origin.loc = atom->loc;
		if (kind->resolve(&expansion->scope, atom, &item.rule))
			item_add(expansion, list, &item);
	}
}

static bool
has_objects(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct what *what, const struct ast_atom *atom)
{
	const struct rule_kind *kind = rule_kinds[what->kind];

	if (!kind->has_exclusions && stmt->exclusions.first != NULL) {
		diag_add(expansion->diags, DIAG_WRONG_OBJECT,
		    stmt->exclusions.loc,
		    "'except' cuts holes in paths and variables, not in '%s'",
		    what->words);
		return false;
	}
	if (!kind->has_use && stmt->use.first != NULL) {
		diag_help(diag_add(expansion->diags, DIAG_WRONG_OBJECT,
			      stmt->use.loc,
			      "'with' goes with hosts, not with "
			      "'%s'",
			      what->words),
		    "as in 'allow network domain api.github.com with secret "
		    "gh'");
		return false;
	}
	if (kind->noun == NULL || atom != NULL)
		return true;
	diag_add(expansion->diags, DIAG_NO_OBJECT,
	    stmt->words.last == NULL ? stmt->loc : stmt->words.last->loc,
	    "expected %s after '%s'", kind->noun, what->words);
	return false;
}

void
rule_items(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context, struct item_list *list)
{
	const struct ast_atom *atom;
	const struct what *what = object_what(&expansion->scope, stmt, &atom);
	struct item item = {
		.layer = expansion->layer,
		.block = context->block,
	};

	if (what == NULL || !has_objects(expansion, stmt, what, atom))
		return;
	item.rule.kind = what->kind;
	item.rule.origin = context_origin(expansion, context, stmt, stmt->loc);
	item.rule.effect = stmt->effect;
	item.rule.detail = stmt->effect == SBX_ALLOW ? what->allow : what->deny;
	if (rule_kinds[what->kind]->expand != NULL)
		rule_kinds[what->kind]->expand(expansion, stmt, &item, atom,
		    list);
	else
		expand_objects(expansion, stmt, &item, atom, list);
}

void
expand_rule(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	if (expansion->full || context->there)
		return;
	if (context->again && expansion->again == NULL) {
		expansion->again = arena_alloc(expansion->arena,
		    sizeof *expansion->again);
		expansion->again->places = true;
	}
	if (context->again)
		item_index_fill(expansion->arena, expansion->again,
		    &expansion->items);
	expansion->repeats = context->again;
	rule_items(expansion, stmt, context, &expansion->items);
	expansion->repeats = false;
}
