/*
 * TOML 1.0 as the tree of yaml.h: a table is a map, an array a list, and every
 * other value is its text, which is plain unless it stood in quotes.  A key that
 * stands twice is refused, and so is a character that is written by its number;
 * a table may get keys in more ways than TOML allows.
 */
#ifndef SBX_TOML_H
#define SBX_TOML_H

#include "compiler/read/yaml.h"

/* Reads one document.  NULL after reporting whatever is wrong with it. */
struct yaml_node *toml_read(struct sources *sources, struct diags *diags,
    const struct source *source);

#endif
