#include "runtime/inspect/plan.h"

#include "runtime/base/out.h"

#include <string.h>
#include <unistd.h>

static const char *const net_names[SBX_NET_END] = {
	[SBX_NET_NONE] = "none",
	[SBX_NET_PORTS] = "some TCP ports",
	[SBX_NET_FULL] = "full",
	[SBX_NET_LOOPBACK] = "loopback",
};

static const char *const effect_names[SBX_EFFECT_END] = {
	[SBX_ALLOW] = "allow",
	[SBX_DENY] = "deny",
	[SBX_PREFER_DENY] = "prefer deny",
};

bool
plan_allows_everything(const struct plan *plan)
{
	return (plan->blob->meta->flags & SBX_EVERYTHING) != 0;
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

static void
show_string(struct out *out, const struct plan *plan, uint32_t offset)
{
	const char *text = sbx_string(plan->blob, offset);

	out_shown(out, text, strlen(text));
}

static void
print_source(struct out *out, const struct plan *plan, uint32_t source)
{
	out_text(out, "  [");
	out_source(out, plan->blob, source);
	out_text(out, "]\n");
}

static void
print_anchors(struct out *out, const struct plan *plan)
{
	static const char blanks[] = "            ";
	const struct sbx_blob *blob = plan->blob;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *name;
		size_t len;

		if (!plan->binding->bound[i])
			continue;
		name = sbx_string(blob, blob->anchors[i].name);
		len = strlen(name);
		out_shown(out, name, len);
		out_bytes(out, blanks, len < 12 ? 12 - len : 0);
		out_place(out, plan->binding->anchors[i]);
		if (i == SBX_ANCHOR_TMP && plan->binding->scratch_missing)
			out_text(out, "  (made at the first run)");
		out_text(out, "\n");
	}
}

static void
print_grants(struct out *out, const struct outcome *outcome)
{
	if (outcome->covered) {
		out_text(out, "landlock: covered by a wider rule");
	} else if (outcome->split) {
		out_text(out, "landlock: split, ");
		out_number(out, outcome->grants);
		out_text(out, " rules; entries made later are not granted");
	} else if (outcome->grants == 0) {
		out_text(out, "nothing: a denial covers it");
	} else {
		out_text(out, "landlock");
	}
}

