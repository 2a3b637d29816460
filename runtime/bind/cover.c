/* See cover.h. */
#include "runtime/bind/cover.h"

void
cover_room(struct cover *cover, struct arena *arena, uint32_t max)
{
	cover->index = (struct sbx_index){
		.size = sizeof(struct sbx_rule),
		.sorted = arena_take(arena, max, sizeof(uint32_t)),
		.outer = arena_take(arena, max, sizeof(uint32_t)),
	};
}

void
cover_rules(struct cover *cover, const struct sbx_rule *rules, uint32_t count)
{
	cover->index.records = rules;
	cover->index.count = count;
	sbx_index_make_all(&cover->index);
}

static const struct sbx_rule *
rule_at(const struct cover *cover, uint32_t position)
{
	const struct sbx_rule *rules = cover->index.records;

	return &rules[cover->index.sorted[position - 1]];
}

bool
cover_allows(struct cover *cover, uint8_t right, struct sbx_place path)
{
	bool allowed = false;

	for (uint32_t at = sbx_index_find(&cover->index, path); at > 0;
	     at = cover->index.outer[at - 1]) {
		struct sbx_verdict verdict =
		    sbx_path_verdict(rule_at(cover, at), 1, right, path);

		if (verdict.reason == SBX_BECAUSE_DENIED)
			return false;
		allowed |= sbx_verdict_allows(verdict);
	}
	return allowed;
}

bool
cover_gives(struct cover *cover, uint8_t right, struct sbx_place path)
{
	for (uint32_t at = sbx_index_find(&cover->index, path); at > 0;
	     at = cover->index.outer[at - 1]) {
		const struct sbx_rule *rule = rule_at(cover, at);

		if (rule->effect == SBX_ALLOW && (rule->rights & right))
			return true;
	}
	return false;
}
