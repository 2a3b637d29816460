/*
 * Random questions about random policies, in random places: whoever sbxc has to
 * answer them says what the rules say in the plain way (plain.h).
 *
 *	ask [COUNT [SEED]]
 *
 * For each policy, layout and level there are questions (question.h): what the
 * rules say, and what happens at the level, where nothing may hold a rule.
 * These are put to
 *
 *	model	the verdict function, about the blob
 *	why	what `sbxc why` prints
 *	test	a test file that says what is expected
 *	yaml	the blob of the policy written as YAML and read again
 *	blob	the policy that is read back from the blob
 *	diff	`sbxc diff`: the policy has lost a statement, and what that
 *		changes must have been told; what was told must be so
 *	within	the policy in the bounds of the one that lost a statement
 *
 * until each of them was asked COUNT times; a line for each says how often that
 * was, and how often it said something else.
 */
#include "tests/lib/tap.h"
#include "tests/model/questions/engines.h"
#include "tests/model/random_policy.h"
#include "tests/model/universe.h"

#include <inttypes.h>

enum { COUNT = 20000, QUESTIONS = 250, LAYOUTS = 4, SHOWN = 5 };

enum engine {
	ENGINE_MODEL,
	ENGINE_WHY,
	ENGINE_TEST,
	ENGINE_YAML,
	ENGINE_BLOB,
	ENGINE_DIFF,
	ENGINE_WITHIN,
	ENGINE_END,
};

static const char *const engine_names[] = {
	"model",
	"why",
	"test",
	"yaml",
	"blob",
	"diff",
	"within",
};

struct tally {
	unsigned long asked[ENGINE_END], differed[ENGINE_END];
	unsigned long tried, policies, allowed, given_up;
};

/* A policy, the same in other forms, and the questions about it. */
struct round {
	struct arena *arena;
	struct chance chance;
	uint64_t seed;
	struct tally *tally;
	bool damaged; /* the plain answers are wrong ones */
	bool shown;
	struct bytes text;
	struct build build, yaml, less;
	bool has_less;
	const struct policy *restored;
	struct pair diff, within;
	struct question questions[QUESTIONS];
};

/* --- counting ------------------------------------------------------------- */

static void
count(struct round *round, enum engine engine, bool agrees, const char *what)
{
	struct tally *tally = round->tally;

	tally->asked[engine]++;
	if (agrees)
		return;
	if (tally->differed[engine]++ >= SHOWN || round->damaged)
		return;
	printf("# seed %" PRIu64 ": %s differs: %s\n", round->seed,
	    engine_names[engine], what);
	if (!round->shown)
		printf("%s\n", round->text.text);
	round->shown = true;
}

/* Whether all were asked so often, or differed if they are to. */
static bool
is_enough(const struct tally *tally, unsigned long wanted, bool damaged)
{
	for (int i = 0; i < ENGINE_END; i++) {
		if (tally->asked[i] < wanted &&
		    !(damaged && tally->differed[i] > 0))
			return false;
	}
	return true;
}

/* --- one question after the other ----------------------------------------- */

static bool
agrees(const struct subject *subject, const struct question *question)
{
	struct subject there = *subject;
	struct verdict verdict;
	struct access access;

	if (question_parse(subject, question, &access) != NULL)
		return false;
	verdict = verdict_of(subject, &access);
	if (!question_is_path(question))
		return verdict.allowed == question->allowed;
	/* Once by the rules, and once by what the level holds. */
	there.enforced = true;
	return verdict.allowed == question->allowed &&
	    (verdict.allowed || verdict.unenforced) == question->happens &&
	    (verdict_of(&there, &access).allowed == question->happens ||
		there.level < SBX_LEVEL_STANDARD);
}

static void
ask_each(struct round *round, const struct layout *layout)
{
	struct subject subject = subject_of(round->arena, &round->build.blob,
	    layout);
	struct subject yaml = subject_of(round->arena, &round->yaml.blob,
	    layout);
	struct plain restored = plain_make(round->arena, round->restored,
	    layout);

	for (size_t i = 0; i < QUESTIONS; i++) {
		const struct question *question = &round->questions[i];
		const char *text = question_text(round->arena, question);
		struct access access;

		count(round, ENGINE_BLOB,
		    question->plain(&restored, question) == question->allowed,
		    text);
		/* The tables of a blob are for Linux. */
		if (layout->platforms == SBX_ON_MACOS)
			continue;
		round->tally->allowed += question->allowed;
		round->tally->given_up += question->happens !=
			question->allowed &&
		    layout->level >= SBX_LEVEL_STANDARD;
		count(round, ENGINE_MODEL, agrees(&subject, question), text);
		count(round, ENGINE_YAML, agrees(&yaml, question), text);
		count(round, ENGINE_WHY,
		    question_parse(&subject, question, &access) == NULL &&
			why_agrees(&subject, &access, question),
		    text);
	}
}