static void
print_allow(struct out *out, const struct plan *plan, uint32_t index)
{
	int error = plan->binding->sites[index].error;

	switch (outcome_state(plan->binding, plan->outcomes, index)) {
	case RULE_READY:
		if (plan->row == NULL)
			out_text(out, "NOT RESTRICTED at this level");
		else
			print_grants(out, &plan->outcomes[index]);
		break;
	case RULE_ABSENT:
		out_text(out, "skipped: ");
		out_text(out,
		    strerror(error != 0 ? error : plan->outcomes[index].error));
		break;
	case RULE_PLANTED:
		out_text(out,
		    "skipped: a link that the sandbox may write "
		    "leads there");
		break;
	case RULE_UNBOUND:
		out_text(out, "skipped: its anchor has no path here");
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

/* A deny is enforced by what is not granted: alone where no allow covers it,
 * by splitting the allows that do. */
static void
print_deny(struct out *out, const struct plan *plan, uint32_t index)
{
	const struct sbx_rule *deny = &plan->binding->rules[index];

	if (plan->row == NULL) {
		out_text(out, "NOT ENFORCED at this level");
		return;
	}
	if (plan->outcomes[index].absent) {
		out_text(out, "NOT COVERED: nothing is there to mask");
		return;
	}
	if (!is_inside(plan, deny))
		out_text(out, "landlock: not granted");
	else if (plan->level == SBX_LEVEL_FULL)
		out_text(out,
		    deny->rights & SBX_READ      ? "view: masked" :
			deny->rights & SBX_WRITE ? "view: read-only" :
						   "view: not executable");
	else
		out_text(out, "landlock: split, nothing can be made beside it");
}

void
plan_words(struct out *out, const struct sbx_path *path)
{
	out_text(out, effect_names[path->effect]);
	out_text(out, " ");
	out_text(out, right_name(path->effect, path->rights));
}

void
plan_enforcer(struct out *out, const struct plan *plan, uint32_t index)
{
	if (plan->binding->sites[index].path->effect == SBX_ALLOW)
		print_allow(out, plan, index);
	else
		print_deny(out, plan, index);
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

	if (outcome_state(binding, plan->outcomes, index) != RULE_READY)
		return gives ? PLAN_SKIPPED : PLAN_UNCOVERED;
	return plan->row != NULL && plain ? PLAN_PLAIN : PLAN_OTHER;
}

/* A network of its own is wanted and not there. */
static bool
is_shut(const struct plan *plan)
{
	return plan->blob->meta->net == SBX_NET_LOOPBACK &&
	    plan->program != NULL &&
	    (plan->program->flags & SBX_PROGRAM_LOOPBACK) == 0;
}

const char *
plan_network(const struct plan *plan)
{
	if (is_shut(plan))
		return "none: loopback needs level full";
	return net_names[plan->blob->meta->net];
}

static void
print_rules(struct out *out, const struct plan *plan)
{
	const struct binding *binding = plan->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct site *site = &binding->sites[i];

		plan_words(out, site->path);
		out_text(out, " ");
		if (site->state == RULE_UNBOUND)
			show_string(out, plan, site->path->suffix);
		else
			out_place(out, binding->rules[i].at);
		for (uint16_t j = 0; j < binding->rules[i].exclusion_count;
		     j++) {
			out_text(out, " except ");
			out_place(out, binding->rules[i].exclusions[j]);
		}
		out_text(out, "  -- ");
		plan_enforcer(out, plan, i);
		print_source(out, plan, site->path->source);
	}
}

void
plan_glob_enforcer(struct out *out, const struct plan *plan,
    const struct glob *glob)
{
	if (glob->unbound) {
		out_text(out, "skipped: its anchor has no path here");
		return;
	}
	if (plan->row == NULL) {
		out_text(out,
		    glob->path->effect == SBX_ALLOW ?
			"NOT RESTRICTED at this level" :
			"NOT ENFORCED at this level");
		return;
	}
	out_text(out, "snapshot: ");
	out_number(out, glob->matches);
	out_text(out, glob->matches == 1 ? " match now" : " matches now");
	out_text(out, ", later ones are not covered");
	if (glob->closed > 0) {
		out_text(out, "; directories that cannot be read: ");
		out_number(out, glob->closed);
	}
	if (glob->fault != NULL) {
		out_text(out, "; NOT ENFORCED beyond: ");
		out_text(out, glob->fault);
	}
}

/* What matches is among the rules, place by place. */
static void
print_globs(struct out *out, const struct plan *plan)
{
	const struct binding *binding = plan->binding;

	for (uint32_t i = 0; i < binding->glob_count; i++) {
		const struct glob *glob = &binding->globs[i];
		const struct sbx_path *path = glob->path;

		plan_words(out, path);
		out_text(out, " glob ");
		if (glob->unbound)
			show_string(out, plan, path->suffix);
		else
			out_shown(out, glob->at.path, glob->at.len);
		show_string(out, plan, path->glob);
		out_text(out, "  -- ");
		plan_glob_enforcer(out, plan, glob);
		print_source(out, plan, path->source);
	}
}

const char *
plan_network_enforcer(const struct plan *plan)
{
	enum sbx_net net = plan->blob->meta->net;

	if (plan->program == NULL)
		return "NOT RESTRICTED at this level";
	if (net == SBX_NET_PORTS)
		return plan->program->flags & SBX_PROGRAM_TCP ?
		    "seccomp and landlock" :
		    "all TCP stays shut: ports need Landlock ABI 4";
	if (net == SBX_NET_LOOPBACK)
		return is_shut(plan) ?
		    "all sockets stay shut: it takes a network namespace, "
		    "at level full" :
		    "seccomp and a network namespace";
	return "seccomp";
}

void
plan_port_words(struct out *out, const struct sbx_port *port)
{
	out_text(out, effect_names[port->effect]);
	out_text(out,
	    port->op == SBX_CONNECT_TCP ? " network connect tcp" :
					  " network listen tcp");
}

static void
print_network(struct out *out, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	out_text(out, "network ");
	out_text(out, net_names[blob->meta->net]);
	out_text(out, "  -- ");
	out_text(out, plan_network_enforcer(plan));
	print_source(out, plan, blob->meta->net_source);
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *port = &blob->ports[i];

		if ((port->platforms & KERNEL_WHERE) == 0)
			continue;
		plan_port_words(out, port);
		out_text(out, " ");
		out_number(out, port->low);
		if (port->high != port->low) {
			out_text(out, "-");
			out_number(out, port->high);
		}
		print_source(out, plan, port->source);
	}
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
	return plan->row != NULL && (plan->row->scoped & scope->bit) ?
	    "landlock" :
	    "NOT ENFORCED: needs Landlock ABI 6";
}

