/*
 * How each statement looks in YAML, for those who read and who write it.
 *
 *	- about: TEXT
 *	- use: NAME			or a list of them
 *	- let: { NAME: OBJECTS }
 *	- set env: { NAME: VALUE }
 *	- limit timeout: VALUE
 *	- on linux: STATEMENTS
 *	- allow read: OBJECTS		with `except: OBJECTS` beside it
 *
 * A key begins with the word of the form; words that follow it there are those
 * of the statement.
 */
#ifndef SBX_YAML_FORM_H
#define SBX_YAML_FORM_H

#include "compiler/language/ast.h"

#include <stdbool.h>

enum yaml_shape {
	SHAPE_TEXT,      /* WORD: TEXT */
	SHAPE_TEXTS,     /* WORD: TEXT, or a list */
	SHAPE_NAMES,     /* WORD: NAME, or a list */
	SHAPE_LETS,      /* WORD: { NAME: OBJECTS } */
	SHAPE_VARIABLES, /* WORD what: { NAME: VALUE } */
	SHAPE_VALUE,     /* WORD what: VALUE */
	SHAPE_BODY,      /* WORD words: STATEMENTS */
	SHAPE_RULE,      /* WORD words: OBJECTS */
	SHAPE_BLOCKS,    /* WORD: { NAME: STATEMENTS } */
};

struct yaml_form {
	const char *word;
	enum ast_kind kind;
	enum yaml_shape shape;
	bool in_file;        /* it can stand at the level of the file */
	bool in_body;        /* it can stand in a list of statements */
	bool has_from;       /* it can have a `from` beside it */
	const char *example; /* "use: NAME" */
};

/* The form whose keys begin with this word, or NULL. */
const struct yaml_form *yaml_form_find(const char *word);

/* The form of a kind of statements that is not AST_RULE. */
const struct yaml_form *yaml_form_of(enum ast_kind kind);

/* The words of the forms of the file, or else of bodies, and NULL for each
 * other form. */
enum { YAML_FORMS = 17 };
void yaml_form_words(bool in_file, const char *words[YAML_FORMS]);

#endif
