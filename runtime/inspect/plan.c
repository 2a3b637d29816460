/* The words of a plan, which its text, its JSON and the receipt share. */
#include "runtime/inspect/inspect.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"

#include <string.h>
#include <unistd.h>

static const char unrestricted[] = "NOT RESTRICTED at this level";
static const char not_enforced[] = "NOT ENFORCED at this level";
static const char planted[] =
    "skipped: a link leads there that somebody could have planted";
static const char waived[] =
    "NOT ENFORCED: without masks nothing could be made beside it";
static const char no_anchor[] = "skipped: its anchor has no path here";

bool
plan_allows_everything(const struct plan *plan)
{
	return (plan->blob->meta->flags & SBX_EVERYTHING) != 0;
}

/* --- path rules ----------------------------------------------------------- */

const char *
effect_name(uint8_t effect)
{
	static const char *const names[SBX_EFFECT_END] = {
		[SBX_ALLOW] = "allow",
		[SBX_DENY] = "deny",
		[SBX_PREFER_DENY] = "prefer deny",
	};

	return names[effect];
}

static const char *
right_name(uint8_t effect, uint8_t rights)
{
	if (effect != SBX_ALLOW && rights == SBX_RIGHTS)
		return "read";
	if ((rights & SBX_WRITE) && (rights & SBX_EXEC))
		return "write exec";
	return rights & SBX_WRITE ? "write" :
	    rights & SBX_EXEC     ? "exec" :
				    "read";
}

void
plan_words(struct out *out, const struct sbx_path *path)
{
	if ((path->rights & SBX_STAGED) != 0)
		out_text(out, "stage write");
	else
		out_print(out, "%s %s", effect_name(path->effect),
		    right_name(path->effect, path->rights));
}

static void
grants_enforcer(struct out *out, const struct outcome *outcome)
{
	if (outcome->covered)
		out_text(out, "landlock: covered by a wider rule");
	else if (outcome->split)
		out_print(out,
		    "landlock: split, %u rules; entries made later are not "
		    "granted",
		    outcome->grants);
	else
		out_text(out,
		    outcome->grants == 0 ? "nothing: a denial covers it" :
					   "landlock");
}

static void
allow_enforcer(struct out *out, const struct plan *plan, uint32_t index)
{
	int error = plan->binding->sites[index].error;

	switch (outcome_state(plan->binding, plan->outcomes, index)) {
	case RULE_READY:
		if (plan->row == NULL)
			out_text(out, unrestricted);
		else
			grants_enforcer(out, &plan->outcomes[index]);
		if ((plan->binding->sites[index].path->rights & SBX_STAGED) !=
		    0)
			out_text(out, "; an overlay keeps it in the stage");
		break;
	case RULE_ABSENT:
		out_print(out, "skipped: %s",
		    strerror(error != 0 ? error : plan->outcomes[index].error));
		break;
	case RULE_PLANTED:
		out_text(out, planted);
		break;
	case RULE_UNBOUND:
	case RULE_WAIVED:
		out_text(out, no_anchor);
		break;
	}
}

/* Whether some allow covers what is denied. */
static bool
is_inside(const struct plan *plan, const struct sbx_rule *deny)
{
	const struct binding *binding = plan->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect == SBX_ALLOW &&
		    outcome_state(binding, plan->outcomes, i) == RULE_READY &&
		    (rule->rights & deny->rights) != 0 &&
		    sbx_rule_covers(rule, deny->at))
			return true;
	}
	return false;
}

/* Where no allow covers what is denied, it is enforced by not being granted;
 * elsewhere by splitting the allows that cover it. */
static const char *
deny_enforcer(const struct plan *plan, uint32_t index)
{
	const struct sbx_rule *deny = &plan->binding->rules[index];

	if (plan->row == NULL)
		return not_enforced;
	if (plan->binding->sites[index].state == RULE_WAIVED)
		return waived;
	if (plan->outcomes[index].absent)
		return "NOT COVERED: nothing is there to mask";
	if (!is_inside(plan, deny))
		return "landlock: not granted";
	if (plan->level < SBX_LEVEL_FULL ||
	    (deny->effect == SBX_DENY && unsteady_place(deny->at)))
		return "landlock: split, nothing can be made beside it";
	return deny->rights & SBX_READ ? "view: masked" :
	    deny->rights & SBX_WRITE   ? "view: read-only" :
					 "view: not executable";
}

