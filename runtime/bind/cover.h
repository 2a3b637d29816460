/*
 * The bound rules by their places, so that those which cover a path are found
 * without asking each.
 */
#ifndef SBX_COVER_H
#define SBX_COVER_H

#include "format/index.h"
#include "runtime/base/arena.h"

struct cover {
	struct sbx_index index; /* its records are the rules */
};

/* Takes room for so many rules. */
void cover_room(struct cover *cover, struct arena *arena, uint32_t max);

/* The rules stay the caller's.  When they have changed places it has to be done
 * again. */
void cover_rules(struct cover *cover, const struct sbx_rule *rules,
    uint32_t count);

/* What sbx_path_verdict() says to these rules: whether the right is given. */
bool cover_allows(struct cover *cover, uint8_t right, struct sbx_place path);

/* Whether some allow that gives the right covers the path, denied or not. */
bool cover_gives(struct cover *cover, uint8_t right, struct sbx_place path);

#endif
