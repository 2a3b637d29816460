/*
 * Checks of what rules about ports and about the network as a whole say of each
 * other.
 */
#include "compiler/check/check.h"

/* Whether the network is of that kind on any platform of the rule. */
static bool
is_net(const struct checker *checker, enum sbx_net net, uint8_t platforms,
    struct origin *origin)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		const struct platform_fact *fact = &checker->on[bit];

		if ((platforms & bit) == 0 || fact->net != net)
			continue;
		if (origin != NULL)
			*origin = fact->net_origin;
		return true;
	}
	return false;
}

static bool
is_full(const struct checker *checker, uint8_t platforms, struct origin *origin)
{
	return is_net(checker, SBX_NET_FULL, platforms, origin);
}

/* Skip such a rule: the checks of what stands beside `everything` report it. */
static bool
is_everything(const struct checker *checker, uint8_t platforms)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		if ((platforms & bit) != 0 && checker->on[bit].everything)
			return true;
	}
	return false;
}

bool
port_is_moot(const struct checker *checker, const struct rule *rule)
{
	return is_full(checker, rule->origin.platforms, NULL);
}

void
check_port_full(struct checker *checker, const struct rule *rule)
{
	struct origin origin;

	if (rule->effect == SBX_ALLOW && rule->origin.own &&
	    !is_everything(checker, rule->origin.platforms) &&
	    is_full(checker, rule->origin.platforms, &origin))
		diag_note(rule_report(checker, rule,
			      "says nothing new: the whole network is allowed",
			      NULL),
		    origin.loc, "it is allowed here");
}

/* Landlock lets ports in; it cannot keep one of all out. */
void
check_port_deny_full(struct checker *checker, const struct rule *rule)
{
	struct origin origin;

	if (rule->effect != SBX_ALLOW &&
	    !is_everything(checker, rule->origin.platforms) &&
	    is_full(checker, rule->origin.platforms, &origin))
		report_unheld(checker, rule, &origin,
		    "the whole network is allowed",
		    "allow the ports that are needed instead");
}

/* Level full comes with ABI 4, so that it says the same. */
void
check_port_landlock(struct checker *checker)
{
	const struct rule_list *ports = &checker->policy->rules[KIND_PORT];
	const struct policy *policy = checker->policy;

	if (policy->landlock >= 4 || policy->level == SBX_LEVEL_FULL)
		return;
	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];

		if (rule->effect != SBX_ALLOW || !rule->origin.own ||
		    rule->detail >= SBX_HOST_TCP ||
		    (rule->origin.platforms & SBX_ON_LINUX) == 0 ||
		    is_full(checker, rule->origin.platforms, NULL))
			continue;
		diag_help(check_report(checker, rule->origin.loc,
			      "ports need Landlock ABI 4; on an older kernel "
			      "the network stays shut"),
		    "'require landlock 4' refuses to run there");
		return;
	}
}

/* --- a network of its own ------------------------------------------------- */

void
check_loopback_full(struct checker *checker, const struct rule *rule)
{
	struct origin origin;

	if (rule->detail == BLANKET_LOOPBACK && rule->effect == SBX_ALLOW &&
	    rule->origin.own &&
	    !is_everything(checker, rule->origin.platforms) &&
	    is_full(checker, rule->origin.platforms, &origin))
		diag_note(rule_report(checker, rule,
			      "has no effect: the whole network is allowed",
			      NULL),
		    origin.loc, "it is allowed here");
}

/* Ports and abstract sockets of the host are not there in the sandbox's own
 * network, and whoever writes such a rule expects that they are. */
void
check_loopback_beside(struct checker *checker, const struct rule *rule)
{
	struct origin loopback;
	struct diag *diag;

	if (rule->kind == KIND_PORT ?
		rule->detail >= SBX_HOST_TCP :
		rule->detail != BLANKET_ABSTRACT || rule->effect != SBX_ALLOW)
		return;
	if (!is_net(checker, SBX_NET_LOOPBACK, rule->origin.platforms,
		&loopback))
		return;
	diag = check_report(checker, rule->origin.loc,
	    "'%s' and 'allow network loopback' exclude each other",
	    rule_text(checker->policy, rule));
	diag_help(diag,
	    loopback.own ?
		"a network of its own leads nowhere: keep one of the two" :
		"'drop allow network loopback' takes the inherited one back");
	diag_note(diag, loopback.loc, "the network of its own is allowed here");
}
