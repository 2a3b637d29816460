/*
 * What check/paths.c calls superfluous is superfluous, by the model's word: on
 * random policies every verdict stays what it was when all the rules go that
 * say nothing new, and an allow that is called denied never gives its right.
 * Where no rule has exclusions the converse holds too: no single rule says all
 * that one says that is left, and an allow that is not called denied is obeyed
 * somewhere.
 */
#include "compiler/check/check.h"
#include "compiler/policy/kind.h"
#include "format/model.h"
#include "tests/lib/tap.h"

enum { ROUNDS = 4000, RULES = 12, PLATFORMS = 3 };

static uint32_t
draw(uint32_t *seed, uint32_t bound)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % bound;
}

static const char *const places[] = {
	"",
	"/a",
	"/a/b",
	"/a/b/c",
	"/a/b-",
	"/a/c",
	"/ab",
	"/ab/c",
	"/d",
};

/* Below, beside and between the places. */
static const char *const probes[] = {
	"",
	"/x",
	"/a",
	"/a/x",
	"/a/b",
	"/a/b/x",
	"/a/b/c",
	"/a/b/c/x",
	"/a/b-",
	"/a/b-/x",
	"/a/c",
	"/a/c/x",
	"/ab",
	"/ab/x",
	"/ab/c",
	"/ab/c/x",
	"/d",
	"/d/x",
};

static struct target
draw_target(uint32_t *seed)
{
	return (struct target){ .suffix = places[draw(seed, countof(places))] };
}

static void
draw_rule(struct policy *policy, bool exclusions, uint32_t *seed)
{
	static const uint8_t allowed[] = {
		SBX_READ,
		SBX_READ | SBX_WRITE,
		SBX_READ | SBX_EXEC,
	};
	static const uint8_t denied[] = { SBX_RIGHTS, SBX_WRITE, SBX_EXEC };
	struct path_rule *rule = arena_push(policy->arena, &policy->paths);
	struct target *exclusion = arena_alloc(policy->arena,
	    sizeof *exclusion);

	rule->at = draw_target(seed);
	rule->effect = draw(seed, 3) != 0 ? SBX_ALLOW :
	    draw(seed, 2) != 0            ? SBX_DENY :
					    SBX_PREFER_DENY;
	rule->rights = rule->effect == SBX_ALLOW ? allowed[draw(seed, 3)] :
						   denied[draw(seed, 3)];
	rule->origin.platforms = (uint8_t)(1 + draw(seed, SBX_ON_ALL));
	rule->origin.own = true;
	*exclusion = draw_target(seed);
	if (exclusions && draw(seed, 2) != 0 &&
	    target_covers(rule->at, *exclusion) &&
	    target_compare(rule->at, *exclusion) != 0) {
		rule->exclusions = exclusion;
		rule->exclusion_count = 1;
	}
}

static struct sbx_place
place_of(struct target at)
{
	return (struct sbx_place){
		.path = at.suffix,
		.len = (uint32_t)strlen(at.suffix),
	};
}

/* Whether rule i, for an effect, speaks of a right at a path on a platform. */
static bool
speaks(const struct path_rule *rule, bool allow, unsigned platform,
    uint8_t right, const char *path)
{
	struct sbx_place exclusion = { 0 };
	struct sbx_rule model = {
		.at = place_of(rule->at),
		.exclusion_count = rule->exclusion_count,
		.exclusions = &exclusion,
	};

	if (rule->exclusion_count > 0)
		exclusion = place_of(rule->exclusions[0]);
	return (rule->effect == SBX_ALLOW) == allow &&
	    (rule->origin.platforms >> platform & 1) != 0 &&
	    (rule->rights & right) != 0 &&
	    sbx_rule_covers(&model,
		(struct sbx_place){ path, (uint32_t)strlen(path) });
}

