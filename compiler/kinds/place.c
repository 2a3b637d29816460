/*
 * What the kinds of rules about one place have in common: its object in a
 * statement, comparing it, and questions about paths.  A rule has the place in
 * path.at.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/policy/kind.h"
#include "compiler/query/why.h"

#include <inttypes.h>
#include <string.h>

/* --- statements ----------------------------------------------------------- */

bool
place_no_glob(struct expansion *expansion, const struct ast_atom *atom,
    const char *words, const char *help)
{
	if (atom->kind != AST_GLOB)
		return true;
	diag_help(diag_add(expansion->diags, DIAG_WRONG_OBJECT, atom->loc,
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
	return target_compare(a->path.at, b->path.at) == 0 &&
	    a->path.glob == b->path.glob;
}

uint64_t
place_hash(const struct rule *rule)
{
	return target_hash(rule->path.at) * 31 + hash_name(rule->path.glob);
}

/*
 * --- back to statements ---
 *
 * The language cannot say `glob` of a place whose own name holds what is a
 * wildcard in a pattern; a `let` gives such a place a name.
 */

/* Its wildcards are letters of a name. */
struct ast_atom *
place_atom(struct builder *builder, const char *text)
{
	struct ast_atom *atom = atom_new(builder, AST_PATH, text);

	atom->quoted = strpbrk(text, "*?[") != NULL;
	return atom;
}

/* The name of a `let` for a place that no pattern can begin with: the same for
 * the same place, wherever it is used. */
static const char *
place_name(struct builder *builder, const char *place)
{
	static const struct origin nowhere = { .platforms = SBX_ON_ALL };
	struct ast_stmt *stmt;
	uint64_t hash = 0;
	const char *name;

	for (const char *at = place; *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	name = arena_printf(builder->arena, "place-%" PRIx64, hash);
	stmt = stmt_add(builder, AST_LET, &nowhere);
	stmt->name = atom_new(builder, AST_WORD, name);
	ast_list_add(&stmt->objects, place_atom(builder, place));
	return name;
}

struct ast_atom *
place_object(struct builder *builder, const struct path_rule *rule)
{
	const char *place = policy_target_text(builder->policy, rule->at);
	const char *text;

	if (rule->glob == NULL)
		return place_atom(builder, place);
	if (strpbrk(rule->at.suffix, "*?[]{}\\") != NULL ||
	    strlen(rule->at.suffix) + strlen(rule->glob) > SBX_MAX_PATH)
		place = arena_printf(builder->arena, "${%s}",
		    place_name(builder, place));
	text = arena_printf(builder->arena, "%s%s",
	    strcmp(place, "/") == 0 ? "" : place, rule->glob);
	return atom_new(builder, AST_GLOB, text);
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
