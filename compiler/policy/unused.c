/*
 * Names and groups that the file declares and nothing speaks of.  This looks
 * at the text, not at what one profile needs: a file may hold several.
 */
#include "compiler/policy/unfold.h"

#include <string.h>

struct mentions {
	struct arena *arena;
	struct map names, groups;
};

static void
mention_names(struct mentions *mentions, const struct ast_list *list)
{
	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next) {
		const char *name = atom->text + 2;
		const char *end = strchr(atom->text, '}');

		if (strncmp(atom->text, "${", 2) == 0 && end != NULL)
			map_put(mentions->arena, &mentions->names,
			    arena_intern(mentions->arena, name,
				(size_t)(end - name)),
			    mentions);
	}
}

static void
mention(struct mentions *mentions, const struct ast_stmt *stmts)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		mention_names(mentions, &stmt->words);
		mention_names(mentions, &stmt->objects);
		mention_names(mentions, &stmt->holes);
		mention(mentions, stmt->body);
		mention(mentions, stmt->included);
		if (stmt->kind == AST_USE)
			map_put(mentions->arena, &mentions->groups,
			    stmt->name->text, mentions);
	}
}

static void
report(struct unfolding *unfolding, const struct mentions *mentions,
    const struct ast_stmt *stmts, bool groups)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		const struct ast_atom *name = stmt->name;
		bool is_name = stmt->kind == AST_LET || stmt->kind == AST_PARAM;

		report(unfolding, mentions, stmt->body, groups);
		if (is_name && map_find(&mentions->names, name->text) == NULL)
			diag_add(unfolding->diags,
			    stmt->kind == AST_PARAM ? DIAG_UNUSED_PARAM :
						      DIAG_UNUSED_LET,
			    name->loc, "'${%s}' is never used", name->text);
		if (stmt->kind == AST_GROUP_DEF && groups &&
		    map_find(&mentions->groups, name->text) == NULL)
			diag_add(unfolding->diags, DIAG_UNUSED_GROUP, name->loc,
			    "group '%s' is never used", name->text);
	}
}

void
report_unused(struct unfolding *unfolding, const struct ast_stmt *stmts)
{
	struct mentions mentions = { .arena = unfolding->arena };
	bool profiles = false;

	/* A file of groups alone is there for others to include. */
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next)
		profiles |= stmt->kind == AST_PROFILE;
	mention(&mentions, stmts);
	report(unfolding, &mentions, stmts, profiles);
}
