/*
 * From the words and atoms of one statement to the things that they mean:
 * forms of rules, variables, limits, values, platforms.  Each function reports
 * what is wrong with an object and then returns false.
 */
#ifndef SBX_COMPILER_POLICY_OBJECTS_H
#define SBX_COMPILER_POLICY_OBJECTS_H

#include "compiler/policy/scope.h"
#include "compiler/tables/words.h"

/*
 * What a rule speaks of.  *objects is the first atom after its words; it may
 * stand among the words of the statement or among its objects.
 */
const struct what *object_what(struct scope *scope, const struct ast_stmt *stmt,
    const struct ast_atom **objects);

/* The atoms of a statement one after the other: words, then objects. */
const struct ast_atom *object_next(const struct ast_stmt *stmt,
    const struct ast_atom *atom);
const struct ast_atom *object_first(const struct ast_stmt *stmt);

/* An atom as it was written. */
const char *atom_text(struct scope *scope, const struct ast_atom *atom);

/* A decimal number that ends at `stop`; false if it is none or too large. */
bool number_read(const char *text, const char *stop, uint64_t *value);

/* The number of a port, which is part of an atom's text. */
bool object_port(struct scope *scope, const struct ast_atom *atom,
    const char *text, size_t len, uint16_t *port);

/* The name of a variable; a pattern of names if `stars`. */
bool object_variable(struct scope *scope, const struct ast_atom *atom,
    bool stars);

bool object_limit(struct scope *scope, const struct limit_word *limit,
    const struct ast_atom *atom, uint64_t *value);

/* The value of `set env`: an anchor, if any, and the text after it. */
bool object_value(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule);

/* The bits of an `on` block's platforms, or 0. */
uint8_t object_platforms(struct scope *scope, const struct ast_stmt *stmt);

#endif
