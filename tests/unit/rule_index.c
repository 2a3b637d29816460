/*
 * What makes a launch cheaper, against what is plain to see: the sort, the
 * order of places, and the index of rules against asking every rule.
 */
#include "format/model.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "tests/lib/tap.h"

enum {
	ROUNDS = 400,
	ELEMENTS_MAX = 300,
	RULES_MAX = 80,
	PATHS = 200,
	TEXT_SIZE = 64,
};

struct random {
	uint64_t state;
};

static uint32_t
below(struct random *random, uint32_t bound)
{
	random->state = random->state * 6364136223846793005 +
	    1442695040888963407;
	return (uint32_t)(random->state >> 33) % bound;
}

void
refuse(const char *what, const char *text, int error)
{
	fprintf(stderr, "%s: %s (%d)\n", what ? what : "", text, error);
	abort();
}

/* --- sorting -------------------------------------------------------------- */

struct keys {
	uint32_t of[ELEMENTS_MAX];
	uint32_t *compared;
};

static bool
key_before(const void *context, uint32_t a, uint32_t b)
{
	const struct keys *keys = context;

	++*keys->compared;
	return keys->of[a] < keys->of[b];
}

static uint32_t
log2_above(uint32_t number)
{
	uint32_t bits = 0;

	while (number >> bits > 0)
		bits++;
	return bits;
}

static bool
is_sorted(const struct keys *keys, const uint32_t *numbers, uint32_t count)
{
	bool seen[ELEMENTS_MAX] = { false };

	for (uint32_t i = 0; i < count; i++) {
		uint32_t key = keys->of[numbers[i]];

		if (seen[numbers[i]] ||
		    (i > 0 &&
			(keys->of[numbers[i - 1]] > key ||
			    (keys->of[numbers[i - 1]] == key &&
				numbers[i - 1] > numbers[i]))))
			return false;
		seen[numbers[i]] = true;
	}
	return true;
}

/* Sorts keys of which some are out of place; false if that went wrong. */
static bool
sorts(struct random *random, uint32_t moved, uint32_t *compared,
    uint32_t *count)
{
	uint32_t numbers[ELEMENTS_MAX], spare[ELEMENTS_MAX];
	struct keys keys = { .compared = compared };

	*count = below(random, ELEMENTS_MAX + 1);
	*compared = 0;
	for (uint32_t i = 0; i < *count; i++) {
		numbers[i] = i;
		keys.of[i] = i / 2;
	}
	for (uint32_t i = 0; i<moved && * count> 0; i++)
		keys.of[below(random, *count)] = below(random, *count);
	sbx_sort(numbers, *count, spare, key_before, &keys);
	return is_sorted(&keys, numbers, *count);
}

static void
test_sort(struct tap *tap, struct random *random)
{
	uint32_t wrong = 0, dear = 0, compared, count;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		wrong += !sorts(random, below(random, 2 * ELEMENTS_MAX),
		    &compared, &count);
		dear += compared > count * (log2_above(count) + 1);
	}
	tap_ok(tap, wrong == 0, "sorted, equal ones as they were: %u wrong",
	    wrong);
	tap_ok(tap, dear == 0, "at most n log n comparisons: %u more", dear);
	for (uint32_t i = dear = 0; i < ROUNDS; i++) {
		wrong += !sorts(random, 0, &compared, &count);
		dear += compared > count;
	}
	tap_ok(tap, wrong == 0 && dear == 0,
	    "n comparisons of what is sorted: %u more", dear);
}

/* --- places --------------------------------------------------------------- */

/* Long components with much in common, and short ones. */
static struct sbx_place
random_place(struct random *random, char text[TEXT_SIZE])
{
	static const char *const names[] = {
		"a",
		"b",
		"a.b",
		"a-b",
		"longer-than-a-word",
		"longer-than-a-wore",
		"longer-than",
	};
	uint32_t depth = below(random, 4);

	text[0] = '\0';
	for (uint32_t i = 0; i < depth; i++) {
		strcat(text, "/");
		strcat(text,
		    names[below(random, sizeof names / sizeof *names)]);
	}
	return (struct sbx_place){ text, (uint32_t)strlen(text) };
}

