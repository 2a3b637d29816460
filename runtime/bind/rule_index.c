/*
 * The bound rules by their places, so that those which cover a path are found
 * without asking each.
 */
#include "runtime/bind/bind.h"

struct sbx_index
index_room(struct arena *arena, const void *records, size_t size, uint32_t most)
{
	return (struct sbx_index){
		.records = records,
		.size = size,
		.sorted = arena_take(arena, most, sizeof(uint32_t)),
		.outer = arena_take(arena, most, sizeof(uint32_t)),
	};
}

struct sbx_index *
rule_index_make(struct arena *arena, const struct sbx_rule *rules,
    uint32_t count)
{
	struct sbx_index *index = arena_take(arena, 1, sizeof *index);

	*index = index_room(arena, rules, sizeof *rules, count);
	index->count = count;
	sbx_index_make_all(index);
	return index;
}

static const struct sbx_rule *
rule_at(const struct sbx_index *index, uint32_t position)
{
	const struct sbx_rule *rules = index->records;

	return &rules[index->sorted[position - 1]];
}

bool
rule_index_allows(struct sbx_index *index, uint8_t right, struct sbx_place path)
{
	bool allowed = false;

	for (uint32_t at = sbx_index_find(index, path); at > 0;
	     at = index->outer[at - 1]) {
		struct sbx_verdict verdict =
		    sbx_path_verdict(rule_at(index, at), 1, right, path);

		if (verdict.reason == SBX_BECAUSE_DENIED)
			return false;
		allowed |= sbx_verdict_allows(verdict);
	}
	return allowed;
}

bool
rule_index_gives(struct sbx_index *index, uint8_t right, struct sbx_place path)
{
	for (uint32_t at = sbx_index_find(index, path); at > 0;
	     at = index->outer[at - 1]) {
		const struct sbx_rule *rule = rule_at(index, at);

		if (rule->effect == SBX_ALLOW && (rule->rights & right))
			return true;
	}
	return false;
}
