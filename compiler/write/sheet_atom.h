/*
 * Words, names and objects on a sheet: copied from the source if there is one,
 * else spelled so that they are read as they were.
 */
#ifndef SBX_SHEET_ATOM_H
#define SBX_SHEET_ATOM_H

#include "compiler/language/ast.h"
#include "compiler/write/sheet.h"

/* A blank, and a name or a word of the language; or several. */
void sheet_word(struct sheet *sheet, const struct ast_atom *atom);
/* The name of a variable: a keyword, too, and in quotes whatever is no word. */
void sheet_variable(struct sheet *sheet, const struct ast_atom *name);
void sheet_words(struct sheet *sheet, const struct ast_list *list);

/* A blank, and what is always in quotes. */
void sheet_quoted(struct sheet *sheet, const struct ast_atom *atom);

/* An object or a value; depth: of the list that it is in. */
void sheet_object(struct sheet *sheet, const struct ast_atom *atom, int depth);

#endif
