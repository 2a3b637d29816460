/*
 * What a user must not miss: where a run protects less, or gives less, than the
 * policy says.
 */
#include "runtime/inspect/inspect.h"

#include <unistd.h>

/*
 * What the view cannot cover because it is not there yet: the command could
 * make it.  That matters where writing is denied and nothing else; a command
 * that reads what it has made itself learns nothing.
 */
static void
warn_of_absent(const struct plan *plan)
{
	const struct binding *binding = plan->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect == SBX_DENY && !(rule->rights & SBX_READ) &&
		    plan->outcomes[i].absent)
			warn_at(plan->blob, rule->source,
			    "nothing is there yet, so the command may make "
			    "what this denies",
			    0);
	}
}

static void
warn_of_network(const struct plan *plan)
{
	enum sbx_net net = plan->blob->meta->net;

	if (plan->program != NULL && net == SBX_NET_PORTS &&
	    (plan->program->flags & SBX_PROGRAM_TCP) == 0)
		warn_about("network",
		    "all TCP stays shut: opening single ports needs Landlock "
		    "ABI 4",
		    0);
	if (plan->program != NULL && net == SBX_NET_SELECTED &&
	    plan->level < SBX_LEVEL_FULL && !plan_connects(plan))
		warn_about("network: all TCP stays shut",
		    plan->why_no_listener != NULL ?
			plan->why_no_listener :
			plan->why_no_sockets != NULL ?
			plan->why_no_sockets :
			"connecting by address needs Landlock ABI 4 and a "
			"level that restricts files",
		    0);
	if (plan->level < SBX_LEVEL_FULL || plan->why_no_network == NULL)
		return;
	if (sbx_net_is_own(net))
		warn_about("a network of its own: all sockets stay shut",
		    plan->why_no_network, 0);
	if (plan->network == NETWORK_OUTER)
		warn_about("the host's interfaces, addresses and sockets can "
			   "be seen",
		    plan->why_no_network, 0);
}

/* Somebody who began in the home directory may not have meant all of it.  Who
 * begins a command from a program has no use for a line with each. */
static void
warn_of_home(const struct plan *plan, bool described)
{
	const struct binding *binding = plan->binding;
	struct sbx_place at = binding->anchors[SBX_ANCHOR_WORKSPACE];

	if ((described || isatty(STDERR_FILENO) == 1) && at.len > 0 &&
	    binding->bound[SBX_ANCHOR_HOME] &&
	    sbx_covers(at, binding->anchors[SBX_ANCHOR_HOME]))
		warn_about("the workspace is the home directory, or holds it",
		    "all that is yours is the command's, but for what the "
		    "policy denies; choose a project with -w",
		    0);
}

void
plan_warn(const struct plan *plan, bool described)
{
	if (plan_allows_everything(plan))
		return;
	warn_of_home(plan, described);
	if (plan->level == SBX_LEVEL_NONE)
		warn_about("level none", "NOTHING is protected but by limits",
		    0);
	if (plan->level == SBX_LEVEL_MINIMAL)
		warn_about("level minimal",
		    "files are NOT protected, nor other processes from "
		    "signals; the network is",
		    0);
	warn_of_network(plan);
	if (plan->level == SBX_LEVEL_STANDARD &&
	    plan->why_no_listener != NULL && !plan->nested)
		warn_about("modes, times and attributes of what may only be "
			   "read can be changed",
		    plan->why_no_listener, 0);
	if (plan->level == SBX_LEVEL_FULL && plan->why_no_listener != NULL)
		warn_about("servers of the host in what may be written can be "
			   "connected to",
		    plan->why_no_listener, 0);
	if (plan->level == SBX_LEVEL_FULL)
		warn_of_absent(plan);
	else if (plan->binding->own_policy)
		warn_about(plan->policy,
		    "the command may write its own policy: keep it elsewhere",
		    0);
}