void
plan_place(struct out *out, const struct plan *plan,
    const struct sbx_path *path)
{
	struct sbx_place anchor = plan->binding->anchors[path->anchor];
	const char *suffix = sbx_string(plan->blob, path->suffix);

	out_shown(out, anchor.path, anchor.len);
	out_shown(out, suffix, strlen(suffix));
}

void
plan_enforcer(struct out *out, const struct plan *plan, uint32_t index)
{
	if (plan->binding->sites[index].path->effect == SBX_ALLOW)
		allow_enforcer(out, plan, index);
	else
		out_text(out, deny_enforcer(plan, index));
}

enum plan_class
plan_class(const struct plan *plan, uint32_t index)
{
	const struct binding *binding = plan->binding;
	const struct outcome *outcome = &plan->outcomes[index];
	bool gives = binding->sites[index].path->effect == SBX_ALLOW;
	bool plain = gives ?
	    outcome->covered || (!outcome->split && outcome->grants > 0) :
	    !is_inside(plan, &binding->rules[index]);

	if (binding->sites[index].state == RULE_WAIVED)
		return PLAN_OTHER;
	if (outcome_state(binding, plan->outcomes, index) != RULE_READY)
		return gives ? PLAN_SKIPPED : PLAN_UNCOVERED;
	return plan->row != NULL && plain ? PLAN_PLAIN : PLAN_OTHER;
}

void
plan_glob_enforcer(struct out *out, const struct plan *plan,
    const struct glob *glob)
{
	if (glob->state != RULE_READY || plan->row == NULL) {
		out_text(out,
		    glob->state == RULE_UNBOUND         ? no_anchor :
			glob->path->effect == SBX_ALLOW ? unrestricted :
			plan->row == NULL               ? not_enforced :
							  waived);
		return;
	}
	if (glob->planted) {
		out_text(out, planted);
		return;
	}
	out_print(out, "snapshot: %u %s now, later ones are not covered",
	    glob->matches, glob->matches == 1 ? "match" : "matches");
	if (glob->closed > 0)
		out_print(out, "; directories that cannot be read: %u",
		    glob->closed);
	if (glob->fault != NULL)
		out_print(out, "; NOT ENFORCED beyond: %s", glob->fault);
}

/* --- what is watched ------------------------------------------------------ */

const char *
plan_watch_words(const struct sbx_watch *watch)
{
	return watch->form == SBX_WATCH_GIT ? "watch git" :
	    watch->glob != 0                ? "watch glob" :
					      "watch";
}

void
plan_watch_place(struct out *out, const struct plan *plan,
    const struct sbx_watch *watch)
{
	const struct sbx_path at = {
		.suffix = watch->suffix,
		.anchor = watch->anchor,
	};
	const char *glob = sbx_string(plan->blob, watch->glob);

	plan_place(out, plan, &at);
	out_shown(out, glob, strlen(glob));
}

/* --- the network ---------------------------------------------------------- */

/* Whether a network of its own is wanted and not there. */
static bool
is_missing(const struct plan *plan)
{
	return sbx_net_is_own(plan->blob->meta->net) && plan->program != NULL &&
	    (plan->program->flags & SBX_PROGRAM_LOOPBACK) == 0;
}

/* Whether the supervisor then connects: the sandbox's own servers, and to the
 * hosts of rules. */
bool
plan_connects(const struct plan *plan)
{
	return (plan->program->flags & SBX_PROGRAM_TCP) != 0 &&
	    plan->why_no_sockets == NULL;
}

const char *
plan_wanted_network(const struct plan *plan)
{
	static const char *const names[SBX_NET_END] = {
		[SBX_NET_NONE] = "none",
		[SBX_NET_PORTS] = "some TCP ports",
		[SBX_NET_FULL] = "full",
		[SBX_NET_LOOPBACK] = "loopback",
		[SBX_NET_SELECTED] = "selected hosts",
	};

	return names[plan->blob->meta->net];
}

const char *
plan_network(const struct plan *plan)
{
	if (!is_missing(plan) || plan_connects(plan))
		return plan_wanted_network(plan);
	if (plan->blob->meta->net == SBX_NET_SELECTED)
		return "none: hosts need level standard and Landlock ABI 4";
	return plan->level == SBX_LEVEL_FULL ?
	    "none: its own needs a network namespace" :
	    "none: its own needs level full, or standard and Landlock ABI 4";
}

