#include "compiler/kinds/place.h"

#include "compiler/query/places.h"
#include "compiler/query/show.h"
#include "compiler/query/why.h"
#include "compiler/restore/builder.h"

#include <string.h>

/* --- statements ----------------------------------------------------------- */

bool
place_no_glob(struct expansion *expansion, const struct ast_atom *atom,
    const char *words, const char *help)
{
	if (atom->kind != AST_GLOB)
		return true;
	diag_help(expansion->diags,
	    diag_add(expansion->diags, DIAG_WRONG_OBJECT, atom->loc,
		"'%s' takes no pattern", words),
	    "%s", help);
	return false;
}

void
place_items(struct expansion *expansion, const struct ast_atom *atom,
    const struct place_list *places, const struct item *base,
    struct item_list *list)
{
	struct item item = *base;

	item.rule.origin.loc = atom->loc;
	for (size_t i = 0; i < places->places.count; i++) {
		item.rule.path.at = places->places.items[i].at;
		item.rule.origin.platforms = base->rule.origin.platforms &
		    places->places.items[i].platforms;
		if (item.rule.origin.platforms != 0)
			item_add(expansion, list, &item);
	}
}

bool
place_equals(const struct rule *a, const struct rule *b)
{
	return target_compare(a->path.at, b->path.at) == 0;
}

uint64_t
place_hash(const struct rule *rule)
{
	return target_hash(rule->path.at);
}

/* Its wildcards are letters of a name. */
struct ast_atom *
place_atom(struct builder *builder, const char *text)
{
	struct ast_atom *atom = atom_new(builder, AST_PATH, text);

	atom->quoted = strpbrk(text, "*?[") != NULL;
	return atom;
}

/* --- questions ------------------------------------------------------------ */

const char *
place_ask(const struct places *places, const char *object,
    struct access *access)
{
	const char *fault = places_find(places, object, &access->path);

	if (fault != NULL)
		return arena_printf(places->arena, "'%s': %s", object, fault);
	if (places->here)
		access->followed = places_followed(places, object);
	return NULL;
}

void
place_show_access(FILE *stream, const struct access *access)
{
	show_text(stream, access->path.len > 0 ? access->path.path : "/");
}
