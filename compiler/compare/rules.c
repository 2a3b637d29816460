/*
 * The path rules of two policies as one list: what both say, as symbols, is
 * one rule with two sides, so that what cannot make a difference is told from
 * what can before any path is bound.
 */
#include "compiler/compare/paths.h"

#include <stdlib.h>
#include <string.h>

/* A path rule of one side while rules are sorted. */
struct half {
	const struct sbx_blob *blob;
	const struct sbx_path *path;
	enum side side;
};

static const char *
anchor_text(const struct sbx_blob *blob, uint16_t anchor)
{
	return sbx_string(blob, blob->anchors[anchor].name);
}

/* Symbols are the same if their names are; numbers of parameters differ. */
static int
spot_compare(const struct half *a, uint16_t anchor_a, uint32_t suffix_a,
    const struct half *b, uint16_t anchor_b, uint32_t suffix_b)
{
	int order = strcmp(sbx_string(a->blob, suffix_a),
	    sbx_string(b->blob, suffix_b));

	return order != 0 ? order :
			    strcmp(anchor_text(a->blob, anchor_a),
				anchor_text(b->blob, anchor_b));
}

static int
exclusions_compare(const struct half *a, const struct half *b)
{
	int order = (a->path->exclusion_count > b->path->exclusion_count) -
	    (a->path->exclusion_count < b->path->exclusion_count);

	for (uint16_t i = 0; order == 0 && i < a->path->exclusion_count; i++) {
		const struct sbx_exclusion *x =
		    &a->blob->exclusions[a->path->first_exclusion + i];
		const struct sbx_exclusion *y =
		    &b->blob->exclusions[b->path->first_exclusion + i];

		order = spot_compare(a, x->anchor, x->suffix, b, y->anchor,
		    y->suffix);
	}
	return order;
}

static int
half_compare(const void *a, const void *b)
{
	const struct half *x = a, *y = b;
	int order = spot_compare(x, x->path->anchor, x->path->suffix, y,
	    y->path->anchor, y->path->suffix);

	if (order == 0)
		order = strcmp(sbx_string(x->blob, x->path->glob),
		    sbx_string(y->blob, y->path->glob));
	if (order == 0)
		order = (x->path->effect == SBX_ALLOW) -
		    (y->path->effect == SBX_ALLOW);
	return order != 0 ? order : exclusions_compare(x, y);
}

/* The same rule, then in the order of the views. */
static int
half_order(const void *a, const void *b)
{
	const struct half *x = a, *y = b;
	int order = half_compare(a, b);

	if (order == 0)
		order = (x->side > y->side) - (x->side < y->side);
	return order != 0 ? order : (x->path > y->path) - (x->path < y->path);
}

static size_t
halves_collect(const struct pass *pass, struct half *halves)
{
	size_t count = 0;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = pass->comparison->blobs[side];

		if (blob->meta->flags & SBX_EVERYTHING)
			continue;
		for (uint32_t i = 0; i < blob->path_count; i++) {
			if (blob->paths[i].platforms & pass->platforms)
				halves[count++] = (struct half){
					blob,
					&blob->paths[i],
					(enum side)side,
				};
		}
	}
	return count;
}

/* --- globs ---------------------------------------------------------------- */

static void
rule_add_glob(struct rules *rules, struct arena *arena, struct map *names,
    struct merged_rule *rule, const char *text)
{
	struct sbx_glob *glob = arena_alloc(arena, sizeof *glob);
	uint32_t *parts = arena_alloc(arena, SBX_MAX_GLOB * sizeof *parts);
	bool added;

	/* A verified blob has no other. */
	if (!sbx_glob_parse(text, glob))
		return;
	for (uint32_t i = 0; i < glob->count; i++) {
		parts[i] = (uint32_t)map_number(arena, names, glob->parts[i],
		    glob->lens[i], &added);
		if (added)
			*arena_push(arena,
			    &rules->parts) = (struct name_pattern){
				.text = glob->parts[i],
				.len = glob->lens[i],
				.marks = true,
			};
	}
	rule->glob = glob;
	rule->parts = parts;
}