/* What the rules that are kept, but for one, say of one question. */
static bool
any_speaks(const struct policy *policy, const bool *kept, size_t but,
    bool allow, unsigned platform, uint8_t right, const char *path)
{
	for (size_t i = 0; i < policy->paths.count; i++) {
		if (kept[i] && i != but &&
		    speaks(&policy->paths.items[i], allow, platform, right,
			path))
			return true;
	}
	return false;
}

/* Walks all questions about one rule: does it matter, is it ever obeyed? */
static void
ask(const struct policy *policy, const bool *kept, size_t index, bool *matters,
    bool *obeyed)
{
	const struct path_rule *rule = &policy->paths.items[index];
	bool allow = rule->effect == SBX_ALLOW;
	uint8_t word = rule->rights == SBX_READ ?
	    SBX_READ :
	    rule->rights & (uint8_t)~SBX_READ;

	*matters = *obeyed = false;
	for (size_t i = 0; i < countof(probes) * PLATFORMS * 3; i++) {
		const char *path = probes[i % countof(probes)];
		unsigned platform = (unsigned)(i / countof(probes) % PLATFORMS);
		uint8_t right = (uint8_t)(1u
		    << i / countof(probes) / PLATFORMS);

		if (!speaks(rule, allow, platform, right, path))
			continue;
		*matters |= !any_speaks(policy, kept, index, allow, platform,
		    right, path);
		*obeyed |= (right & word) != 0 &&
		    !any_speaks(policy, kept, index, false, platform, right,
			path);
	}
}

/* Whether one rule that is kept says all that this one says. */
static bool
is_covered(const struct policy *policy, const bool *kept, size_t index)
{
	const struct path_rule *rule = &policy->paths.items[index];

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *other = &policy->paths.items[i];

		if (kept[i] && i != index && other->effect == rule->effect &&
		    target_covers(other->at, rule->at) &&
		    (rule->rights & ~other->rights) == 0 &&
		    (rule->origin.platforms & ~other->origin.platforms) == 0)
			return true;
	}
	return false;
}

/* One random policy; returns whether all that is said of it is true. */
static bool
round_holds(struct arena *arena, bool exclusions, uint32_t *seed)
{
	/* Where every rule holds. */
	struct policy policy = { .arena = arena, .level = SBX_LEVEL_FULL };
	struct checker checker = { .policy = &policy, .arena = arena };
	bool kept[RULES], all[RULES], matters, obeyed;

	for (size_t i = 0; i < RULES; i++)
		draw_rule(&policy, exclusions, seed);
	paths_judge(&checker);
	for (size_t i = 0; i < RULES; i++) {
		const struct path_fact *fact = &checker.facts[i];

		all[i] = true;
		kept[i] = fact->given_by == 0 && fact->within == 0;
	}
	for (size_t i = 0; i < RULES; i++) {
		const struct path_fact *fact = &checker.facts[i];
		bool allow = policy.paths.items[i].effect == SBX_ALLOW;

		ask(&policy, kept, i, &matters, &obeyed);
		if (!kept[i] && matters)
			return false;
		if (kept[i] && !exclusions && is_covered(&policy, kept, i))
			return false;
		ask(&policy, all, i, &matters, &obeyed);
		if (allow && fact->denied_by != 0 && obeyed)
			return false;
		if (allow && !exclusions && fact->denied_by == 0 && !obeyed)
			return false;
	}
	return true;
}

int
main(void)
{
	struct arena *arena = arena_new();
	struct tap tap = { 0 };

	for (int exclusions = 0; exclusions <= 1; exclusions++) {
		uint32_t seed = 1;
		int i = 0;

		while (i < ROUNDS && round_holds(arena, exclusions != 0, &seed))
			i++;
		tap_ok(&tap, i == ROUNDS,
		    "what %d random policies %s holes "
		    "are told is true",
		    i, exclusions != 0 ? "with" : "without");
	}
	arena_release(arena);
	return tap_done(&tap);
}
