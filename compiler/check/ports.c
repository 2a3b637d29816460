/*
 * Checks of port rules.  Sorted by what is done, lowest port first, one walk
 * sees before each rule every rule that could contain it; of those the one
 * that reaches highest is kept for each platform.
 */
#include "compiler/check/check.h"

#include "compiler/tables/words.h"

#include <stdlib.h>

enum { PLATFORMS = 3 };

/* Per platform, 1 + the index of the rule that reaches highest, or 0. */
struct reach {
	uint32_t rule[PLATFORMS];
};

/* What the walk found about one rule: 1 + the index of another, or 0. */
struct port_fact {
	uint32_t within; /* a rule of the same effect contains it */
	uint32_t denied; /* a deny contains this allow */
};

struct sort_key {
	const struct port_rule *rule;
	uint32_t index;
};

static int
compare_ports(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order = (int)x->rule->op - (int)y->rule->op;

	if (order == 0)
		order = (int)x->rule->low - (int)y->rule->low;
	if (order == 0)
		order = (int)y->rule->high - (int)x->rule->high;
	/* Denies first, so that an allow of the same ports meets them. */
	if (order == 0)
		order = (x->rule->effect == SBX_ALLOW) -
		    (y->rule->effect == SBX_ALLOW);
	if (order == 0)
		order = __builtin_popcount(y->rule->origin.platforms) -
		    __builtin_popcount(x->rule->origin.platforms);
	if (order == 0)
		order = x->rule->origin.own - y->rule->origin.own;
	return order != 0 ? order : x->index < y->index ? -1 : 1;
}

static const struct port_rule *
port_rule(const struct checker *checker, size_t index)
{
	return &checker->policy->ports.items[index];
}

static uint32_t
reach_find(const struct checker *checker, const struct reach *reach,
    const struct port_rule *rule)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < PLATFORMS; i++) {
		if ((rule->origin.platforms >> i & 1) == 0)
			continue;
		found = reach->rule[i];
		if (found == 0 ||
		    port_rule(checker, found - 1)->high < rule->high)
			return 0;
	}
	return found;
}

static void
reach_add(const struct checker *checker, struct reach *reach, uint32_t index)
{
	const struct port_rule *rule = port_rule(checker, index);

	for (unsigned i = 0; i < PLATFORMS; i++) {
		uint32_t old = reach->rule[i];

		if ((rule->origin.platforms >> i & 1) != 0 &&
		    (old == 0 ||
			port_rule(checker, old - 1)->high < rule->high))
			reach->rule[i] = index + 1;
	}
}

static struct port_fact *
judge_ports(const struct checker *checker)
{
	size_t count = checker->policy->ports.count;
	struct port_fact *facts = arena_alloc(checker->arena,
	    count * sizeof *facts);
	struct sort_key *keys = arena_alloc(checker->arena,
	    count * sizeof *keys);
	struct reach reaches[SBX_EFFECT_END] = { 0 }, denied = { 0 };

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){
			.rule = port_rule(checker, i),
			.index = (uint32_t)i,
		};
	if (count > 0)
		qsort(keys, count, sizeof *keys, compare_ports);
	for (size_t i = 0; i < count; i++) {
		const struct port_rule *rule = keys[i].rule;
		uint32_t index = keys[i].index;

		if (i > 0 && keys[i - 1].rule->op != rule->op) {
			for (size_t j = 0; j < SBX_EFFECT_END; j++)
				reaches[j] = (struct reach){ 0 };
			denied = (struct reach){ 0 };
		}
		facts[index].within = reach_find(checker,
		    &reaches[rule->effect], rule);
		if (rule->effect == SBX_ALLOW)
			facts[index].denied = reach_find(checker, &denied,
			    rule);
		else
			reach_add(checker, &denied, index);
		reach_add(checker, &reaches[rule->effect], index);
	}
	return facts;
}

static void
note_port(struct checker *checker, struct diag *diag, uint32_t other)
{
	const struct port_rule *rule = port_rule(checker, other - 1);

	diag_note(checker->diags, diag, rule->origin.loc,
	    "'%s' of '%s' is "
	    "here",
	    port_rule_text(checker->policy, rule), rule->origin.via);
}

static bool
same_ports(const struct checker *checker, size_t a, size_t b)
{
	return port_rule(checker, a)->low == port_rule(checker, b)->low &&
	    port_rule(checker, a)->high == port_rule(checker, b)->high;
}

/* Whether the network is of that kind on any platform of the rule. */
static bool
is_net(const struct checker *checker, enum sbx_net net, uint8_t platforms,
    struct origin *origin)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		if ((platforms & bit) == 0 ||
		    policy_net(checker->policy, bit, NULL) != net)
			continue;
		/* Which rule says so takes longer to find. */
		if (origin != NULL)
			policy_net(checker->policy, bit, origin);
		return true;
	}
	return false;
}

static bool
is_full(const struct checker *checker, uint8_t platforms, struct origin *origin)
{
	return is_net(checker, SBX_NET_FULL, platforms, origin);
}

/* Then the checks of what stands beside it say all there is to say. */
static bool
is_everything(const struct checker *checker, uint8_t platforms)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		if ((platforms & bit) != 0 &&
		    policy_has_blanket(checker->policy, BLANKET_EVERYTHING,
			bit))
			return true;
	}
	return false;
}

static void
report_within(struct checker *checker, bool same)
{
	const struct port_fact *facts = judge_ports(checker);

	for (size_t i = 0; i < checker->policy->ports.count; i++) {
		const struct port_rule *rule = port_rule(checker, i);
		uint32_t other = facts[i].within;

		if (other == 0 || !rule->origin.own ||
		    is_full(checker, rule->origin.platforms, NULL) ||
		    same_ports(checker, i, other - 1) != same)
			continue;
		note_port(checker,
		    check_report(checker, rule->origin.loc,
			same ? "duplicate rule '%s'" : "'%s' says nothing new",
			port_rule_text(checker->policy, rule)),
		    other);
	}
}