/* --- merging -------------------------------------------------------------- */

static void
rule_add_half(struct rules *rules, struct merged_rule *rule,
    const struct half *half)
{
	uint32_t index = (uint32_t)(half->path - half->blob->paths);

	if (rule->index[half->side] == NO_RULE)
		rule->index[half->side] = index;
	rule->rights[half->side] |= half->path->rights;
	rule->effects[half->side] |= (uint8_t)(1u << half->path->effect);
	rules->of[half->side][index] = (uint32_t)(rule - rules->items);
}

static void
rules_add_everything(const struct pass *pass, struct rules *rules)
{
	struct merged_rule rule = {
		.allow = true,
		.everything = true,
		.index = { NO_RULE, NO_RULE },
	};

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (pass->comparison->blobs[side]->meta->flags & SBX_EVERYTHING)
			rule.rights[side] = SBX_RIGHTS;
	}
	if (rule.rights[SIDE_OLD] != 0 || rule.rights[SIDE_NEW] != 0)
		rules->items[rules->count++] = rule;
}

struct rules *
rules_merge(struct pass *pass, struct arena *arena)
{
	struct rules *rules = arena_alloc(arena, sizeof *rules);
	size_t most = 1;
	struct half *halves;
	struct map names = { 0 };

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		size_t count = pass->comparison->blobs[side]->path_count;

		rules->of[side] = arena_alloc(arena,
		    (count + 1) * sizeof *rules->of[side]);
		most += count;
	}
	halves = arena_alloc(arena, most * sizeof *halves);
	rules->items = arena_alloc(arena, most * sizeof *rules->items);
	most = halves_collect(pass, halves);
	qsort(halves, most, sizeof *halves, half_order);
	for (size_t i = 0; i < most; i++) {
		struct merged_rule *rule = &rules->items[rules->count];

		if (i > 0 && half_compare(&halves[i - 1], &halves[i]) == 0) {
			rule_add_half(rules, rule - 1, &halves[i]);
			continue;
		}
		*rule = (struct merged_rule){
			.allow = halves[i].path->effect == SBX_ALLOW,
			.index = { NO_RULE, NO_RULE },
			.side = halves[i].side,
		};
		if (halves[i].path->glob != 0)
			rule_add_glob(rules, arena, &names, rule,
			    sbx_string(halves[i].blob, halves[i].path->glob));
		rule_add_half(rules, rule, &halves[i]);
		rules->count++;
	}
	rules_add_everything(pass, rules);
	return rules;
}

/* --- deny or prefer deny -------------------------------------------------- */

/* A plain deny on one side, and no more than a preferred one on the other. */
void
compare_strengths(struct pass *pass, const struct rules *rules)
{
	struct arena *arena = pass->comparison->arena;

	for (size_t i = 0; i < rules->count; i++) {
		const struct merged_rule *rule = &rules->items[i];
		struct explanation says[SIDE_COUNT] = { { .text = NULL } };

		if (rule->allow || rule->rights[SIDE_OLD] == 0 ||
		    rule->rights[SIDE_NEW] == 0 ||
		    ((rule->effects[SIDE_OLD] ^ rule->effects[SIDE_NEW]) &
			1 << SBX_DENY) == 0)
			continue;
		for (unsigned side = 0; side < SIDE_COUNT; side++) {
			const struct sbx_blob *blob =
			    pass->comparison->blobs[side];
			const struct sbx_path *path =
			    &blob->paths[rule->index[side]];

			says[side].text = path_explanation(arena, blob, path);
			says[side].source = path->source;
		}
		pass_note_setting(pass, DIFFERENCE_STRENGTH, CHANGE_NEUTRAL,
		    rule->effects[SIDE_NEW] & 1 << SBX_DENY ?
			"a preferred deny became a strict one" :
			"a strict deny became a preferred one",
		    says);
	}
}
