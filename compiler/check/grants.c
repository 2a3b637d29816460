/* See grants.h. */
#include "compiler/check/grants.h"

#include <string.h>

enum {
	PLATFORMS = 3,
	MAX_RULES = 256, /* of one place; more say hardly anything new */
};

/* The key of a place: equal places are equal pointers. */
static const char *
place_key(struct arena *arena, uint16_t anchor, const char *suffix, size_t len)
{
	char key[SBX_MAX_PATH + 16];
	int size = snprintf(key, sizeof key, "%u:%.*s", anchor, (int)len,
	    suffix);

	return arena_intern(arena, key, (size_t)size);
}

/* rights << 3 * platform, for each platform. */
static uint16_t
rights_on(uint8_t platforms, uint8_t rights)
{
	uint16_t bits = 0;

	for (unsigned i = 0; i < PLATFORMS; i++) {
		if ((platforms >> i & 1) != 0)
			bits |= (uint16_t)(rights << 3 * i);
	}
	return bits;
}

/* Whether a rule of this place says it already. */
static bool
is_said(const struct grant *grant, const struct path_rule *rule)
{
	for (size_t i = 0; i < grant->rules.count; i++) {
		const struct path_rule *other = grant->rules.items[i];

		if (other->exclusion_count == 0 &&
		    other->effect == rule->effect &&
		    (rule->rights & ~other->rights) == 0 &&
		    (rule->origin.platforms & ~other->origin.platforms) == 0)
			return true;
	}
	return grant->rules.count == MAX_RULES;
}

static void
grants_add(struct grants *grants, const struct path_rule *rule)
{
	struct arena *arena = grants->policy->arena;
	const char *key = place_key(arena, rule->at.anchor, rule->at.suffix,
	    strlen(rule->at.suffix));
	struct grant *grant = map_find(&grants->by_place, key);
	uint16_t bits = rights_on(rule->origin.platforms, rule->rights);

	if (grant == NULL) {
		grant = arena_alloc(arena, sizeof *grant);
		map_put(arena, &grants->by_place, key, grant);
	}
	if (!is_said(grant, rule))
		*arena_push(arena, &grant->rules) = rule;
	if (rule->exclusion_count > 0)
		return;
	if (rule->effect == SBX_ALLOW)
		grant->allowed |= bits;
	else
		grant->denied |= bits;
}

void
grants_init(struct grants *grants, const struct policy *policy)
{
	*grants = (struct grants){ .policy = policy };
	for (size_t i = 0; i < policy->paths.count; i++) {
		if (policy->paths.items[i].glob == NULL)
			grants_add(grants, &policy->paths.items[i]);
	}
}

const struct grant *
grants_at(const struct grants *grants, uint16_t anchor, const char *suffix,
    size_t len)
{
	return map_find(&grants->by_place,
	    place_key(grants->policy->arena, anchor, suffix, len));
}

int32_t
grants_next(const char *suffix, int32_t len)
{
	if (suffix[len] == '\0')
		return -1;
	return len + 1 + (int32_t)strcspn(suffix + len + 1, "/");
}

bool
rule_speaks_of(const struct path_rule *rule, struct target at)
{
	size_t low = 0, high = rule->exclusion_count;

	if (!target_covers(rule->at, at))
		return false;
	/* Holes are sorted and apart: only the last one before can cover it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (target_compare(rule->exclusions[middle], at) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 || !target_covers(rule->exclusions[low - 1], at);
}

bool
grants_denied(const struct grants *grants, uint8_t platforms, uint8_t right,
    struct target at)
{
	uint16_t missing = rights_on(platforms, right);

	for (int32_t len = 0; len >= 0 && missing != 0;
	     len = grants_next(at.suffix, len)) {
		const struct grant *grant = grants_at(grants, at.anchor,
		    at.suffix, (size_t)len);

		if (grant == NULL)
			continue;
		missing &= (uint16_t)~grant->denied;
		for (size_t i = 0; i < grant->rules.count; i++) {
			const struct path_rule *rule = grant->rules.items[i];

			if (rule->effect != SBX_ALLOW &&
			    rule->exclusion_count > 0 &&
			    rule_speaks_of(rule, at))
				missing &=
				    (uint16_t)~rights_on(rule->origin.platforms,
					rule->rights);
		}
	}
	return missing == 0;
}

const struct path_rule *
grants_allow(const struct grants *grants, uint8_t platforms, uint8_t right,
    struct target at)
{
	for (int32_t len = 0; len >= 0; len = grants_next(at.suffix, len)) {
		const struct grant *grant = grants_at(grants, at.anchor,
		    at.suffix, (size_t)len);

		for (size_t i = 0; grant != NULL && i < grant->rules.count;
		     i++) {
			const struct path_rule *rule = grant->rules.items[i];

			if (rule->effect == SBX_ALLOW &&
			    (rule->rights & right) != 0 &&
			    (rule->origin.platforms & platforms) != 0 &&
			    rule_speaks_of(rule, at))
				return rule;
		}
	}
	return NULL;
}
