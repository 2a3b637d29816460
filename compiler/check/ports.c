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
check_port_full(struct checker *checker)
{
	const struct rule_list *ports = &checker->policy->rules[KIND_PORT];
	struct origin origin;

	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];

		if (rule->effect != SBX_ALLOW || !rule->origin.own ||
		    is_everything(checker, rule->origin.platforms) ||
		    !is_full(checker, rule->origin.platforms, &origin))
			continue;
		diag_note(checker->diags,
		    check_report(checker, rule->origin.loc,
			"'%s' says nothing new: the whole "
			"network is allowed",
			rule_text(checker->policy, rule)),
		    origin.loc, "it is allowed here");
	}
}

/* Landlock lets ports in; it cannot keep one of all out. */
void
check_port_deny_full(struct checker *checker)
{
	const struct rule_list *ports = &checker->policy->rules[KIND_PORT];
	struct origin origin;

	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];
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
		    rule_text(checker->policy, rule));
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
	const struct rule_list *ports = &checker->policy->rules[KIND_PORT];
	const struct policy *policy = checker->policy;

	if (policy->landlock >= 4 || policy->level == SBX_LEVEL_FULL)
		return;
	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];
		struct diag *diag;

		if (rule->effect != SBX_ALLOW || !rule->origin.own ||
		    rule->detail >= SBX_HOST_TCP ||
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
is_own_loopback(const struct rule *rule)
{
	return rule->detail == BLANKET_LOOPBACK && rule->effect == SBX_ALLOW &&
	    rule->origin.own;
}

void
check_loopback_full(struct checker *checker)
{
	const struct rule_list *blankets =
	    &checker->policy->rules[KIND_BLANKET];
	const struct policy *policy = checker->policy;
	struct origin origin;

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (!is_own_loopback(rule) ||
		    is_everything(checker, rule->origin.platforms) ||
		    !is_full(checker, rule->origin.platforms, &origin))
			continue;
		diag_note(checker->diags,
		    check_report(checker, rule->origin.loc,
			"'%s' has no effect: the whole network "
			"is allowed",
			rule_text(policy, rule)),
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
	const struct rule_list *ports = &checker->policy->rules[KIND_PORT];
	const struct rule_list *blankets =
	    &checker->policy->rules[KIND_BLANKET];
	const struct policy *policy = checker->policy;
	struct origin loopback;

	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];

		if (rule->detail < SBX_HOST_TCP &&
		    is_net(checker, SBX_NET_LOOPBACK, rule->origin.platforms,
			&loopback))
			report_excluded(checker, &rule->origin,
			    rule_text(policy, rule), &loopback);
	}
	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->detail == BLANKET_ABSTRACT &&
		    rule->effect == SBX_ALLOW &&
		    is_net(checker, SBX_NET_LOOPBACK, rule->origin.platforms,
			&loopback))
			report_excluded(checker, &rule->origin,
			    rule_text(policy, rule), &loopback);
	}
}
