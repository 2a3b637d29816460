/*
 * What a policy opens, or shuts, that filters depend on.
 */
#include "compiler/lower/lower.h"

#include <string.h>

bool
policy_listens(const struct policy *policy, uint8_t platforms)
{
	const struct rule_list *ports = &policy->rules[KIND_PORT];

	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];

		if ((rule->detail == SBX_LISTEN_TCP ||
			rule->detail == SBX_PUBLISH_TCP) &&
		    rule->effect == SBX_ALLOW &&
		    (rule->origin.platforms & platforms))
			return true;
	}
	return false;
}

static bool
place_has_sockets(struct target at)
{
	static const char *const roots[] = { "/run", "/tmp", "/var" };

	if (at.anchor == SBX_ANCHOR_RUNTIME)
		return true;
	if (at.anchor != SBX_ANCHOR_ROOT && at.anchor != SBX_ANCHOR_HOME)
		return false;
	if (*at.suffix == '\0')
		return true;
	for (size_t i = 0; i < countof(roots); i++) {
		if (at.anchor == SBX_ANCHOR_ROOT &&
		    strcmp(at.suffix, roots[i]) == 0)
			return true;
	}
	return false;
}

/*
 * At level full a command can connect only to sockets that some rule shows.  A
 * rule for a place where services of the host keep their sockets shows them,
 * and a read-only mount does not prevent connecting.
 */
bool
policy_shows_sockets(const struct policy *policy, uint8_t platforms)
{
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->origin.platforms & platforms) &&
		    place_has_sockets(rule->at))
			return true;
	}
	return false;
}

/*
 * Whether it lets the command read /proc/net, which tells of the machine's
 * interfaces, addresses, routes and neighbours: route netlink then tells nothing
 * that is kept.  To be sure without a layout, no rule may take a part of it away.
 */
bool
policy_shows_interfaces(const struct policy *policy, uint8_t platforms)
{
	static const struct target table = { .anchor = SBX_ANCHOR_ROOT,
		.suffix = "/proc" };
	bool shown = false;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		bool covers = target_covers(rule->at, table);

		if ((rule->rights & SBX_READ) == 0 ||
		    (rule->origin.platforms & platforms) == 0)
			continue;
		if (rule->effect == SBX_ALLOW)
			shown |= covers && rule->glob == NULL &&
			    rule->exclusion_count == 0;
		else if (covers || target_covers(table, rule->at))
			return false;
	}
	return shown;
}

/* Nothing that the policy allows lifts these. */
void
filter_deny_spawn(const struct policy *policy, struct filter *filter)
{
	struct origin origin = policy_spawn_origin(policy,
	    filter->arch->platforms);

	for (size_t i = 0; i < spawn_call_count; i++) {
		const struct spawn_call *call = &spawn_calls[i];
		int number = syscall_number(filter->arch, call->name);
		struct filter_entry *entry;

		if (number < 0)
			continue;
		entry = &filter->entries[number];
		/* It is denied anyway, and whatever its arguments are. */
		if (entry->action != FILTER_ALLOW && entry->clause_count == 0)
			continue;
		entry->action = FILTER_DENY((uint32_t)call->error);
		entry->clauses = &call->clause;
		entry->clause_count = call->clause.test_count > 0;
		entry->reason = "deny spawn";
		entry->loc = origin.loc;
		entry->from = origin.from;
	}
}