static void
print_scopes(struct out *out, const struct plan *plan)
{
	for (int i = 0; i < PLAN_SCOPES; i++) {
		const char *by = plan_scope_enforcer(plan, &plan_scopes[i]);

		out_text(out, plan_scopes[i].name);
		out_text(out, by == NULL ? " anywhere" : " inside only  -- ");
		out_text(out, by == NULL ? "" : by);
		out_text(out, "\n");
	}
}

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

static void
print_system_calls(struct out *out, const struct plan *plan)
{
	out_text(out, "syscalls ");
	out_number(out, plan_count_calls(plan, SBX_SYSCALL_DENY));
	out_text(out, " denied, ");
	out_number(out, plan_count_calls(plan, SBX_SYSCALL_ARGS));
	out_text(out, " decided by arguments");
	if (plan->program == NULL) {
		out_text(out, "  -- NOT ENFORCED at this level\n");
		return;
	}
	out_text(out, "  -- seccomp, ");
	out_number(out, plan->program->count);
	out_text(out, " instructions\n");
}

const char *
plan_limit(uint16_t kind)
{
	static const char *const names[SBX_LIMIT_END] = {
		[SBX_LIMIT_FILE_SIZE] = "file-size",
		[SBX_LIMIT_PROCESSES] = "processes",
		[SBX_LIMIT_OPEN_FILES] = "open-files",
		[SBX_LIMIT_CPU_TIME] = "cpu-time",
		[SBX_LIMIT_MEMORY] = "memory",
		[SBX_LIMIT_CORE] = "core",
		[SBX_LIMIT_STACK] = "stack",
		[SBX_LIMIT_TIMEOUT] = "timeout",
		[SBX_LIMIT_OUTPUT] = "output",
	};

	return names[kind];
}

const char *
plan_limit_enforcer(const struct plan *plan, uint16_t kind)
{
	static const char *const enforcers[SBX_LIMIT_END] = {
		[SBX_LIMIT_FILE_SIZE] = "rlimit",
		[SBX_LIMIT_PROCESSES] = "rlimit, beside all tasks that run now",
		[SBX_LIMIT_OPEN_FILES] = "rlimit",
		[SBX_LIMIT_CPU_TIME] = "rlimit, of each process",
		[SBX_LIMIT_MEMORY] = "rlimit, of each process",
		[SBX_LIMIT_CORE] = "rlimit",
		[SBX_LIMIT_STACK] = "rlimit",
		[SBX_LIMIT_TIMEOUT] = "sbxrun, of all processes",
		[SBX_LIMIT_OUTPUT] = "sbxrun, of each stream",
	};

	if (plan->held >> kind & 1)
		return "cgroup, of all processes";
	if (kind == SBX_LIMIT_PROCESSES && geteuid() == 0)
		return "NOT ENFORCED for root";
	if (kind == SBX_LIMIT_PROCESSES && plan->level == SBX_LEVEL_FULL)
		return "rlimit, of the sandbox";
	return enforcers[kind];
}

