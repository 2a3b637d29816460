/*
 * Sockets behind which somebody does outside whatever the command asks for
 * (ESCAPE in tables/risks.def): a rule that opens one must say so, and is told
 * of it all the same.
 */
#include "compiler/check/check.h"

#include <string.h>

/* How a rule about sockets meets a place, in whatever spelling. */
static enum reach
reach_of(struct arena *arena, const struct rule *rule, struct target place)
{
	struct spelling spellings[MAX_SPELLINGS];
	size_t count;

	/* The ssh agent has no place here. */
	if (rule->path.at.anchor == SBX_NO_ANCHOR)
		return REACH_NONE;
	count = rule_spellings(arena, &rule->path, spellings);
	for (size_t i = 0; i < count; i++) {
		enum reach reach = spelling_reaches(&spellings[i], place);

		if (reach != REACH_NONE)
			return reach;
	}
	return REACH_NONE;
}

/* Whether the policy denies a place everywhere where the rule holds. */
static bool
is_denied(const struct policy *policy, const struct rule *rule,
    struct target place)
{
	const struct rule_list *rules = &policy->rules[KIND_SOCKET];

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *deny = &rules->items[i];
		enum reach reach;

		if (deny->effect == SBX_ALLOW ||
		    (rule->origin.platforms & ~deny->origin.platforms) != 0)
			continue;
		reach = reach_of(policy->arena, deny, place);
		if (reach == REACH_AT || reach == REACH_ABOVE)
			return true;
	}
	return false;
}

const char *
risk_of_socket(const struct policy *policy, const struct rule *rule)
{
	const struct target *place;
	const char *who;
	uint8_t platforms;

	for (size_t i = 0; (place = risk_escape(i, &who, &platforms)) != NULL;
	     i++) {
		if ((rule->origin.platforms & platforms) != 0 &&
		    reach_of(policy->arena, rule, *place) != REACH_NONE &&
		    !is_denied(policy, rule, *place))
			return who;
	}
	return NULL;
}

/* Of rules that say that nothing holds there, or of those that do not; one of
 * an object is enough. */
void
check_socket(struct checker *checker)
{
	const struct rule_list *rules = &checker->policy->rules[KIND_SOCKET];
	bool unconfined = checker->id == DIAG_RISKY_SOCKET;
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		const char *who;

		if (!rule->origin.own || rule->effect != SBX_ALLOW ||
		    (rule->detail == SBX_SOCKET_UNCONFINED) != unconfined ||
		    rule->origin.loc.begin == last)
			continue;
		who = risk_of_socket(checker->policy, rule);
		if (who == NULL)
			continue;
		last = rule->origin.loc.begin;
		rule_report(checker, rule,
		    arena_printf(checker->arena,
			"leads out of the sandbox: %s does what it is asked",
			who),
		    unconfined ?
			NULL :
			"'allow socket unconfined' says that it may be so");
	}
}

/* --- places without sockets ----------------------------------------------- */

/* Programs, their settings, and what the kernel makes. */
static bool
is_quiet(struct target at)
{
	static const char *const places[] = { "/bin", "/boot", "/etc", "/lib",
		"/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys",
		"/usr" };

	for (size_t i = 0; at.anchor == SBX_ANCHOR_ROOT && i < countof(places);
	     i++) {
		const struct sbx_place place = sbx_place_of(places[i]);

		if (sbx_covers(place, sbx_place_of(at.suffix)))
			return true;
	}
	return false;
}

/* Whether the policy opens the host's network, on some Linux of the rule: then
 * connect(2) is the kernel's, which below Landlock ABI 9 sees no path. */
static bool
is_shut(const struct checker *checker, const struct rule *rule)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		enum sbx_net net = checker->on[bit].net;

		if ((rule->origin.platforms & bit & SBX_ON_LINUX) != 0 &&
		    !checker->on[bit].everything &&
		    (net == SBX_NET_FULL || net == SBX_NET_PORTS))
			return true;
	}
	return false;
}

void
check_socket_idle(struct checker *checker, const struct rule *rule)
{
	if (!rule->origin.own || rule->effect != SBX_ALLOW)
		return;
	if (is_shut(checker, rule))
		rule_report(checker, rule,
		    "opens nothing at level standard before Landlock ABI 9: "
		    "the policy opens the network of the host",
		    "name what the network is for, as 'allow network domain "
		    "NAME' does: then sbxrun connects");
	if (is_quiet(rule->path.at))
		rule_report(checker, rule,
		    "opens nothing: no program listens there",
		    "sockets lie in /run, in ${runtime} and in the directories "
		    "of programs; to let a file be read is 'allow read'");
}
