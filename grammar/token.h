/*
 * What a piece of text is: a keyword, an object, or a fault.  The scanner asks
 * for each piece that it finds; who has a text that stands alone, as YAML has,
 * asks with token_object(), which scans it by the same rules.
 */
#ifndef SBX_TOKEN_H
#define SBX_TOKEN_H

#include "compiler/language/ast.h"

struct parser;
union SBX_YYSTYPE;

/*
 * The object without quotes that a text is, or NULL.  Places count from the
 * text.  A keyword is an AST_STRING, since it is an object only in quotes.
 */
struct ast_atom *token_object(struct arena *arena, const char *text);

/* The same where any text is a value: what is no object is a text in quotes. */
struct ast_atom *token_value(struct arena *arena, const char *text);

/* What a text in quotes is, its escapes replaced. */
struct ast_atom *token_quoted(struct arena *arena, struct loc loc,
    const char *text, size_t len);

bool word_is_keyword(const char *text);
/* Whether a profile, a group, a parameter or a list can be called so. */
bool word_is_name(const char *text);
/* The keyword nearest to a word among those that start a statement, or NULL. */
const char *word_nearest_statement(const char *word);

bool token_is_keyword(int token);
bool token_starts_statement(int token);
/* A keyword, or a token with an atom. */
bool token_has_text(int token);

/*
 * Called by the scanner for what becomes of a piece of text; they return its
 * token, or T_FAULT after reporting it.
 */
int token_atom(struct parser *parser, union SBX_YYSTYPE *value, struct loc loc,
    enum ast_atom_kind kind, int token);
int token_string(struct parser *parser, union SBX_YYSTYPE *value,
    struct loc loc);
int token_unclosed(struct parser *parser, struct loc loc);
int token_stray(struct parser *parser, struct loc loc);
/* A missing blank, which must not make two objects of what looks like one. */
int token_glued(struct parser *parser, struct loc loc);

#endif
