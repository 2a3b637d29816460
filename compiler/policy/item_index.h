/*
 * Items by what they say, so that the ones that equal another are found without
 * a look at all.
 */
#ifndef SBX_ITEM_INDEX_H
#define SBX_ITEM_INDEX_H

#include "compiler/policy/expand.h"

struct item_index {
	bool places;     /* equal are those of one place in the text alone */
	struct map keys; /* its numbers are the indices of `first` */
	VEC(uint32_t) first; /* 1 + the number of an item, or 0 */
	VEC(uint32_t) next;  /* by number: the one after it, as above */
};

/* Adds the items of the list that are not in the index yet. */
void item_index_fill(struct arena *arena, struct item_index *index,
    const struct item_list *items);

/* Where the first item is noted that may equal this one; NULL: there is none.
 * The next one is noted in next.items[number of the item]. */
uint32_t *item_index_find(const struct item_index *index,
    const struct item *item);

#endif
