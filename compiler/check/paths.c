/*
 * Checks of path rules.  All pairs would be too many, so the rules are sorted
 * in path order, where a tree follows its root, and walked once with a stack
 * of the places above the current one.  A place on the stack knows, for each
 * platform and each right, one rule at or above it that allows it and one that
 * denies it; what is pushed starts with what its parent knows.
 *
 * A rule with exclusions covers only what none of them touches, so it stays out of
 * those tables: the few such rules above a place are asked one by one.
 *
 * A rule with a glob speaks of less than its place and what lies in it: others
 * may cover it, it covers only what has the same glob.
 *
 * Rules of different anchors are never compared: where a parameter or the
 * workspace lies is known when the loader binds it.
 */
#include "compiler/check/check.h"

#include "compiler/policy/globs.h"
#include "compiler/tables/words.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLATFORMS = 3,
	RIGHTS = 3,
	MAX_ASKED =
	    8, /* rules with exclusions that are asked about one place */
};

/* [platform][right]: 1 + the index of a rule without exclusions, or 0. */
struct coverage {
	uint32_t rule[PLATFORMS][RIGHTS];
};

/* A place that some rule is about. */
struct frame {
	struct target at;
	struct coverage allow;
	struct coverage deny;   /* plain ones */
	struct coverage denied; /* preferred ones too */
	size_t carved;          /* how many of walk.holed are at or above it */
};

struct walk {
	struct checker *checker;
	const struct path_rule *rules;
	struct frame *stack;
	size_t depth, room;
	uint32_t
	    *carved; /* indices of rules with exclusions, outermost first */
	size_t carved_count;
};

struct sort_key {
	const struct path_rule *rule;
	uint32_t index;
};

/* Which of two rules at one place is looked at first: denies before allows,
 * then the one that says more, then what is inherited. */
static int
compare_strength(const struct path_rule *a, const struct path_rule *b)
{
	static const int rank[] = {
		[SBX_DENY] = 0,
		[SBX_PREFER_DENY] = 1,
		[SBX_ALLOW] = 2,
	};
	int order = rank[a->effect] - rank[b->effect];

	if (order == 0)
		order = (a->exclusion_count != 0) - (b->exclusion_count != 0);
	if (order == 0)
		order = __builtin_popcount(b->rights) -
		    __builtin_popcount(a->rights);
	if (order == 0)
		order = __builtin_popcount(b->origin.platforms) -
		    __builtin_popcount(a->origin.platforms);
	return order == 0 ? a->origin.own - b->origin.own : order;
}

static int
compare_rules(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order = target_compare(x->rule->at, y->rule->at);

	if (order == 0)
		order = glob_compare(x->rule->glob, y->rule->glob);
	if (order == 0)
		order = compare_strength(x->rule, y->rule);
	if (order == 0)
		order = x->index < y->index ? -1 : 1;
	return order;
}

static void
coverage_add(struct coverage *coverage, const struct path_rule *rule,
    uint32_t index)
{
	for (unsigned i = 0; i < PLATFORMS; i++) {
		for (unsigned j = 0; j < RIGHTS; j++) {
			if ((rule->origin.platforms >> i & 1) != 0 &&
			    (rule->rights >> j & 1) != 0 &&
			    coverage->rule[i][j] == 0)
				coverage->rule[i][j] = index + 1;
		}
	}
}

/* A rule of those that together cover the rights on the platforms, or 0. */
static uint32_t
coverage_find(const struct coverage *coverage, uint8_t platforms,
    uint8_t rights)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < PLATFORMS; i++) {
		for (unsigned j = 0; j < RIGHTS; j++) {
			if ((platforms >> i & 1) == 0 || (rights >> j & 1) == 0)
				continue;
			found = coverage->rule[i][j];
			if (found == 0)
				return 0;
		}
	}
	return found;
}