static void
ask_test(struct round *round, const struct plain *plain)
{
	bool results[QUESTIONS] = { false };
	struct arena *arena = arena_new();

	/* A test file is about one home directory. */
	if (plain->layout->other_home == NULL) {
		test_agrees(arena, round->text, plain, round->questions,
		    QUESTIONS, results);
		for (size_t i = 0; i < QUESTIONS; i++)
			count(round, ENGINE_TEST, results[i],
			    question_text(round->arena, &round->questions[i]));
	}
	arena_release(arena);
}

/* --- two policies --------------------------------------------------------- */

static bool
is_agent_variable(const struct access *access)
{
	return access->kind == KIND_ENV &&
	    strcmp(access->name, "SSH_AUTH_SOCK") == 0;
}

/* Rules about one thing are also told of as what it depends on. */
static bool
speaks_of(const struct difference *difference, const struct access *access)
{
	enum difference_kind kind = difference->kind;

	if (kind == (enum difference_kind)access->kind)
		return true;
	if (access->kind == KIND_ENV)
		return kind == DIFFERENCE_SET ||
		    (kind == DIFFERENCE_SOCKET && is_agent_variable(access));
	return (access->kind == KIND_SOCKET || access->kind == KIND_DOMAIN ||
		   access->kind == KIND_ENDPOINT) &&
	    (kind == DIFFERENCE_PATH || kind == DIFFERENCE_PORT);
}

static bool
is_told(const struct comparison *comparison, const struct access *access,
    bool wider)
{
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];
		bool grows = difference->change == CHANGE_WIDER ||
		    difference->change == CHANGE_MAYBE_WIDER;

		/* Where the socket was open before, that its name is told
		 * opens nothing. */
		bool counts = difference->change == CHANGE_NEUTRAL ?
		    is_agent_variable(access) :
		    grows == wider;

		if (counts && !difference->cut && speaks_of(difference, access))
			return true;
	}
	return false;
}

/* Of these it is also checked that the rule which was named speaks of it, too. */
static bool
is_checked(const struct access *access)
{
	return access->kind == KIND_PATH ||
	    (access->kind == KIND_PORT && access->detail < SBX_HOST_TCP);
}

/* What changes from one to the other must have been told. */
static void
ask_pair(struct round *round, enum engine engine, struct pair *pair,
    const struct plain sides[SIDE_COUNT])
{
	for (size_t i = 0; i < QUESTIONS; i++) {
		const struct question *question = &round->questions[i];
		bool old = question->plain(&sides[SIDE_OLD], question);
		bool new = question->plain(&sides[SIDE_NEW], question);
		struct subject subjects[SIDE_COUNT];
		struct access access;
		bool good = old == new;

		for (unsigned side = 0; !good && side < SIDE_COUNT; side++)
			subjects[side] = subject_of(round->arena,
			    pair->comparison.blobs[side], sides[side].layout);
		subjects[SIDE_OLD].enforced = sides[SIDE_OLD].held;
		subjects[SIDE_NEW].enforced = sides[SIDE_NEW].held;
		if (!good) {
			good = question_parse(&subjects[SIDE_OLD], question,
				   &access) == NULL &&
			    ((engine == ENGINE_WITHIN && old) ||
				is_told(&pair->comparison, &access, new));
			if (good && engine == ENGINE_DIFF &&
			    is_checked(&access))
				good = check_access(pair, subjects, &access);
		}
		count(round, engine, good,
		    question_text(round->arena, question));
	}
}

/* Where a witness was asked. */
static struct layout
layout_of(const struct subject *subject)
{
	struct layout layout = {
		.other_home = subject->places.has_other_home ?
		    subject->places.other_home.path :
		    NULL,
		.platforms = subject->arch->platforms,
		.level = subject->level,
		.abi = subject->abi > 0 ? subject->abi : 1000,
	};

	for (uint32_t i = 0; i < subject->places.blob->anchor_count; i++)
		layout.anchors[i] = subject->places.anchors[i].path;
	return layout;
}

/* What was told of paths is so. */
static void
ask_witnesses(struct round *round, const struct pair *pair,
    const struct policy *const policies[SIDE_COUNT])
{
	const struct comparison *comparison = &pair->comparison;

	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];
		bool says[SIDE_COUNT];

		if (!difference->witnessed || difference->cut ||
		    difference->access.kind != KIND_PATH)
			continue;
		for (unsigned side = 0; side < SIDE_COUNT; side++) {
			struct subject subject = comparison_subject(comparison,
			    difference, (enum side)side, round->arena);
			struct layout layout = layout_of(&subject);
			struct plain plain = plain_make(round->arena,
			    policies[side], &layout);
			struct sbx_place at = difference->access.path;

			plain.held = true;
			says[side] = plain_path(&plain,
			    difference->access.detail,
			    arena_strndup(round->arena, at.path, at.len));
		}
		count(round, ENGINE_DIFF,
		    says[SIDE_NEW] == (difference->change == CHANGE_WIDER) &&
			says[SIDE_OLD] != says[SIDE_NEW],
		    difference->what);
	}
}

