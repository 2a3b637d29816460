/*
 * Names and groups that the file declares and nothing speaks of.  This looks
 * at the text, not at what one profile needs: a file may hold several.
 */
#include "compiler/policy/kind.h"

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
		mention_names(mentions, &stmt->exclusions);
		mention(mentions, stmt->body);
		mention(mentions, stmt->included);
		if (stmt->kind == AST_USE)
			map_put(mentions->arena, &mentions->groups,
			    stmt->name->text, mentions);
	}
}

static void
report(struct expansion *expansion, const struct mentions *mentions,
    const struct ast_stmt *stmts, bool groups)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		const struct ast_atom *name = stmt->name;
		bool is_name = stmt->kind == AST_LET || stmt->kind == AST_PARAM;

		report(expansion, mentions, stmt->body, groups);
		if (is_name && map_find(&mentions->names, name->text) == NULL)
			diag_add(expansion->diags,
			    stmt->kind == AST_PARAM ? DIAG_UNUSED_PARAM :
						      DIAG_UNUSED_LET,
			    name->loc, "'${%s}' is never used", name->text);
		if (stmt->kind == AST_GROUP_DEF && groups &&
		    map_find(&mentions->groups, name->text) == NULL)
			diag_add(expansion->diags, DIAG_UNUSED_GROUP, name->loc,
			    "group '%s' is never used", name->text);
	}
}

void
report_unused(struct expansion *expansion, const struct ast_stmt *stmts)
{
	struct mentions mentions = { .arena = expansion->arena };
	bool profiles = false;

	/* A file of groups alone is there for others to include. */
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next)
		profiles |= stmt->kind == AST_PROFILE;
	mention(&mentions, stmts);
	report(expansion, &mentions, stmts, profiles);
}