const char *
plan_network_enforcer(const struct plan *plan)
{
	enum sbx_net net = plan->blob->meta->net;

	if (plan->program == NULL)
		return unrestricted;
	if (net == SBX_NET_PORTS)
		return plan->program->flags & SBX_PROGRAM_TCP ?
		    "seccomp and landlock" :
		    "all TCP stays shut: ports need Landlock ABI 4";
	if (is_missing(plan) && plan_connects(plan))
		return "seccomp, landlock and the supervisor, which connects";
	if (is_missing(plan))
		return "all sockets stay shut: it takes a network namespace, "
		       "at level full, or a supervisor that connects";
	return sbx_net_is_own(net) || plan->network == NETWORK_EMPTY ?
	    "seccomp and a network namespace" :
	    "seccomp";
}

void
plan_port_words(struct out *out, const struct sbx_port *port)
{
	static const char *const words[SBX_PORT_OP_END] = {
		[SBX_CONNECT_TCP] = "connect",
		[SBX_LISTEN_TCP] = "listen",
		[SBX_HOST_TCP] = "host",
		[SBX_PUBLISH_TCP] = "publish",
	};

	out_print(out, "%s network %s tcp", effect_name(port->effect),
	    words[port->op]);
}

const struct plan_scope plan_scopes[PLAN_SCOPES] = {
	{ "signal", SBX_SIGNAL_ANYWHERE, 2 },
	{ "abstract", SBX_ABSTRACT_ANYWHERE, 1 },
};

const char *
plan_scope_enforcer(const struct plan *plan, const struct plan_scope *scope)
{
	if (plan->blob->meta->flags & scope->blanket)
		return NULL;
	if (plan->row != NULL && (plan->row->scoped & scope->bit))
		return "landlock";
	return scope->blanket == SBX_ABSTRACT_ANYWHERE &&
		plan->network != NETWORK_OUTER ?
	    "a network namespace" :
	    "NOT ENFORCED: needs Landlock ABI 6";
}

/* --- system calls and limits ---------------------------------------------- */

uint32_t
plan_count_calls(const struct plan *plan, enum sbx_syscall_verdict verdict)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < plan->blob->syscall_count; i++) {
		const struct sbx_syscall *call = &plan->blob->syscalls[i];

		count += (call->platforms & KERNEL_WHERE) != 0 &&
		    call->verdict == verdict;
	}
	return count;
}

const char *
plan_calls_enforcer(const struct plan *plan)
{
	return plan->program == NULL ? not_enforced : "seccomp";
}

bool
plan_answers(const struct plan *plan)
{
	return plan->program != NULL &&
	    (plan->program->flags & SBX_PROGRAM_LISTENER) != 0;
}

static const char *const limit_enforcers[SBX_LIMIT_END] = {
	[SBX_LIMIT_FILE_SIZE] = "rlimit",
	[SBX_LIMIT_PROCESSES] = "rlimit, beside what the user runs now",
	[SBX_LIMIT_OPEN_FILES] = "rlimit",
	[SBX_LIMIT_CPU_TIME] = "rlimit, of each process",
	[SBX_LIMIT_MEMORY] = "rlimit, of each process",
	[SBX_LIMIT_CORE] = "rlimit",
	[SBX_LIMIT_STACK] = "rlimit",
	[SBX_LIMIT_TIMEOUT] = "sbxrun, of all processes",
	[SBX_LIMIT_OUTPUT] = "sbxrun, of each stream",
};

const char *
plan_limit_enforcer(const struct plan *plan, uint16_t kind)
{
	if (plan->held >> kind & 1)
		return "cgroup, of all processes";
	if (kind == SBX_LIMIT_PROCESSES && plan->pid_max)
		return pid_max_is_exact() ?
		    "pid_max, of the sandbox" :
		    "pid_max, of the sandbox, and up to 299 more";
	if (kind == SBX_LIMIT_PROCESSES && !machine_counts_processes())
		return "NOT ENFORCED for root";
	if (kind == SBX_LIMIT_PROCESSES && plan->level == SBX_LEVEL_FULL &&
	    geteuid() != 0)
		return "rlimit of the sandbox";
	return limit_enforcers[kind];
}
