/*
 * `drop use GROUP`: the group is expanded as if no parent, and no group that is
 * used beside it, had said `use GROUP`.  What a group gives cannot be told
 * afterwards from what gives the same, so drops are collected first, from the
 * child up: a use that a later layer drops is then passed over, with all that
 * stands in that group.
 */
#include "compiler/policy/kind.h"

void
use_drop_note(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	const char *name = stmt->name->text;
	struct use_drop *drop = arena_alloc(expansion->arena, sizeof *drop);

	/* It is reported already. */
	if (blocks_find(expansion->blocks, name, true, stmt->name->loc) == NULL)
		return;
	drop->stmt = stmt;
	drop->block = context->block;
	drop->platforms = context->platforms;
	drop->layer = expansion->layer;
	drop->next = map_find(&expansion->uses.by_name, name);
	map_put(expansion->arena, &expansion->uses.by_name, name, drop);
	*arena_push(expansion->arena, &expansion->uses.drops) = drop;
	if (expansion->layer > expansion->uses.last_layer)
		expansion->uses.last_layer = expansion->layer;
}

/* A group's drop is for what the profile inherits, not for the profile. */
static bool
is_inherited(const struct use_drop *drop, const struct context *context,
    int layer)
{
	return layer < drop->layer ||
	    (layer == drop->layer && context->block->group &&
		context->block != drop->block);
}

uint8_t
use_platforms(struct expansion *expansion, const struct ast_stmt *use,
    const struct context *context)
{
	uint8_t platforms = context->platforms;
	struct use_drop *drop = map_find(&expansion->uses.by_name,
	    use->name->text);

	for (; drop != NULL; drop = drop->next) {
		if ((drop->platforms & context->platforms) == 0)
			continue;
		if (is_inherited(drop, context, expansion->layer)) {
			drop->hit = true;
			platforms &= (uint8_t)~drop->platforms;
		} else if (drop->block == context->block) {
			drop->own = use;
		}
	}
	return platforms;
}

void
use_drops_report(struct expansion *expansion)
{
	for (size_t i = 0; i < expansion->uses.drops.count; i++) {
		const struct use_drop *drop = expansion->uses.drops.items[i];
		const struct ast_atom *name = drop->stmt->name;
		struct diag *diag;

		if (drop->hit)
			continue;
		if (drop->own == NULL) {
			diag_add(expansion->diags, DIAG_NOT_INHERITED,
			    name->loc, "no 'use %s' is inherited", name->text);
			continue;
		}
		diag = diag_add(expansion->diags, DIAG_DROP_OWN, name->loc,
		    "this 'use' is not inherited: '%s' has it itself",
		    drop->block->name);
		diag_help(diag, "delete it instead of dropping it");
		diag_note(diag, drop->own->loc, "it is here");
	}
}