static void
print_limits(struct out *out, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->blob->limit_count; i++) {
		const struct sbx_limit *limit = &plan->blob->limits[i];

		if ((limit->platforms & KERNEL_WHERE) == 0)
			continue;
		out_text(out, "limit ");
		out_text(out, plan_limit(limit->kind));
		out_text(out, " ");
		out_number(out, limit->value);
		out_text(out, "  -- ");
		out_text(out, plan_limit_enforcer(plan, limit->kind));
		print_source(out, plan, limit->source);
	}
}

static void
print_environment(struct out *out, const struct plan *plan)
{
	const struct environment *environment = plan->environment;

	out_text(out, "env ");
	out_number(out, environment->count);
	out_text(out, " variables handed on, ");
	out_number(out, environment->dropped);
	out_text(out, " kept back\n");
	for (uint32_t i = 0; i < plan->blob->set_count; i++) {
		const char *name = sbx_string(plan->blob,
		    plan->blob->set[i].name);
		const char *value = environment_get(environment, name);

		if (value == NULL)
			continue;
		out_text(out, "set env ");
		out_shown(out, name, strlen(name));
		out_text(out, " = ");
		out_shown(out, value, strlen(value));
		print_source(out, plan, plan->blob->set[i].source);
	}
}

void
plan_print(const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;
	struct out out;

	out_init(&out, STDOUT_FILENO);
	out_column(&out, "policy", 12);
	show_string(&out, plan, blob->meta->profile);
	out_text(&out, "  sha256:");
	out_text(&out, plan->digest);
	out_text(&out, "\n");
	out_column(&out, "level", 12);
	out_text(&out,
	    plan_allows_everything(plan) ? "none: everything is allowed" :
					   level_name(plan->level));
	if (plan->row != NULL) {
		out_text(&out, "  (Landlock ABI ");
		out_number(&out, (uint64_t)plan->machine->landlock_abi);
		out_text(&out, ")");
	}
	out_text(&out, "\n");
	print_anchors(&out, plan);
	if (!plan_allows_everything(plan)) {
		print_rules(&out, plan);
		print_globs(&out, plan);
		print_network(&out, plan);
		print_scopes(&out, plan);
		print_system_calls(&out, plan);
	}
	print_limits(&out, plan);
	print_environment(&out, plan);
	out_flush(&out);
}

/* What two limits mean depends on the machine. */
static void
say_limits(struct out *out, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->blob->limit_count; i++) {
		const struct sbx_limit *limit = &plan->blob->limits[i];

		if ((limit->platforms & KERNEL_WHERE) == 0 ||
		    (limit->kind != SBX_LIMIT_PROCESSES &&
			limit->kind != SBX_LIMIT_MEMORY))
			continue;
		out_text(out, ", ");
		out_text(out, plan_limit(limit->kind));
		out_text(out, " by ");
		out_text(out, plan_limit_enforcer(plan, limit->kind));
	}
}

void
plan_summary(const struct plan *plan)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out, "sbxrun: ");
	show_string(&out, plan, plan->blob->meta->profile);
	if (plan_allows_everything(plan)) {
		out_text(&out, ": everything is allowed");
	} else {
		out_text(&out, ": level ");
		out_text(&out, level_name(plan->level));
		if (plan->row != NULL) {
			out_text(&out, " (Landlock ABI ");
			out_number(&out, (uint64_t)plan->machine->landlock_abi);
			out_text(&out, ")");
		}
		out_text(&out, ", network ");
		out_text(&out, plan_network(plan));
	}
	say_limits(&out, plan);
	out_text(&out, ", workspace ");
	out_place(&out, plan->binding->anchors[SBX_ANCHOR_WORKSPACE]);
	out_text(&out, "\n");
	out_flush(&out);
}