static int
sign(int number)
{
	return (number > 0) - (number < 0);
}

/* '/' before all else, the end before that. */
static int
plain_compare(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	if (*a == '\0' || *b == '\0')
		return (*a != '\0') - (*b != '\0');
	return sign((*a == '/' ? 0 : *a) - (*b == '/' ? 0 : *b));
}

static bool
plain_covers(const char *place, const char *path)
{
	size_t len = strlen(place);

	return strncmp(place, path, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

static void
test_places(struct tap *tap, struct random *random)
{
	uint32_t order = 0, covered = 0;

	for (uint32_t i = 0; i < ROUNDS * PATHS; i++) {
		char texts[2][TEXT_SIZE];
		struct sbx_place a = random_place(random, texts[0]);
		struct sbx_place b = random_place(random, texts[1]);

		order += sign(sbx_place_compare(a, b)) !=
		    plain_compare(texts[0], texts[1]);
		covered += sbx_covers(a, b) != plain_covers(texts[0], texts[1]);
	}
	tap_ok(tap, order == 0, "the order of places: %u differ", order);
	tap_ok(tap, covered == 0, "what covers what: %u differ", covered);
}

/* --- the index ------------------------------------------------------------ */

struct policy {
	struct sbx_rule rules[RULES_MAX];
	struct sbx_place exclusions[RULES_MAX];
	char texts[2 * RULES_MAX][TEXT_SIZE];
	uint32_t count;
};

static void
random_policy(struct random *random, struct policy *policy)
{
	policy->count = below(random, RULES_MAX + 1);
	for (uint32_t i = 0; i < policy->count; i++) {
		struct sbx_rule *rule = &policy->rules[i];

		policy->exclusions[i] = random_place(random,
		    policy->texts[2 * i]);
		*rule = (struct sbx_rule){
			.at = random_place(random, policy->texts[2 * i + 1]),
			.exclusions = &policy->exclusions[i],
			.exclusion_count = (uint16_t)below(random, 2),
			.effect = below(random, 3) > 0 ? SBX_ALLOW : SBX_DENY,
			.rights = (uint8_t)below(random, 8),
		};
	}
}

static bool
plain_gives(const struct policy *policy, uint8_t right, struct sbx_place path)
{
	for (uint32_t i = 0; i < policy->count; i++) {
		const struct sbx_rule *rule = &policy->rules[i];

		if (rule->effect == SBX_ALLOW && (rule->rights & right) &&
		    sbx_covers(rule->at, path))
			return true;
	}
	return false;
}

static void
test_index(struct tap *tap, struct random *random)
{
	static struct arena arena;
	static struct policy policy;
	uint32_t verdicts = 0, given = 0;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct sbx_index *index;

		random_policy(random, &policy);
		arena.used = 0;
		index = rule_index_make(&arena, policy.rules, policy.count);
		for (uint32_t j = 0; j < PATHS; j++) {
			char text[TEXT_SIZE];
			struct sbx_place path = random_place(random, text);
			uint8_t right = (uint8_t)(1U << below(random, 3));

			verdicts += rule_index_allows(index, right, path) !=
			    sbx_verdict_allows(sbx_path_verdict(policy.rules,
				policy.count, right, path));
			given += rule_index_gives(index, right, path) !=
			    plain_gives(&policy, right, path);
		}
	}
	tap_ok(tap, verdicts == 0, "verdicts as the model's: %u differ",
	    verdicts);
	tap_ok(tap, given == 0, "what is given above: %u differ", given);
}

int
main(void)
{
	struct random random = { 1 };
	struct tap tap = { 0 };

	test_sort(&tap, &random);
	test_places(&tap, &random);
	test_index(&tap, &random);
	return tap_done(&tap);
}
