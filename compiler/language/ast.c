/* See ast.h. */
#include "compiler/language/ast.h"

#include <string.h>

struct ast_atom *
ast_atom(struct arena *arena, enum ast_atom_kind kind, struct loc loc,
    const char *text, size_t len)
{
	struct ast_atom *atom = arena_alloc(arena, sizeof *atom);

	atom->kind = kind;
	atom->loc = loc;
	atom->text = arena_intern(arena, text, len);
	return atom;
}

void
ast_list_add(struct ast_list *list, struct ast_atom *atom)
{
	if (list->last == NULL) {
		list->first = atom;
		list->loc.begin = atom->loc.begin;
	} else {
		list->last->next = atom;
	}
	list->last = atom;
	list->loc.end = atom->loc.end;
}

struct ast_stmt *
ast_stmt(struct arena *arena, enum ast_kind kind, struct loc loc)
{
	struct ast_stmt *stmt = arena_alloc(arena, sizeof *stmt);

	stmt->kind = kind;
	stmt->loc = loc;
	return stmt;
}

void
ast_body_add(struct ast_body *body, struct ast_stmt *stmt)
{
	if (stmt == NULL)
		return;
	if (body->last == NULL)
		body->first = stmt;
	else
		body->last->next = stmt;
	body->last = stmt;
}

bool
ast_has_effect(const struct ast_stmt *stmt)
{
	return stmt->words.first == NULL ||
	    (strcmp(stmt->words.first->text, "watch") != 0 &&
		strcmp(stmt->words.first->text, "stage") != 0);
}

const char *
ast_block_end(const struct source *source, const struct ast_stmt *block)
{
	const char *at = source->text + (block->loc.end - source->base);
	const char *end = source->text + source->size;
	int depth = 0;

	for (bool quoted = false; at < end; at++) {
		if (quoted && *at == '\\')
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (!quoted && *at == '#' &&
		    strchr(" \t\n", at[-1]) != NULL)
			at += strcspn(at, "\n");
		else if (!quoted && *at == '{' && at[-1] != '$')
			depth++;
		else if (!quoted && *at == '}' && --depth <= 0)
			return at;
		else if (!quoted && at[0] == '$' && at[1] == '{')
			at += strcspn(at, "}");
	}
	return NULL;
}