/* Whether an exclusion of the rule lies at, above or below a place, or may do. */
static bool
exclusion_touches(const struct path_rule *rule, struct target at)
{
	size_t low = 0, high = rule->exclusion_count;

	if (rule->exclusions[0].anchor != at.anchor ||
	    rule->exclusions[high - 1].anchor != at.anchor)
		return true;
	/* Holes are sorted and apart, so only the neighbours can touch. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (target_compare(rule->exclusions[middle], at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < rule->exclusion_count &&
		   target_covers(at, rule->exclusions[low])) ||
	    (low > 0 && target_covers(rule->exclusions[low - 1], at));
}

static bool
same_exclusions(const struct path_rule *a, const struct path_rule *b)
{
	if (a->exclusion_count != b->exclusion_count)
		return false;
	for (size_t i = 0; i < a->exclusion_count; i++) {
		if (target_compare(a->exclusions[i], b->exclusions[i]) != 0)
			return false;
	}
	return true;
}

/* A rule with exclusions, of an effect up to `effect`, that covers all of this. */
static uint32_t
carved_find(const struct walk *walk, const struct path_rule *subject,
    uint8_t rights, bool allow)
{
	size_t asked = 0;

	for (size_t i = walk->carved_count; i-- > 0 && asked < MAX_ASKED;
	     asked++) {
		const struct path_rule *rule = &walk->rules[walk->carved[i]];

		if ((rule->effect == SBX_ALLOW) != allow ||
		    (rights & ~rule->rights) != 0 ||
		    (subject->origin.platforms & ~rule->origin.platforms) != 0)
			continue;
		if (!allow && subject->effect == SBX_DENY &&
		    rule->effect == SBX_PREFER_DENY)
			continue;
		if (!exclusion_touches(rule, subject->at) ||
		    (target_compare(rule->at, subject->at) == 0 &&
			same_exclusions(rule, subject)))
			return walk->carved[i] + 1;
	}
	return 0;
}

/* The right that an allow is written for: read comes with the others. */
static uint8_t
main_right(const struct path_rule *rule)
{
	return rule->rights == SBX_READ ? SBX_READ :
					  rule->rights & (uint8_t)~SBX_READ;
}

static void
judge_allow(struct walk *walk, const struct frame *frame, uint32_t index)
{
	const struct path_rule *rule = &walk->rules[index];
	struct path_fact *fact = &walk->checker->facts[index];
	uint8_t platforms = rule->origin.platforms;

	fact->given_by = coverage_find(&frame->allow, platforms, rule->rights);
	if (fact->given_by == 0)
		fact->given_by = carved_find(walk, rule, rule->rights, true);
	fact->denied_by = coverage_find(&frame->denied, platforms,
	    main_right(rule));
	if (fact->denied_by == 0)
		fact->denied_by = carved_find(walk, rule, main_right(rule),
		    false);
}

static void
judge_deny(struct walk *walk, const struct frame *frame, uint32_t index)
{
	const struct path_rule *rule = &walk->rules[index];
	struct path_fact *fact = &walk->checker->facts[index];

	fact->within = coverage_find(rule->effect == SBX_DENY ? &frame->deny :
								&frame->denied,
	    rule->origin.platforms, rule->rights);
	if (fact->within == 0)
		fact->within = carved_find(walk, rule, rule->rights, false);
}

/*
 * What the rule before in path order says of a rule with the same glob: rules
 * at one place stand side by side there, the strongest first.
 */
static void
judge_glob(struct walk *walk, uint32_t before, uint32_t index)
{
	const struct path_rule *rule = &walk->rules[index];
	const struct path_rule *other = &walk->rules[before];
	struct path_fact *fact = &walk->checker->facts[index];
	bool allow = rule->effect == SBX_ALLOW;
	uint8_t rights = allow && other->effect != SBX_ALLOW ?
	    main_right(rule) :
	    rule->rights;

	if (rule->glob != other->glob ||
	    target_compare(rule->at, other->at) != 0 ||
	    (rights & ~other->rights) != 0 ||
	    (rule->origin.platforms & ~other->origin.platforms) != 0 ||
	    (other->exclusion_count > 0 && !same_exclusions(rule, other)))
		return;
	if (!allow && fact->within == 0 &&
	    (rule->effect == other->effect || other->effect == SBX_DENY))
		fact->within = before + 1;
	else if (allow && other->effect == SBX_ALLOW && fact->given_by == 0)
		fact->given_by = before + 1;
	else if (allow && other->effect != SBX_ALLOW && fact->denied_by == 0)
		fact->denied_by = before + 1;
}

static struct frame *
walk_push(struct walk *walk, const struct frame *frame)
{
	if (walk->depth == walk->room) {
		size_t room = walk->room == 0 ? 16 : walk->room * 2;
		struct frame *stack = arena_alloc(walk->checker->arena,
		    room * sizeof *stack);

		if (walk->depth > 0)
			memcpy(stack, walk->stack, walk->depth * sizeof *stack);
		walk->stack = stack;
		walk->room = room;
	}
	walk->stack[walk->depth] = *frame;
	return &walk->stack[walk->depth++];
}

/* The frame of a place: what is not above it leaves the stack. */
static struct frame *
walk_to(struct walk *walk, struct target at)
{
	struct frame frame = { .carved = 0 };

	while (walk->depth > 0 &&
	    !target_covers(walk->stack[walk->depth - 1].at, at))
		walk->depth--;
	if (walk->depth > 0)
		frame = walk->stack[walk->depth - 1];
	walk->carved_count = frame.carved;
	if (walk->depth > 0 && target_compare(frame.at, at) == 0)
		return &walk->stack[walk->depth - 1];
	frame.at = at;
	return walk_push(walk, &frame);
}

static void
walk_rule(struct walk *walk, uint32_t index)
{
	const struct path_rule *rule = &walk->rules[index];
	struct frame *frame = walk_to(walk, rule->at);

	if (rule->effect == SBX_ALLOW)
		judge_allow(walk, frame, index);
	else
		judge_deny(walk, frame, index);
	if (rule->glob != NULL)
		return;
	if (rule->exclusion_count > 0) {
		walk->carved[walk->carved_count++] = index;
		frame->carved = walk->carved_count;
		return;
	}
	if (rule->effect == SBX_ALLOW)
		coverage_add(&frame->allow, rule, index);
	else
		coverage_add(&frame->denied, rule, index);
	if (rule->effect == SBX_DENY)
		coverage_add(&frame->deny, rule, index);
}

void
paths_judge(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	size_t count = policy->paths.count;
	struct walk walk = {
		.checker = checker,
		.rules = policy->paths.items,
	};
	struct sort_key *keys = arena_alloc(checker->arena,
	    count * sizeof *keys);

	checker->facts = arena_alloc(checker->arena,
	    count * sizeof *checker->facts);
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){
			.rule = &policy->paths.items[i],
			.index = (uint32_t)i,
		};
	walk.carved = arena_alloc(checker->arena, count * sizeof *walk.carved);
	if (count > 0)
		qsort(keys, count, sizeof *keys, compare_rules);
	for (size_t i = 0; i < count; i++) {
		walk_rule(&walk, keys[i].index);
		if (i > 0 && keys[i].rule->glob != NULL)
			judge_glob(&walk, keys[i - 1].index, keys[i].index);
	}
}

