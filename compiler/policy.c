/*
 * Questions about a resolved policy that more than one stage asks.
 */
#include "compiler/policy.h"

#include "compiler/words.h"

/*
 * The platforms on which the freedom is given and not taken: `everything`
 * gives all of them.  A preferred denial denies, since a filter always can.
 */
static uint8_t
freedom_where(const struct policy *policy, enum freedom_kind kind)
{
	uint8_t given = 0, taken = 0;

	for (size_t i = 0; i < policy->freedoms.count; i++) {
		const struct freedom_rule *rule = &policy->freedoms.items[i];

		if (rule->effect == SBX_ALLOW && (rule->kind == kind ||
		    rule->kind == FREEDOM_EVERYTHING))
			given |= rule->origin.where;
		else if (rule->effect != SBX_ALLOW && rule->kind == kind)
			taken |= rule->origin.where;
	}
	return given & (uint8_t)~taken;
}

bool
policy_has_freedom(const struct policy *policy, enum freedom_kind kind,
    uint8_t where)
{
	return (where & ~freedom_where(policy, kind)) == 0;
}

/* The first rule that says it: about the network as a whole, or about ports. */
static const struct origin *
freedom_origin(const struct policy *policy, enum freedom_kind kind, bool allow,
    uint8_t where)
{
	for (size_t i = 0; i < policy->freedoms.count; i++) {
		const struct freedom_rule *rule = &policy->freedoms.items[i];

		if ((rule->effect == SBX_ALLOW) == allow &&
		    (rule->origin.where & where) != 0 &&
		    (rule->kind == kind ||
		    (allow && rule->kind == FREEDOM_EVERYTHING)))
			return &rule->origin;
	}
	return NULL;
}

static const struct origin *
port_origin(const struct policy *policy, uint8_t where)
{
	for (size_t i = 0; i < policy->ports.count; i++) {
		const struct port_rule *rule = &policy->ports.items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->origin.where & where) != 0)
			return &rule->origin;
	}
	return NULL;
}

enum sbx_net
policy_net(const struct policy *policy, uint8_t where, struct origin *origin)
{
	const struct origin *deny = freedom_origin(policy, FREEDOM_NETWORK,
	    false, where);
	const struct origin *ports = port_origin(policy, where);
	const struct origin *decides = NULL;
	enum sbx_net net = SBX_NET_NONE;

	if (policy_has_freedom(policy, FREEDOM_NETWORK, where)) {
		net = SBX_NET_FULL;
		decides = freedom_origin(policy, FREEDOM_NETWORK, true, where);
	} else if (deny != NULL) {
		decides = deny;
	} else if (policy_has_freedom(policy, FREEDOM_LOOPBACK, where)) {
		net = SBX_NET_LOOPBACK;
		decides = freedom_origin(policy, FREEDOM_LOOPBACK, true,
		    where);
	} else if (ports != NULL) {
		net = SBX_NET_PORTS;
		decides = ports;
	}
	if (origin != NULL)
		*origin = decides == NULL ? (struct origin){ 0 } : *decides;
	return net;
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
