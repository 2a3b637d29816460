/*
 * Rules that repeat another one, say less than another one, or are denied; of
 * every kind but paths, whose places lie inside each other (paths.c).
 *
 * A kind says in spans what a rule speaks of (kind.h).  Sorted by name, lowest
 * first and longest first, one walk sees before each span every span that could
 * contain it; of those the one that reaches highest is kept for each platform.
 */
#include "compiler/check/check.h"

#include <stdlib.h>
#include <string.h>

enum { PLATFORMS = 3, MAX_WIDE = 64 };

/* A span of one rule, and what the walk found about it: 1 + the index of
 * another rule, or 0. */
struct judged {
	struct rule_span span;
	const struct rule *rule;
	uint32_t index;
	struct rule_fact fact;
};

/* Per platform, the span that reaches highest, or NULL. */
struct reached {
	const struct judged *judged[PLATFORMS];
};

struct judgement {
	const struct rule_kind *kind;
	struct arena *arena;
	VEC(struct judged) all; /* in the order of the rules */
	struct rule_spans spans;
	struct reached reaches[SBX_EFFECT_END];
	const struct rule *wide[MAX_WIDE]; /* denies that spans do not show */
	uint32_t wide_index[MAX_WIDE];
	size_t wide_count;
};

/* The same name; denies first, so that an allow of the same meets them. */
static int
judged_compare(const void *a, const void *b)
{
	static const uint8_t ranks[SBX_EFFECT_END] = {
		[SBX_DENY] = 0,
		[SBX_PREFER_DENY] = 1,
		[SBX_ALLOW] = 2,
	};
	const struct judged *x = *(struct judged *const *)a;
	const struct judged *y = *(struct judged *const *)b;
	const struct rule *left = x->rule, *right = y->rule;
	int order = left->detail - right->detail;

	if (order == 0)
		order = (x->span.name > y->span.name) -
		    (x->span.name < y->span.name);
	if (order == 0)
		order = x->span.low - y->span.low;
	if (order == 0)
		order = y->span.high - x->span.high;
	if (order == 0)
		order = ranks[left->effect] - ranks[right->effect];
	if (order == 0)
		order = y->span.part - x->span.part;
	if (order == 0)
		order = __builtin_popcount(right->origin.platforms) -
		    __builtin_popcount(left->origin.platforms);
	if (order == 0)
		order = left->origin.own - right->origin.own;
	return order != 0 ? order : x->index < y->index ? -1 : 1;
}

static uint32_t
reach_find(const struct reached *reach, const struct judged *judged)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < PLATFORMS; i++) {
		const struct judged *other = reach->judged[i];

		if ((judged->rule->origin.platforms >> i & 1) == 0)
			continue;
		if (other == NULL || other->span.high < judged->span.high)
			return 0;
		found = other->index + 1;
	}
	return found;
}

static void
reach_add(struct reached *reach, const struct judged *judged)
{
	for (unsigned i = 0; i < PLATFORMS; i++) {
		const struct judged *old = reach->judged[i];

		if ((judged->rule->origin.platforms >> i & 1) != 0 &&
		    (old == NULL || old->span.high < judged->span.high))
			reach->judged[i] = judged;
	}
}

/* A plain deny says more than a preferred one, so the latter is no answer to
 * the former. */
static void
judge_span(struct judgement *judgement, struct judged *judged)
{
	struct reached *reaches = judgement->reaches;
	enum sbx_effect effect = judged->rule->effect;

	judged->fact.within = reach_find(&reaches[effect], judged);
	if (effect == SBX_ALLOW)
		judged->fact.denied = reach_find(&reaches[SBX_PREFER_DENY],
		    judged);
	reach_add(&reaches[effect], judged);
	if (effect == SBX_DENY)
		reach_add(&reaches[SBX_PREFER_DENY], judged);
}

static void
judge_spans(struct judgement *judgement)
{
	size_t count = judgement->all.count;
	struct judged **sorted = arena_alloc(judgement->arena,
	    (count + 1) * sizeof *sorted);

	for (size_t i = 0; i < count; i++)
		sorted[i] = &judgement->all.items[i];
	qsort(sorted, count, sizeof *sorted, judged_compare);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 &&
		    (sorted[i]->rule->detail != sorted[i - 1]->rule->detail ||
			sorted[i]->span.name != sorted[i - 1]->span.name))
			memset(judgement->reaches, 0,
			    sizeof judgement->reaches);
		judge_span(judgement, sorted[i]);
	}
}

static void
add_spans(struct judgement *judgement, const struct rule *rule, uint32_t index)
{
	struct rule_spans *spans = &judgement->spans;
	size_t i = spans->list.count;

	judgement->kind->spans(judgement->arena, rule, spans);
	for (; i < spans->list.count; i++) {
		*arena_push(judgement->arena,
		    &judgement->all) = (struct judged){
			.span = spans->list.items[i],
			.rule = rule,
			.index = index,
		};
		if (spans->list.items[i].wide && rule->effect != SBX_ALLOW &&
		    judgement->wide_count < MAX_WIDE) {
			judgement->wide_index[judgement->wide_count] = index;
			judgement->wide[judgement->wide_count++] = rule;
		}
	}
}