static void
pair_compare(struct round *round, struct pair *pair, const struct build *old,
    const struct build *new)
{
	pair->arena = round->arena;
	pair->comparison = (struct comparison){
		.arena = round->arena,
		.blobs = { &old->blob, &new->blob },
		.wider_only = pair == &round->within,
	};
	compare(&pair->comparison);
}

static void
ask_pairs(struct round *round, const struct plain *plain)
{
	struct plain whole = *plain, less;

	if (!round->has_less || plain->layout->platforms == SBX_ON_MACOS)
		return;
	less = plain_make(round->arena, round->less.policy, plain->layout);
	/* To set a variable is to take the caller's away. */
	whole.callers = less.callers = true;
	/* What the rules say, or what holds at the level. */
	whole.held = less.held = chance_percent(&round->chance, 50);
	ask_pair(round, ENGINE_DIFF, &round->diff,
	    (const struct plain[]){ whole, less });
	ask_pair(round, ENGINE_WITHIN, &round->within,
	    (const struct plain[]){ less, whole });
}

/* --- one policy after the other ------------------------------------------- */

/* Another policy than the one that the others are asked about. */
static void
damage(const struct policy *from, struct policy *policy)
{
	*policy = *from;
	for (size_t i = 0; i < policy->paths.count; i++) {
		struct path_rule *rule = &policy->paths.items[i];

		rule->rights ^= SBX_READ | SBX_WRITE;
	}
}

static void
ask_layout(struct round *round)
{
	struct layout layout = layout_make(round->arena, &round->chance,
	    round->build.policy);
	struct policy policy = *round->build.policy;
	struct plain plain;
	struct asker asker;

	plain = plain_make(round->arena, &policy, &layout);
	asker_make(&asker, round->arena, &round->chance, &plain);
	if (round->damaged)
		damage(round->build.policy, &policy);
	for (size_t i = 0; i < QUESTIONS; i++)
		round->questions[i] = question_make(&asker);
	ask_each(round, &layout);
	ask_test(round, &plain);
	ask_pairs(round, &plain);
}

static bool
round_builds(struct round *round)
{
	if (!build_text(round->arena, "random.sbx", round->text, &round->build,
		false))
		return false;
	round->restored = build_restore(round->arena, &round->build);
	if (!build_yaml(round->arena, &round->build, &round->yaml) ||
	    round->restored == NULL) {
		count(round, ENGINE_YAML, false, "it does not compile");
		return false;
	}
	round->has_less = build_less(round->arena, &round->chance, round->text,
	    &round->less);
	return true;
}

static void
run_round(struct round *round)
{
	const struct policy *policies[SIDE_COUNT];

	struct bytes softer;

	round->tally->tried++;
	if (chance_percent(&round->chance, 50)) {
		if (text_soften(round->arena, &round->chance, round->text,
			&softer)) {
			free(round->text.text);
			round->text = softer;
		} else {
			free(softer.text);
		}
	}
	if (!round_builds(round))
		return;
	round->tally->policies++;
	if (round->has_less) {
		pair_compare(round, &round->diff, &round->build, &round->less);
		pair_compare(round, &round->within, &round->less,
		    &round->build);
		policies[SIDE_OLD] = round->build.policy;
		policies[SIDE_NEW] = round->less.policy;
		ask_witnesses(round, &round->diff, policies);
	}
	for (unsigned i = 0; i < LAYOUTS; i++)
		ask_layout(round);
}

static void
run_seed(struct tally *tally, uint64_t seed, bool damaged)
{
	struct round *round = calloc(1, sizeof *round);
	struct maker maker = { .chance = { .state = seed } };

	if (round == NULL)
		abort();
	round->arena = arena_new();
	round->tally = tally;
	round->seed = seed;
	round->chance.state = ~seed;
	round->damaged = damaged;
	maker.stream = open_memstream(&round->text.text, &round->text.size);
	if (maker.stream == NULL)
		abort();
	make_policy(&maker);
	fclose(maker.stream);
	run_round(round);
	free(round->text.text);
	arena_release(round->arena);
	free(round);
}

int
main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) :
					  tap_rounds(COUNT);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct tally tally = { 0 }, damaged = { 0 };
	struct tap tap = { 0, 0 };

	for (uint64_t i = seed; !is_enough(&tally, wanted, false); i++)
		run_seed(&tally, i, false);
	for (uint64_t i = seed; !is_enough(&damaged, COUNT, true); i++)
		run_seed(&damaged, i, true);
	printf("# %lu policies of %lu; %lu%% is allowed, and %lu accesses are "
	       "denied that level standard does not hold\n",
	    tally.policies, tally.tried,
	    100 * tally.allowed / tally.asked[ENGINE_MODEL], tally.given_up);
	for (int i = 0; i < ENGINE_END; i++) {
		tap_ok(&tap, tally.differed[i] == 0,
		    "%s: %lu questions, %lu differences", engine_names[i],
		    tally.asked[i], tally.differed[i]);
		tap_ok(&tap, damaged.differed[i] > 0,
		    "%s: wrong answers are seen", engine_names[i]);
	}
	return tap_done(&tap);
}
