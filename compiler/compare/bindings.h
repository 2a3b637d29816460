/*
 * Ways to place the anchors in which two policies are compared: some that
 * people know, and those that layouts.c makes.
 */
#ifndef SBX_COMPARE_BINDINGS_H
#define SBX_COMPARE_BINDINGS_H

#include "compiler/compare/paths.h"

/* The first is the usual one; NULL: there are no more. */
const struct binding *binding_usual(size_t number);

/* The usual one in which the password entry has another home: it comes last,
 * for no option says so. */
const struct binding *binding_two_homes(void);

/* Whether a policy has paths in what is usually the home directory. */
bool binding_names_home(const struct sbx_blob *blob);

/* Whether it can show what the first does not. */
bool binding_is_useful(const struct comparison *comparison,
    const struct binding *binding);

/* None in another, nor in a place that is watched by its path. */
const struct binding *binding_apart(struct comparison *comparison);

/* Whether a workspace or a home may be there: no device, no directory of the
 * system.  A parameter may name the latter. */
bool binding_is_work_place(const char *path);
bool binding_is_param_place(const char *path);

/* A policy in one of these ways; if the user has bound it, only parameters are
 * as they are there. */
struct subject binding_subject(const struct comparison *comparison,
    const struct binding *binding, enum side side, struct arena *arena);

#endif
