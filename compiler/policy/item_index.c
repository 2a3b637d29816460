/*
 * Items by what they say, so that the ones that equal another are found without
 * a look at all.
 */
#include "compiler/policy/kind.h"

/* Without padding, because it is compared byte by byte. */
struct key {
	uint64_t object;
	uint32_t place, words;
};
_Static_assert(sizeof(struct key) == 16, "no padding");

static struct key
key_of(const struct item_index *index, const struct item *item)
{
	const struct rule *rule = &item->rule;
	const struct rule_kind *kind = rule_kinds[rule->kind];

	return (struct key){
		.object = kind->hash != NULL ? kind->hash(rule) : 0,
		.place = index->places ? rule->origin.loc.begin : 0,
		.words = (uint32_t)rule->kind << 16 |
		    (uint32_t)rule->effect << 8 | rule->detail,
	};
}

static void
add(struct arena *arena, struct item_index *index, const struct item *item)
{
	struct key key = key_of(index, item);
	bool added;
	size_t number = map_number(arena, &index->keys, &key, sizeof key,
	    &added);
	uint32_t *next = arena_push(arena, &index->next);

	if (added)
		(void)arena_push(arena, &index->first);
	*next = index->first.items[number];
	index->first.items[number] = (uint32_t)index->next.count;
}

void
item_index_fill(struct arena *arena, struct item_index *index,
    const struct item_list *items)
{
	while (index->next.count < items->list.count)
		add(arena, index, &items->list.items[index->next.count]);
}

uint32_t *
item_index_find(const struct item_index *index, const struct item *item)
{
	struct key key = key_of(index, item);
	size_t number = map_number_find(&index->keys, &key, sizeof key);

	return number == SIZE_MAX ? NULL : &index->first.items[number];
}