/* --- reports, one for each object that was written ------------------------ */

/* What a check asks of one rule: 0, or 1 + the index of the other rule. */
typedef uint32_t path_question(const struct checker *checker, size_t index);

static const struct path_rule *
path_rule(const struct checker *checker, size_t index)
{
	return &checker->policy->paths.items[index];
}

static bool
is_same_place(const struct checker *checker, size_t a, size_t b)
{
	return target_compare(path_rule(checker, a)->at,
		   path_rule(checker, b)->at) == 0 &&
	    path_rule(checker, a)->glob == path_rule(checker, b)->glob;
}

/*
 * Finds the objects of the user's own rules for all of whose paths the answer
 * is yes: an object that is a set is worth a word only if all of it is.
 * Returns the end of the object that begins at *index, or 0 when there is none
 * left; *other is the answer for its first path.
 */
static size_t
next_object(const struct checker *checker, path_question *question,
    size_t *index, uint32_t *other)
{
	size_t count = checker->policy->paths.count, end;

	for (; *index < count; *index = end) {
		const struct origin *origin =
		    &path_rule(checker, *index)->origin;
		bool all = origin->own;

		*other = all ? question(checker, *index) : 0;
		for (end = *index; end < count &&
		     path_rule(checker, end)->origin.loc.begin ==
			 origin->loc.begin;
		     end++)
			all = all && question(checker, end) != 0;
		if (all)
			return end;
	}
	return 0;
}

static const char *
path_text(const struct checker *checker, const struct path_rule *rule)
{
	return path_rule_text(checker->policy, rule, NULL);
}

static const char *
object_text(const struct checker *checker, size_t index, size_t end)
{
	return path_object_text(checker->policy, index, end);
}

static void
note_path(struct checker *checker, struct diag *diag, uint32_t other)
{
	const struct path_rule *rule = path_rule(checker, other - 1);

	diag_note(checker->diags, diag, rule->origin.loc,
	    "'%s' of '%s' is "
	    "here",
	    path_text(checker, rule), rule->origin.via);
}

/* An earlier rule that says the same of the same place. */
static uint32_t
is_duplicate(const struct checker *checker, size_t index)
{
	const struct path_fact *fact = &checker->facts[index];
	const struct path_rule *rule = path_rule(checker, index), *other;
	uint32_t found = rule->effect == SBX_ALLOW ? fact->given_by :
						     fact->within;

	if (found == 0)
		return 0;
	other = path_rule(checker, found - 1);
	return is_same_place(checker, index, found - 1) &&
		other->effect == rule->effect && other->rights == rule->rights ?
	    found :
	    0;
}

static uint32_t
is_shadowed(const struct checker *checker, size_t index)
{
	const struct path_fact *fact = &checker->facts[index];

	return fact->denied_by == 0 && is_duplicate(checker, index) == 0 ?
	    fact->given_by :
	    0;
}

