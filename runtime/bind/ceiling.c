/*
 * What a ceiling leaves of bound rules: an allow of the policy and one of the ceiling
 * overlap where the deeper of the two has its place, without what either excepts.  So
 * each allow stays at its place as far as an allow of the other side covers it, and
 * the denials of both stay.  What comes of it are rules like any others.
 */
#include "runtime/base/out.h"
#include "runtime/bind/binder.h"

/* The rules that come of the cut; without `rules` they are only counted. */
struct cutting {
	struct binder *binder;
	uint32_t own; /* those before are the policy's */
	uint32_t count, exclusion_count;
	struct sbx_rule *rules;
	struct site *sites;
	struct sbx_place *exclusions;
};

static bool
gives(const struct binder *binder, uint32_t index)
{
	return binder->rules[index].effect == SBX_ALLOW &&
	    binder->rules[index].rights != 0;
}

/* Whether a rule of the other side covers the place of this one.  Of two at one place
 * the policy's stays. */
static bool
is_partner(const struct cutting *cutting, uint32_t index, uint32_t other)
{
	const struct sbx_rule *rule = &cutting->binder->rules[index];
	const struct sbx_rule *partner = &cutting->binder->rules[other];

	return partner->effect == SBX_ALLOW &&
	    partner->at.len + (index >= cutting->own) <= rule->at.len &&
	    sbx_rule_covers(partner, rule->at);
}

static bool
has_exclusions_in(const struct sbx_rule *rule, struct sbx_place at)
{
	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		if (sbx_covers(at, rule->exclusions[i]))
			return true;
	}
	return false;
}

static struct sbx_place *
take_exclusion(struct cutting *cutting, struct sbx_place at)
{
	uint32_t index = cutting->exclusion_count++;

	if (cutting->rules == NULL)
		return NULL;
	cutting->exclusions[index] = at;
	return &cutting->exclusions[index];
}

/* A rule at the place of `rule` with these rights, without what `other` excepts,
 * too. */
static void
add_cut(struct cutting *cutting, uint32_t index, uint8_t rights,
    const struct sbx_rule *other)
{
	const struct sbx_rule *rule = &cutting->binder->rules[index];
	uint32_t first = cutting->exclusion_count;
	uint32_t number = cutting->count++;
	struct sbx_rule *made;

	for (uint16_t i = 0; i < rule->exclusion_count; i++)
		take_exclusion(cutting, rule->exclusions[i]);
	for (uint16_t i = 0; other != NULL && i < other->exclusion_count; i++) {
		if (sbx_covers(rule->at, other->exclusions[i]))
			take_exclusion(cutting, other->exclusions[i]);
	}
	if (cutting->exclusion_count - first > UINT16_MAX)
		refuse(NULL,
		    "policy and ceiling have too many exceptions together", 0);
	if (cutting->rules == NULL)
		return;
	made = &cutting->rules[number];
	*made = *rule;
	made->rights = rights;
	made->exclusion_count = (uint16_t)(cutting->exclusion_count - first);
	made->exclusions = made->exclusion_count > 0 ?
	    &cutting->exclusions[first] :
	    NULL;
	cutting->sites[number] = cutting->binder->sites[index];
}

static void
cut_rule(struct cutting *cutting, uint32_t index)
{
	const struct binder *binder = cutting->binder;
	const struct sbx_rule *rule = &binder->rules[index];
	bool above = index >= cutting->own;
	uint32_t first = above ? 0 : cutting->own;
	uint32_t end = above ? cutting->own : binder->made.rule_count;
	uint8_t whole = 0;

	if (!gives(binder, index)) {
		if (rule->effect != SBX_ALLOW || !above)
			add_cut(cutting, index, rule->rights, NULL);
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		if ((binder->rules[i].rights & rule->rights & ~whole) != 0 &&
		    is_partner(cutting, index, i) &&
		    !has_exclusions_in(&binder->rules[i], rule->at))
			whole |= binder->rules[i].rights & rule->rights;
	}
	if (whole != 0)
		add_cut(cutting, index, whole, NULL);
	if (whole == rule->rights)
		return;
	for (uint32_t i = first; i < end; i++) {
		uint8_t rights = binder->rules[i].rights & rule->rights;

		if ((rights & ~whole) != 0 && is_partner(cutting, index, i) &&
		    has_exclusions_in(&binder->rules[i], rule->at))
			add_cut(cutting, index, rights, &binder->rules[i]);
	}
}

static void
cut_rules(struct cutting *cutting)
{
	cutting->count = cutting->exclusion_count = 0;
	for (uint32_t i = 0; i < cutting->binder->made.rule_count; i++)
		cut_rule(cutting, i);
}

void
bind_ceiling(struct binder *binder, uint32_t own)
{
	struct cutting cutting = { .binder = binder, .own = own };
	struct binding *made = &binder->made;

	cut_rules(&cutting);
	/* What is bound after it has the room that was left. */
	binder->rule_max += cutting.count - made->rule_count;
	binder->exclusion_max += cutting.exclusion_count -
	    made->exclusion_count;
	cutting.rules = arena_take(binder->arena, binder->rule_max,
	    sizeof *cutting.rules);
	cutting.sites = arena_take(binder->arena, binder->rule_max,
	    sizeof *cutting.sites);
	cutting.exclusions = arena_take(binder->arena, binder->exclusion_max,
	    sizeof *cutting.exclusions);
	cut_rules(&cutting);
	binder->rules = cutting.rules;
	binder->sites = cutting.sites;
	binder->exclusions = cutting.exclusions;
	made->rule_count = cutting.count;
	made->exclusion_count = cutting.exclusion_count;
	if (made->git_copy.len > 0 &&
	    !sbx_verdict_allows(
		verdict_so_far(binder, SBX_READ, made->git_copy)))
		made->git_copy.len = 0;
}

/* The rules of the policy come first. */
uint32_t
bind_cut_sockets(const struct sbx_rule *rules, uint32_t count, uint32_t own,
    struct sbx_rule *made)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (rules[i].effect != SBX_ALLOW) {
			if (made != NULL)
				made[used] = rules[i];
			used++;
			continue;
		}
		for (uint32_t j = own; i < own && j < count; j++) {
			bool deeper = sbx_covers(rules[j].at, rules[i].at);

			if (rules[j].effect != SBX_ALLOW ||
			    (!deeper && !sbx_covers(rules[i].at, rules[j].at)))
				continue;
			if (made != NULL)
				made[used] = rules[deeper ? i : j];
			used++;
		}
	}
	return used;
}