/* The first span is the whole rule, and the others, if any, are its parts. */
static struct rule_fact
fact_of(const struct judged *spans, size_t count)
{
	struct rule_fact fact = spans[0].fact, parts = { 0 };

	for (size_t i = 1; i < count; i++) {
		if (i == 1 || parts.within != 0)
			parts.within = spans[i].fact.within;
		if (i == 1 || parts.denied != 0)
			parts.denied = spans[i].fact.denied;
	}
	if (fact.within == 0)
		fact.within = parts.within;
	if (fact.denied == 0)
		fact.denied = parts.denied;
	return fact;
}

/* A deny that covers it on all of its platforms though no span shows that. */
static uint32_t
find_wide(const struct judgement *judgement, const struct rule *rule)
{
	for (size_t i = 0; i < judgement->wide_count; i++) {
		const struct rule *wide = judgement->wide[i];

		if ((rule->origin.platforms & ~wide->origin.platforms) == 0 &&
		    judgement->kind->covers(wide, rule))
			return judgement->wide_index[i] + 1;
	}
	return 0;
}

/* A fact for each rule of a kind. */
static struct rule_fact *
rules_judge(struct arena *arena, const struct rule_kind *kind,
    const struct rule_list *rules)
{
	struct judgement judgement = { .kind = kind, .arena = arena };
	struct rule_fact *facts = arena_alloc(arena,
	    rules->count * sizeof *facts);
	size_t end;

	for (size_t i = 0; i < rules->count; i++)
		add_spans(&judgement, &rules->items[i], (uint32_t)i);
	if (judgement.all.count > 0)
		judge_spans(&judgement);
	for (size_t i = 0; i < judgement.all.count; i = end) {
		const struct judged *spans = &judgement.all.items[i];
		struct rule_fact *fact = &facts[spans->index];

		for (end = i + 1; end < judgement.all.count &&
		     judgement.all.items[end].index == spans->index;)
			end++;
		*fact = fact_of(spans, end - i);
		if (fact->denied == 0 && spans->rule->effect == SBX_ALLOW)
			fact->denied = find_wide(&judgement, spans->rule);
	}
	return facts;
}

/* --- reports -------------------------------------------------------------- */

void
note_rule(struct checker *checker, struct diag *diag, const struct rule *rule)
{
	diag_note(diag, rule->origin.loc, "'%s' of '%s' is here",
	    rule_text(checker->policy, rule), rule->origin.via);
}

void
report_within(struct checker *checker, const struct rule *rule,
    const struct rule *other)
{
	bool same = checker->id == DIAG_DUPLICATE_RULE;

	if (rule_equals(rule, other) == same)
		note_rule(checker,
		    check_report(checker, rule->origin.loc,
			same ? "duplicate rule '%s'" : "'%s' says nothing new",
			rule_text(checker->policy, rule)),
		    other);
}

void
report_denied(struct checker *checker, const struct rule *rule,
    const struct rule *deny)
{
	note_rule(checker,
	    rule_report(checker, rule, "has no effect: it is denied",
		"deny beats allow: delete or drop one of the two"),
	    deny);
}

/* The code of the check that runs says which fact is meant. */
void
check_rule(struct checker *checker)
{
	for (int id = 0; id < KIND_END; id++) {
		const struct rule_list *rules = &checker->policy->rules[id];
		const struct rule_kind *kind = rule_kinds[id];

		if (kind->spans == NULL)
			continue;
		if (checker->rule_facts[id] == NULL)
			checker->rule_facts[id] = rules_judge(checker->arena,
			    kind, rules);
		for (size_t i = 0; i < rules->count; i++) {
			const struct rule *rule = &rules->items[i];
			struct rule_fact fact = checker->rule_facts[id][i];

			if (!rule->origin.own)
				continue;
			if (checker->id == DIAG_ALLOW_DENIED) {
				if (fact.denied != 0)
					report_denied(checker, rule,
					    &rules->items[fact.denied - 1]);
			} else if (fact.within != 0 &&
			    (kind->is_moot == NULL ||
				!kind->is_moot(checker, rule))) {
				report_within(checker, rule,
				    &rules->items[fact.within - 1]);
			}
		}
	}
}

/* A variable that is set is judged like one that a rule hands on. */
void
check_set_denied(struct checker *checker)
{
	const struct rule_list *sets = &checker->policy->rules[KIND_SET];
	const struct rule_list *rules = &checker->policy->rules[KIND_ENV];
	struct rule_list all = { .items = NULL };
	const struct rule_fact *facts;
	struct diag *diag;

	for (size_t i = 0; i < rules->count; i++)
		*arena_push(checker->arena, &all) = rules->items[i];
	for (size_t i = 0; i < sets->count; i++) {
		struct rule *rule = arena_push(checker->arena, &all);

		rule->kind = KIND_ENV;
		rule->origin = sets->items[i].origin;
		rule->env.pattern = sets->items[i].set.name;
		rule->env.except = "";
	}
	facts = rules_judge(checker->arena, rule_kinds[KIND_ENV], &all);
	for (size_t i = rules->count; i < all.count; i++) {
		const struct rule *rule = &all.items[i];

		if (facts[i].denied == 0 || !rule->origin.own)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' is denied, and set all the same", rule->env.pattern);
		diag_help(diag,
		    "'deny env' is about the "
		    "caller's variables; this value is part of the policy");
		note_rule(checker, diag, &all.items[facts[i].denied - 1]);
	}
}