static uint32_t
is_within(const struct checker *checker, size_t index)
{
	return is_duplicate(checker, index) == 0 ?
	    checker->facts[index].within :
	    0;
}

static uint32_t
is_denied_here(const struct checker *checker, size_t index)
{
	uint32_t other = checker->facts[index].denied_by;

	return other != 0 && is_same_place(checker, index, other - 1) ? other :
									0;
}

static uint32_t
is_denied_above(const struct checker *checker, size_t index)
{
	return is_denied_here(checker, index) == 0 ?
	    checker->facts[index].denied_by :
	    0;
}

void
check_path_duplicate(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (; (end = next_object(checker, is_duplicate, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "duplicate rule '%s'", object_text(checker, index, end));

		note_path(checker, diag, other);
	}
}

void
check_path_shadowed(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (; (end = next_object(checker, is_shadowed, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "'%s' is allowed already",
		    object_text(checker, index, end));

		if (rule->exclusion_count > 0)
			diag_help(checker->diags, diag,
			    "its 'except' takes "
			    "nothing away while the other rule stands");
		note_path(checker, diag, other);
	}
}

void
check_path_useless_deny(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (; (end = next_object(checker, is_within, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "'%s' is denied already", object_text(checker, index, end));

		note_path(checker, diag, other);
	}
}

/* A rule of another profile or group, which can be dropped only. */
static bool
is_inherited(const struct path_rule *rule, const struct path_rule *other)
{
	return rule->origin.via != other->origin.via;
}

/* The deny as it would spare the place of an allow. */
static void
help_cut_out(struct checker *checker, struct diag *diag,
    const struct path_rule *rule, const struct path_rule *deny)
{
	const char *better = path_rule_text(checker->policy, deny, &rule->at);

	if (rule->glob != NULL)
		diag_help(checker->diags, diag,
		    "deny beats allow, and "
		    "'except' takes no glob");
	else if (is_inherited(rule, deny))
		diag_help(checker->diags, diag,
		    "deny beats allow: 'drop %s', "
		    "then '%s'",
		    path_text(checker, deny), better);
	else
		diag_help(checker->diags, diag,
		    "deny beats allow: cut it out with '%s'", better);
}

void
check_path_conflict(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (;
	     (end = next_object(checker, is_denied_here, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "'%s' has no effect: the same is denied",
		    object_text(checker, index, end));

		if (is_inherited(rule, path_rule(checker, other - 1)))
			diag_help(checker->diags, diag,
			    "'drop %s' takes "
			    "back the inherited rule",
			    path_text(checker, path_rule(checker, other - 1)));
		else
			diag_help(checker->diags, diag,
			    "deny beats allow: delete one of the two");
		note_path(checker, diag, other);
	}
}

void
check_path_inside_deny(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (;
	     (end = next_object(checker, is_denied_above, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "'%s' has no effect: it lies in what is denied",
		    object_text(checker, index, end));

		help_cut_out(checker, diag, rule,
		    path_rule(checker, other - 1));
		note_path(checker, diag, other);
	}
}

/* --- what no level can hold ---------------------------------------------- */

static uint32_t
is_plain_deny(const struct checker *checker, size_t index)
{
	return path_rule(checker, index)->effect == SBX_DENY ?
	    (uint32_t)index + 1 :
	    0;
}

/* Inherited denies are not the user's words: the floor below them is. */
static void
report_floor(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		struct diag *diag;

		if (is_plain_deny(checker, i) == 0 ||
		    path_rule(checker, i)->origin.own)
			continue;
		diag = check_report(checker, policy->level_origin.loc,
		    "level '%s' does not enforce the inherited '%s'",
		    level_word(policy->level),
		    path_text(checker, path_rule(checker, i)));
		diag_help(checker->diags, diag,
		    "'require level standard', "
		    "or drop the denies of files");
		note_path(checker, diag, (uint32_t)i + 1);
		return;
	}
}

void
check_path_unenforceable(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	size_t index = 0, end;
	uint32_t other;

	if (policy->level_origin.loc.end == 0 ||
	    policy->level > SBX_LEVEL_MINIMAL)
		return;
	if (policy->level_origin.own)
		report_floor(checker);
	for (; (end = next_object(checker, is_plain_deny, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "level '%s' does not enforce '%s'",
		    level_word(policy->level),
		    object_text(checker, index, end));

		diag_help(checker->diags, diag,
		    "'require level standard', "
		    "or write 'prefer %s'",
		    object_text(checker, index, end));
		diag_note(checker->diags, diag, policy->level_origin.loc,
		    "the level is required here");
	}
}
