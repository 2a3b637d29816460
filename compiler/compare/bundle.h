/*
 * Many globs as one: which of them match a path.  Globs that begin alike share
 * what they begin with, and of the parts that may come next only those are
 * tried whose literal beginning, or else whose end, the name has.
 */
#ifndef SBX_COMPARE_BUNDLE_H
#define SBX_COMPARE_BUNDLE_H

#include "compiler/compare/paths.h"

struct bundle;

struct bundle *bundle_make(void);

/* Does nothing for NULL. */
void bundle_free(struct bundle *bundle);

/* Adds a glob that has come to these states; `facts` are those of its rule. */
void bundle_add(struct bundle *bundle, const struct merged_rule *rule,
    uint64_t states, uint8_t facts);

/* The facts of all rules but one whose globs match the path of these names, or
 * a directory above it; counts in *work what was tried. */
uint8_t bundle_facts(struct bundle *bundle, const struct merged_rule *but,
    const char *const *names, size_t count, size_t *work);

#endif
