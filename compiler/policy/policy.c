/*
 * Questions about a resolved policy that more than one stage asks.
 */
#include "compiler/policy/policy.h"

#include "compiler/tables/words.h"

#include <stdlib.h>
#include <string.h>

/*
 * The platforms on which the blanket rule is given and not taken: `everything`
 * gives all of them.  A preferred denial denies, since a filter always can.
 */
static uint8_t
blanket_platforms(const struct policy *policy, enum blanket_kind kind)
{
	uint8_t given = 0, taken = 0;

	for (size_t i = 0; i < policy->blankets.count; i++) {
		const struct blanket_rule *rule = &policy->blankets.items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->kind == kind || rule->kind == BLANKET_EVERYTHING))
			given |= rule->origin.platforms;
		else if (rule->effect != SBX_ALLOW && rule->kind == kind)
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

static bool
blanket_says(const struct blanket_rule *rule, enum blanket_kind kind,
    bool allow, uint8_t platforms)
{
	return (rule->effect == SBX_ALLOW) == allow &&
	    (rule->origin.platforms & platforms) != 0 &&
	    (rule->kind == kind || (allow && rule->kind == BLANKET_EVERYTHING));
}

static bool
port_says(const struct port_rule *rule, uint8_t platforms)
{
	return rule->effect == SBX_ALLOW &&
	    (rule->origin.platforms & platforms) != 0;
}

static bool
has_denied(const struct policy *policy, enum blanket_kind kind,
    uint8_t platforms)
{
	for (size_t i = 0; i < policy->blankets.count; i++) {
		if (blanket_says(&policy->blankets.items[i], kind, false,
			platforms))
			return true;
	}
	return false;
}

static bool
has_ports(const struct policy *policy, uint8_t platforms)
{
	for (size_t i = 0; i < policy->ports.count; i++) {
		if (port_says(&policy->ports.items[i], platforms))
			return true;
	}
	return false;
}

/* Of the rules about the network that say it, the one whose position comes
 * first. */
static const struct origin *
net_origin(const struct policy *policy, enum blanket_kind kind, bool allow,
    uint8_t platforms)
{
	const struct origin *least = NULL;

	for (size_t i = 0; i < policy->blankets.count; i++) {
		const struct blanket_rule *rule = &policy->blankets.items[i];

		if (blanket_says(rule, kind, allow, platforms))
			least = origin_least(policy, least, &rule->origin);
	}
	return least;
}

static const struct origin *
port_origin(const struct policy *policy, uint8_t platforms)
{
	const struct origin *least = NULL;

	for (size_t i = 0; i < policy->ports.count; i++) {
		const struct port_rule *rule = &policy->ports.items[i];

		if (port_says(rule, platforms))
			least = origin_least(policy, least, &rule->origin);
	}
	return least;
}

enum sbx_net
policy_net(const struct policy *policy, uint8_t platforms,
    struct origin *origin)
{
	const struct origin *decides = NULL;
	enum blanket_kind kind = BLANKET_NETWORK;
	enum sbx_net net = SBX_NET_NONE;
	bool denied = false;

	if (policy_has_blanket(policy, BLANKET_NETWORK, platforms)) {
		net = SBX_NET_FULL;
	} else if (has_denied(policy, BLANKET_NETWORK, platforms)) {
		denied = true;
	} else if (policy_has_blanket(policy, BLANKET_LOOPBACK, platforms)) {
		net = SBX_NET_LOOPBACK;
		kind = BLANKET_LOOPBACK;
	} else if (has_ports(policy, platforms)) {
		net = SBX_NET_PORTS;
	}
	if (origin == NULL)
		return net;
	if (net == SBX_NET_PORTS)
		decides = port_origin(policy, platforms);
	else if (net != SBX_NET_NONE || denied)
		decides = net_origin(policy, kind, !denied, platforms);
	*origin = decides == NULL ? (struct origin){ 0 } : *decides;
	return net;
}

static int
ranked_compare(const void *a, const void *b)
{
	const struct ranked_syscall *x = a, *y = b;
	int order = x->rule->group - y->rule->group;

	if (order == 0)
		order = position_compare(&x->position, &y->position);
	return order != 0 ? order : strcmp(x->rule->name, y->rule->name);
}

void
policy_rank_syscalls(const struct policy *policy, bool allow, uint8_t platforms,
    struct ranked_syscalls *ranked)
{
	for (size_t i = 0; i < policy->syscalls.count; i++) {
		const struct syscall_rule *rule = &policy->syscalls.items[i];

		if ((rule->effect == SBX_ALLOW) == allow &&
		    (rule->origin.platforms & platforms) != 0)
			*arena_push(policy->arena,
			    &ranked->rules) = (struct ranked_syscall){ rule,
				policy_position(policy, &rule->origin) };
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
