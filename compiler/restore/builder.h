/*
 * Statements in the making, see statements.c: what a kind of rule needs to say
 * one of its rules.
 */
#ifndef SBX_BUILDER_H
#define SBX_BUILDER_H

#include "compiler/policy/kind.h"

struct builder {
	struct arena *arena;
	const struct policy *policy;
	struct ast_body bodies[SBX_ON_ALL + 1]; /* by where */
	struct map places; /* from the text of a place to its name */
	size_t place_count;
};

struct ast_atom *atom_new(struct builder *builder, enum ast_atom_kind kind,
    const char *text);

void add_word(struct builder *builder, struct ast_stmt *stmt, const char *word);

/* A new statement at the end of what holds on these platforms. */
struct ast_stmt *stmt_add(struct builder *builder, enum ast_kind kind,
    const struct origin *origin);

/* The same of a rule; `words` are those of a form in tables/words.def. */
struct ast_stmt *rule_add(struct builder *builder, const struct origin *origin,
    enum sbx_effect effect, const char *words);

/* The same of a word and its value: `limit timeout 300s`. */
void add_pair(struct builder *builder, enum ast_kind kind,
    const struct origin *origin, const char *word, struct ast_atom *value);

#endif
