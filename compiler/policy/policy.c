/*
 * Questions about a resolved policy that more than one stage asks.
 */
#include "compiler/policy/policy.h"

#include "compiler/tables/words.h"

#include <stdlib.h>
#include <string.h>

struct rule *
policy_add(struct policy *policy, enum rule_kind_id kind,
    const struct origin *origin, enum sbx_effect effect)
{
	struct rule *rule = arena_push(policy->arena, &policy->rules[kind]);

	rule->kind = kind;
	rule->origin = *origin;
	rule->effect = effect;
	return rule;
}

/*
 * The platforms on which the blanket rule is given and not taken: `everything`
 * gives all of them.  A preferred denial denies, since a filter always can.
 */
static uint8_t
blanket_platforms(const struct policy *policy, enum blanket_kind kind)
{
	const struct rule_list *blankets = &policy->rules[KIND_BLANKET];
	uint8_t given = 0, taken = 0;

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->detail == kind ||
			rule->detail == BLANKET_EVERYTHING))
			given |= rule->origin.platforms;
		else if (rule->effect != SBX_ALLOW && rule->detail == kind)
			taken |= rule->origin.platforms;
	}
	return given & (uint8_t)~taken;
}

bool
policy_has_blanket(const struct policy *policy, enum blanket_kind kind,
    uint8_t platforms)
{
	return (platforms & ~blanket_platforms(policy, kind)) == 0;
}

/* Everybody may spawn, so that there is nothing to allow. */
bool
policy_denies_spawn(const struct policy *policy, uint8_t platforms)
{
	const struct rule_list *blankets = &policy->rules[KIND_BLANKET];
	uint8_t taken = 0;

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->detail == BLANKET_SPAWN)
			taken |= rule->origin.platforms;
		else if (rule->detail == BLANKET_EVERYTHING &&
		    rule->effect == SBX_ALLOW)
			platforms &= (uint8_t)~rule->origin.platforms;
	}
	return platforms != 0 && (platforms & ~taken) == 0;
}

struct position
policy_position(const struct policy *policy, const struct origin *origin)
{
	const struct source *source;
	struct position position;

	if (origin->from != NULL)
		return *origin->from;
	source = sources_find(policy->sources, origin->loc);
	position = sources_position(policy->sources, origin->loc);
	position.file = source != NULL ? source->name : "";
	position.via = origin->via != NULL ? origin->via : "";
	return position;
}

/* The one of two origins whose position comes first; `a` may be NULL. */
static const struct origin *
origin_least(const struct policy *policy, const struct origin *a,
    const struct origin *b)
{
	struct position x, y;

	if (a == NULL)
		return b;
	x = policy_position(policy, a);
	y = policy_position(policy, b);
	return position_compare(&x, &y) <= 0 ? a : b;
}

/* What a rule about the network has to be. */
struct wanted {
	enum rule_kind_id kind;
	enum blanket_kind blanket; /* of a blanket rule */
	bool allow;
	uint8_t platforms;
};

static bool
is_wanted(const struct wanted *wanted, const struct rule *rule)
{
	return (rule->effect == SBX_ALLOW) == wanted->allow &&
	    (rule->origin.platforms & wanted->platforms) != 0 &&
	    (wanted->kind != KIND_BLANKET || rule->detail == wanted->blanket ||
		(wanted->allow && rule->detail == BLANKET_EVERYTHING));
}

static bool
has_wanted(const struct policy *policy, const struct wanted *wanted)
{
	const struct rule_list *rules = &policy->rules[wanted->kind];

	for (size_t i = 0; i < rules->count; i++) {
		if (is_wanted(wanted, &rules->items[i]))
			return true;
	}
	return false;
}

/* The one of them with the first position, or none. */
static struct origin
wanted_origin(const struct policy *policy, const struct wanted *wanted)
{
	const struct rule_list *rules = &policy->rules[wanted->kind];
	const struct origin *least = NULL;

	for (size_t i = 0; i < rules->count; i++) {
		if (is_wanted(wanted, &rules->items[i]))
			least = origin_least(policy, least,
			    &rules->items[i].origin);
	}
	return least == NULL ? (struct origin){ 0 } : *least;
}

enum sbx_net
policy_net(const struct policy *policy, uint8_t platforms,
    struct origin *origin)
{
	const struct wanted port = { KIND_PORT, 0, true, platforms };
	const struct wanted deny = { KIND_BLANKET, BLANKET_NETWORK, false,
		platforms };
	struct wanted wanted = { KIND_BLANKET, BLANKET_NETWORK, true,
		platforms };
	enum sbx_net net = SBX_NET_NONE;

	if (policy_has_blanket(policy, BLANKET_NETWORK, platforms)) {
		net = SBX_NET_FULL;
	} else if (has_wanted(policy, &deny)) {
		wanted = deny;
	} else if (policy_has_blanket(policy, BLANKET_LOOPBACK, platforms)) {
		net = SBX_NET_LOOPBACK;
		wanted.blanket = BLANKET_LOOPBACK;
	} else if (has_wanted(policy, &port)) {
		net = SBX_NET_PORTS;
		wanted = port;
	} else {
		wanted.platforms = 0;
	}
	if (origin != NULL)
		*origin = wanted_origin(policy, &wanted);
	return net;
}

static int
ranked_compare(const void *a, const void *b)
{
	const struct ranked_syscall *x = a, *y = b;
	int order = x->rule->syscall.group - y->rule->syscall.group;

	if (order == 0)
		order = position_compare(&x->position, &y->position);
	return order != 0 ?
	    order :
	    strcmp(x->rule->syscall.name, y->rule->syscall.name);
}

void
policy_rank_syscalls(const struct policy *policy, bool allow, uint8_t platforms,
    struct ranked_syscalls *ranked)
{
	const struct rule_list *calls = &policy->rules[KIND_SYSCALL];

	for (size_t i = 0; i < calls->count; i++) {
		const struct rule *rule = &calls->items[i];

		if ((rule->effect == SBX_ALLOW) != allow ||
		    (rule->origin.platforms & platforms) == 0)
			continue;
		struct ranked_syscall *call = arena_push(policy->arena,
		    &ranked->rules);
		call->rule = rule;
		call->position = policy_position(policy, &rule->origin);
		/* A blob does not keep the profile or group of a system call,
		 * so it must not decide which rule is named. */
		call->position.via = "";
	}
	if (ranked->rules.count > 1)
		qsort(ranked->rules.items, ranked->rules.count,
		    sizeof *ranked->rules.items, ranked_compare);
}

const char *
policy_anchor_name(const struct policy *policy, uint16_t anchor)
{
	const char *name = anchor_word(anchor);

	if (name != NULL)
		return name;
	if (anchor == SBX_ANCHOR_ROOT)
		return "";
	return policy->params.items[anchor - SBX_ANCHOR_PARAM].name;
}

const char *
policy_target_text(const struct policy *policy, struct target target)
{
	if (target.anchor == SBX_ANCHOR_ROOT)
		return *target.suffix == '\0' ? "/" : target.suffix;
	if (target.anchor == SBX_ANCHOR_HOME)
		return arena_printf(policy->arena, "~%s", target.suffix);
	return arena_printf(policy->arena, "${%s}%s",
	    policy_anchor_name(policy, target.anchor), target.suffix);
}
