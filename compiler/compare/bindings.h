/*
 * Ways to place the anchors in which two policies are compared: some that
 * people know, and those that layouts.c finds.
 */
#ifndef SBX_COMPARE_BINDINGS_H
#define SBX_COMPARE_BINDINGS_H

#include "compiler/compare/quest.h"

/* The first is the usual one; NULL: there are no more. */
const struct binding *binding_usual(size_t number);

/* Whether a policy has paths in what is usually the home directory. */
bool binding_names_home(const struct sbx_blob *blob);

/* Whether it can show what the first does not. */
bool binding_is_useful(const struct comparison *comparison,
    const struct binding *binding);

/* None in another, nor in a place that is watched by its path. */
const struct binding *binding_apart(struct comparison *comparison);

/* The binding of a layout; anchors that are not on its path are elsewhere. */
const struct binding *binding_make(struct arena *arena,
    const struct forest *forest, const struct layout *layout);

/* A policy in one of these ways; if the user has bound it, only parameters are
 * as they are there. */
struct subject binding_subject(const struct comparison *comparison,
    const struct binding *binding, enum side side, struct arena *arena);

#endif
