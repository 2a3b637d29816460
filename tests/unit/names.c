/*
 * compiler/compare/paths.h against all names of up to five bytes: every set of
 * patterns that one of them matches is a class, the name of each class matches
 * what it is said to, and names that are taken are not given.
 */
#include "compiler/compare/paths.h"
#include "format/model.h"
#include "tests/lib/tap.h"

enum { ROUNDS = 3000, MOST_PATTERNS = 5, LONGEST = 5 };

/* Bytes of names: letters, and the two of one that has two; in any order, so
 * that many names are no UTF-8. */
static const char bytes[] = "ab.\xc3\xa9";

static uint64_t
next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

struct trial {
	struct name_pattern patterns[MOST_PATTERNS];
	size_t count, must;
	struct name_classes classes;
};

/* The first pattern of the group, or the pattern itself. */
static size_t
first_of(const struct trial *trial, size_t pattern)
{
	size_t first = 0;

	if (trial->patterns[pattern].group == 0)
		return pattern;
	while (trial->patterns[first].group != trial->patterns[pattern].group)
		first++;
	return first;
}

static uint64_t
matches(const struct trial *trial, const char *name, size_t len)
{
	uint64_t set = 0;

	for (size_t i = 0; i < trial->count; i++) {
		const struct name_pattern *pattern = &trial->patterns[i];
		bool match = pattern->marks ?
		    sbx_name_match(pattern->text, pattern->len, name, len) :
		    sbx_pattern_match(pattern->text, name, len);

		set |= (uint64_t)match << first_of(trial, i);
	}
	return set;
}

/* "a" is taken, and so is what begins with "x". */
static bool
is_taken(const void *context, const char *name, size_t len)
{
	(void)context;
	return name[0] == 'x' || (len == 1 && name[0] == 'a');
}

static void
trial_make(struct arena *arena, uint64_t *state, struct trial *trial)
{
	static const char *const pieces[] = {
		"*",
		"*",
		"?",
		"a",
		"b",
		".",
		"\xc3\xa9",
		"a",
	};
	bool marks = next(state) % 2 != 0;

	*trial = (struct trial){ .count = 1 + next(state) % MOST_PATTERNS };
	trial->must = next(state) % 2 ? SIZE_MAX : next(state) % trial->count;
	for (size_t i = 0; i < trial->count; i++) {
		const char *text = "";

		for (uint64_t len = 1 + next(state) % 4; len > 0; len--) {
			const char *piece = pieces[next(state) % 8];

			/* No blob has two stars in a row in a name. */
			if (*piece == '*' && *text != '\0' &&
			    text[strlen(text) - 1] == '*')
				piece = "b";
			if (*piece == '?' && !marks)
				piece = "a";
			text = arena_printf(arena, "%s%s", text, piece);
		}
		trial->patterns[i] = (struct name_pattern){
			.text = text,
			.len = strlen(text),
			.marks = marks,
			.group = i == trial->must ? 0 : next(state) % 3,
		};
	}
}

static bool
has_class(const struct trial *trial, uint64_t set)
{
	for (size_t i = 0; i < trial->classes.list.count; i++) {
		if (trial->classes.list.items[i].accepts[0] == set)
			return true;
	}
	return false;
}

/* The names of this length, each as a number in base 5. */
static bool
names_are_known(const struct trial *trial, size_t len)
{
	size_t end = 1;

	for (size_t i = 0; i < len; i++)
		end *= 5;
	for (size_t number = 0; number < end; number++) {
		char name[LONGEST + 1] = "";
		size_t rest = number;
		uint64_t set;

		for (size_t i = 0; i < len; i++, rest /= 5)
			name[i] = bytes[rest % 5];
		set = matches(trial, name, len);
		if (is_taken(NULL, name, len) ||
		    (trial->must != SIZE_MAX && !(set >> trial->must & 1)))
			continue;
		if (!has_class(trial, set)) {
			printf("# '%s' matches %jx\n", name, (uintmax_t)set);
			return false;
		}
	}
	return true;
}

static bool
classes_are_true(const struct trial *trial)
{
	for (size_t i = 0; i < trial->classes.list.count; i++) {
		const struct name_class *class = &trial->classes.list.items[i];

		if (class->len == 0 ||
		    is_taken(NULL, class->name, class->len) ||
		    matches(trial, class->name, class->len) !=
			class->accepts[0]) {
			printf("# '%s' is not %jx\n", class->name,
			    (uintmax_t) class->accepts[0]);
			return false;
		}
	}
	return true;
}

static bool
trial_run(uint64_t seed)
{
	struct arena *arena = arena_new();
	struct name_question question = { .taken = { .is_taken = is_taken } };
	struct trial trial;
	bool good;

	trial_make(arena, &seed, &trial);
	question.patterns = trial.patterns;
	question.count = trial.count;
	question.must = trial.must;
	good = name_classes(arena, &question, &trial.classes) &&
	    classes_are_true(&trial);
	for (size_t len = 1; len <= LONGEST && good; len++)
		good = names_are_known(&trial, len);
	for (size_t i = 0; i < trial.count && !good; i++)
		printf("# %s (group %u)%s\n", trial.patterns[i].text,
		    trial.patterns[i].group, trial.must == i ? " (must)" : "");
	arena_release(arena);
	return good;
}

int
main(void)
{
	struct tap tap = { 0 };
	bool good = true;

	for (uint64_t seed = 1; good && seed <= ROUNDS; seed++)
		good = trial_run(seed);
	tap_ok(&tap, good, "%d sets of patterns", ROUNDS);
	return tap_done(&tap);
}
