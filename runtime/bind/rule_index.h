/*
 * The bound rules by their places, so that those which cover a path are found
 * without asking each.
 */
#ifndef SBX_RULE_INDEX_H
#define SBX_RULE_INDEX_H

#include "format/index.h"
#include "runtime/base/arena.h"

/* An index of no records yet, with room for some. */
struct sbx_index index_room(struct arena *arena, const void *records,
    size_t size, uint32_t most);

/* The index lies in the arena, the rules stay the caller's. */
struct sbx_index *rule_index_make(struct arena *arena,
    const struct sbx_rule *rules, uint32_t count);

/* What sbx_path_verdict() says to these rules: whether the right is given. */
bool rule_index_allows(struct sbx_index *index, uint8_t right,
    struct sbx_place path);

/* Whether some allow that gives the right has its place at the path or above
 * it, denied or not. */
bool rule_index_gives(struct sbx_index *index, uint8_t right,
    struct sbx_place path);

#endif
