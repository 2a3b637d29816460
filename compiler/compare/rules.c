/*
 * The path rules of two policies as one list: what both say, as symbols, is
 * one rule with two sides, so that what cannot make a difference is told from
 * what can before any path is bound.
 */
#include "compiler/compare/paths.h"

#include <string.h>

struct merger {
	const struct pass *pass;
	struct arena *arena;
	struct rules *rules;
	struct map keys;  /* what rules say; numbers are those of the rules */
	struct map names; /* the parts of globs */
	char *key;
	size_t len, room; /* of the key */
};

/* --- keys ----------------------------------------------------------------- */

static void
key_add(struct merger *merger, const char *text)
{
	size_t size = strlen(text) + 1;

	if (merger->key == NULL || merger->len + size > merger->room) {
		char *larger;

		merger->room = 2 * (merger->len + size);
		larger = arena_alloc(merger->arena, merger->room);
		if (merger->len > 0)
			memcpy(larger, merger->key, merger->len);
		merger->key = larger;
	}
	memcpy(merger->key + merger->len, text, size);
	merger->len += size;
}

/* Anchors are the same if their names are; numbers of parameters differ. */
static void
key_add_place(struct merger *merger, const struct sbx_blob *blob,
    uint16_t anchor, uint32_t suffix)
{
	key_add(merger, sbx_string(blob, blob->anchors[anchor].name));
	key_add(merger, sbx_string(blob, suffix));
}

/* All that makes a rule the same in both policies. */
static void
key_make(struct merger *merger, const struct sbx_blob *blob,
    const struct sbx_path *path)
{
	merger->len = 0;
	key_add_place(merger, blob, path->anchor, path->suffix);
	key_add(merger, sbx_string(blob, path->glob));
	key_add(merger, path->effect == SBX_ALLOW ? "allow" : "deny");
	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &blob->exclusions[path->first_exclusion + i];

		key_add_place(merger, blob, exclusion->anchor,
		    exclusion->suffix);
	}
}

/* --- globs ---------------------------------------------------------------- */

static void
rule_add_glob(struct merger *merger, struct merged_rule *rule, const char *text)
{
	struct arena *arena = merger->arena;
	struct sbx_glob *glob = arena_alloc(arena, sizeof *glob);
	uint32_t *parts = arena_alloc(arena, SBX_MAX_GLOB * sizeof *parts);
	bool added;

	/* A verified blob has no other. */
	if (!sbx_glob_parse(text, glob))
		return;
	for (uint32_t i = 0; i < glob->count; i++) {
		parts[i] = (uint32_t)map_number(arena, &merger->names,
		    glob->parts[i], glob->lens[i], &added);
		if (added)
			*arena_push(arena,
			    &merger->rules->parts) = (struct name_pattern){
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
merge_path(struct merger *merger, enum side side, uint32_t index)
{
	struct rules *rules = merger->rules;
	const struct sbx_blob *blob = merger->pass->comparison->blobs[side];
	const struct sbx_path *path = &blob->paths[index];
	struct merged_rule *rule;
	bool added;

	key_make(merger, blob, path);
	rules->of[side][index] = (uint32_t)map_number(merger->arena,
	    &merger->keys, merger->key, merger->len, &added);
	rule = &rules->items[rules->of[side][index]];
	if (added) {
		*rule = (struct merged_rule){
			.allow = path->effect == SBX_ALLOW,
			.index = { NO_RULE, NO_RULE },
			.side = side,
			.path = path,
		};
		if (path->glob != 0)
			rule_add_glob(merger, rule,
			    sbx_string(blob, path->glob));
		rules->count++;
	}
	if (rule->index[side] == NO_RULE)
		rule->index[side] = index;
	rule->rights[side] |= path->rights & SBX_RIGHTS;
	rule->effects[side] |= (uint8_t)(1u << path->effect);
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
	struct merger merger = {
		.pass = pass,
		.arena = arena,
		.rules = rules,
	};
	const struct sbx_blob *const *blobs = pass->comparison->blobs;

	rules->items = arena_alloc(arena,
	    (blobs[SIDE_OLD]->path_count + blobs[SIDE_NEW]->path_count + 1u) *
		sizeof *rules->items);
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = blobs[side];
		const struct subject subject = {
			.level = pass->level,
			.cut = pass->cut,
		};

		rules->of[side] = arena_alloc(arena,
		    (blob->path_count + 1u) * sizeof *rules->of[side]);
		if (blob->meta->flags & SBX_EVERYTHING)
			continue;
		for (uint32_t i = 0; i < blob->path_count; i++) {
			rules->of[side][i] = NO_RULE;
			if ((blob->paths[i].platforms & pass->platforms) &&
			    verdict_path_holds(&subject, &blob->paths[i]))
				merge_path(&merger, (enum side)side, i);
		}
	}
	rules_add_everything(pass, rules);
	return rules;
}

/* --- facts ---------------------------------------------------------------- */

uint8_t
rule_facts(const struct merged_rule *rule, uint8_t right)
{
	uint8_t facts = 0;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (rule->rights[side] & right)
			facts |= rule->allow ? ALLOWS(side) : DENIES(side);
	}
	return facts;
}

/*
 * A deny that went lets through what NEW allows; one that came stops what OLD
 * allowed.  An allow counts where the other side has none, and where neither
 * denies: there the deny is what made the difference.
 */
struct rule_aim
rule_aim(const struct merged_rule *rule, uint8_t right)
{
	enum side side = rule_side(rule, right), other = !side;

	if (rule->allow)
		return (struct rule_aim){
			.forbidden = DENIES(side) | DENIES(other) |
			    ALLOWS(other),
		};
	return (struct rule_aim){ DENIES(other), ALLOWS(other) };
}

/* --- deny or prefer deny -------------------------------------------------- */

/* Whether what the strict deny of one side stops, where the other's does not
 * hold, has been noted, for sure or not. */
static bool
strength_is_said(const struct pass *pass, const struct merged_rule *rule)
{
	struct pass there = *pass;
	enum side side = rule->effects[SIDE_NEW] & 1 << SBX_DENY ? SIDE_NEW :
								   SIDE_OLD;
	struct note_key key = {
		.kind = DIFFERENCE_PATH,
		.change = side == SIDE_OLD ? CHANGE_WIDER : CHANGE_NARROWER,
		.side = side,
		.by = BY_PATH,
		.rule = rule->index[side],
	};

	there.cut = true;
	for (key.detail = SBX_READ; key.detail <= SBX_EXEC; key.detail <<= 1) {
		if (pass_said(&there, &key))
			return true;
	}
	return false;
}

/* A plain deny on one side, and no more than a preferred one on the other; one
 * that lets nothing through, for that has been noted before. */
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
			1 << SBX_DENY) == 0 ||
		    strength_is_said(pass, rule))
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