void
check_port_duplicate(struct checker *checker)
{
	report_within(checker, true);
}

void
check_port_covered(struct checker *checker)
{
	report_within(checker, false);
}

void
check_port_denied(struct checker *checker)
{
	const struct port_fact *facts = judge_ports(checker);

	for (size_t i = 0; i < checker->policy->ports.count; i++) {
		const struct port_rule *rule = port_rule(checker, i);
		struct diag *diag;

		if (facts[i].denied == 0 || !rule->origin.own)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' has no effect: it is denied",
		    port_rule_text(checker->policy, rule));
		diag_help(checker->diags, diag,
		    "deny beats allow: delete or drop one of the two");
		note_port(checker, diag, facts[i].denied);
	}
}

void
check_port_full(struct checker *checker)
{
	struct origin origin;

	for (size_t i = 0; i < checker->policy->ports.count; i++) {
		const struct port_rule *rule = port_rule(checker, i);

		if (rule->effect != SBX_ALLOW || !rule->origin.own ||
		    is_everything(checker, rule->origin.platforms) ||
		    !is_full(checker, rule->origin.platforms, &origin))
			continue;
		diag_note(checker->diags,
		    check_report(checker, rule->origin.loc,
			"'%s' says nothing new: the whole "
			"network is allowed",
			port_rule_text(checker->policy, rule)),
		    origin.loc, "it is allowed here");
	}
}

/* Landlock lets ports in; it cannot keep one of all out. */
void
check_port_deny_full(struct checker *checker)
{
	struct origin origin;

	for (size_t i = 0; i < checker->policy->ports.count; i++) {
		const struct port_rule *rule = port_rule(checker, i);
		struct diag *diag;

		if (rule->effect == SBX_ALLOW ||
		    is_everything(checker, rule->origin.platforms) ||
		    !is_full(checker, rule->origin.platforms, &origin) ||
		    (!rule->origin.own && !origin.own))
			continue;
		diag = check_report(checker,
		    rule->origin.own ? rule->origin.loc : origin.loc,
		    "nothing enforces '%s' while the whole network is "
		    "allowed",
		    port_rule_text(checker->policy, rule));
		diag_help(checker->diags, diag,
		    "allow the ports that are needed instead");
		diag_note(checker->diags, diag,
		    rule->origin.own ? origin.loc : rule->origin.loc,
		    rule->origin.own ? "it is allowed here" :
				       "the deny is here");
	}
}

/* Level full comes with ABI 4, so that it says the same. */
void
check_port_landlock(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	if (policy->landlock >= 4 || policy->level == SBX_LEVEL_FULL)
		return;
	for (size_t i = 0; i < policy->ports.count; i++) {
		const struct port_rule *rule = port_rule(checker, i);
		struct diag *diag;

		if (rule->effect != SBX_ALLOW || !rule->origin.own ||
		    (rule->origin.platforms & SBX_ON_LINUX) == 0 ||
		    is_full(checker, rule->origin.platforms, NULL))
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "ports need Landlock ABI 4; on an older kernel the "
		    "network stays shut");
		diag_help(checker->diags, diag,
		    "'require landlock 4' "
		    "refuses to run there");
		return;
	}
}

/* --- a network of its own ------------------------------------------------- */

static bool
is_own_loopback(const struct blanket_rule *rule)
{
	return rule->kind == BLANKET_LOOPBACK && rule->effect == SBX_ALLOW &&
	    rule->origin.own;
}

void
check_loopback_full(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	struct origin origin;

	for (size_t i = 0; i < policy->blankets.count; i++) {
		const struct blanket_rule *rule = &policy->blankets.items[i];

		if (!is_own_loopback(rule) ||
		    is_everything(checker, rule->origin.platforms) ||
		    !is_full(checker, rule->origin.platforms, &origin))
			continue;
		diag_note(checker->diags,
		    check_report(checker, rule->origin.loc,
			"'%s' has no effect: the whole network "
			"is allowed",
			blanket_rule_text(policy, rule)),
		    origin.loc, "it is allowed here");
	}
}

static void
report_excluded(struct checker *checker, const struct origin *rule,
    const char *text, const struct origin *loopback)
{
	struct diag *diag = check_report(checker, rule->loc,
	    "'%s' and 'allow network loopback' exclude each other", text);

	diag_help(checker->diags, diag,
	    loopback->own ?
		"a network of its own leads nowhere: keep one of the two" :
		"'drop allow network loopback' takes the inherited one back");
	diag_note(checker->diags, diag, loopback->loc,
	    "the network of its own is allowed here");
}

/* Ports and abstract sockets of the host are not there in the sandbox's own
 * network, and whoever writes such a rule expects that they are. */
void
check_loopback_beside(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	struct origin loopback;

	for (size_t i = 0; i < policy->ports.count; i++) {
		const struct port_rule *rule = port_rule(checker, i);

		if (is_net(checker, SBX_NET_LOOPBACK, rule->origin.platforms,
			&loopback))
			report_excluded(checker, &rule->origin,
			    port_rule_text(policy, rule), &loopback);
	}
	for (size_t i = 0; i < policy->blankets.count; i++) {
		const struct blanket_rule *rule = &policy->blankets.items[i];

		if (rule->kind == BLANKET_ABSTRACT &&
		    rule->effect == SBX_ALLOW &&
		    is_net(checker, SBX_NET_LOOPBACK, rule->origin.platforms,
			&loopback))
			report_excluded(checker, &rule->origin,
			    blanket_rule_text(policy, rule), &loopback);
	}
}
