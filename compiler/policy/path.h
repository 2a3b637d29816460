/*
 * The text of a path: what is wrong with it, and where in the source.
 */
#ifndef SBX_COMPILER_POLICY_PATH_H
#define SBX_COMPILER_POLICY_PATH_H

#include "compiler/policy/scope.h"

/* Whether a path is normal: "" or "/a/b".  If not, reports it. */
bool path_check(struct scope *scope, const struct ast_atom *atom,
    const char *path);

/* Whether an object names a place, and is no glob and no text with wildcards;
 * reports it if not. */
bool path_is_place(struct scope *scope, const struct ast_atom *atom);

/* Warns of a pattern in quotes without `glob` before it: the rule is then about
 * a file of that name, which is not there. */
void path_warn_wildcard(struct scope *scope, const struct ast_atom *atom);

/* Some bytes of an atom's text, or the whole atom where it was quoted. */
struct loc atom_part(const struct scope *scope, const struct ast_atom *atom,
    const char *part, size_t len);

/* Whether the atom stands in the source as its text is, without quotes. */
bool atom_is_plain(const struct scope *scope, const struct ast_atom *atom);

#endif
