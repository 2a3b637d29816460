/*
 * sbxrun: applies a compiled policy to itself and becomes the command.
 *
 * One straight line, in the order that the kernel wants: what has to be opened
 * is opened first, then rights go away, files before system calls, and nothing
 * comes after the filter but execve(2).  Every step that fails ends the
 * program with status 125 before the command was started; there is no
 * continuing without.  No heap, no stdio, no threads: all state is one static
 * object whose pages cost nothing until they are touched.
 */
#include "format/select.h"
#include "runtime/apply/confine.h"
#include "runtime/apply/execute.h"
#include "runtime/apply/lower.h"
#include "runtime/apply/namespaces.h"
#include "runtime/apply/view.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"
#include "runtime/base/sha256.h"
#include "runtime/inspect/clean.h"
#include "runtime/inspect/plan.h"
#include "runtime/inspect/self_test.h"
#include "runtime/start/load.h"
#include "runtime/start/status.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/supervise.h"

#include <errno.h>
#include <unistd.h>

/* In the order in which it is used, so that few pages are touched. */
struct sandbox {
	struct receipt receipt;
	struct options options;
	struct sbx_blob blob;
	struct machine machine;
	enum sbx_level level;
	struct supervision supervision;
	const char *why_not_full, *why_not_loopback;
	bool loopback;   /* there is a network of its own */
	bool own_policy; /* it lies where the sandbox may write */
	struct view_report shown;
	int ruleset;
	const struct sbx_landlock *row;
	const struct sbx_program *program;
	struct environment environment;
	struct lowering lowering;
	struct binding binding;
	struct self_test self_test;
	struct policy_file loaded;
};

static bool
allows_everything(const struct sandbox *sandbox)
{
	return (sandbox->blob.meta->flags & SBX_EVERYTHING) != 0;
}

/*
 * The level is the machine's best or the one asked for; the policy's floor
 * holds in any case.  Only a policy that states none may be run under the
 * built-in floor, and only if a person typed --accept none.
 */
static void
choose_level(struct sandbox *sandbox)
{
	const struct options *options = &sandbox->options;
	const struct sbx_meta *meta = sandbox->blob.meta;
	enum sbx_level best = machine_level(&sandbox->machine);
	enum sbx_level floor = meta->level;

	/* A view of everything would show no less. */
	if (allows_everything(sandbox) && best > SBX_LEVEL_STANDARD)
		best = SBX_LEVEL_STANDARD;
	sandbox->level = best;
	if (options->level >= 0)
		sandbox->level = (enum sbx_level)options->level;
	if (sandbox->level > best)
		refuse(level_name(sandbox->level),
		    "this machine does not "
		    "give that level; see sbxrun --status",
		    0);
	if (options->accept_none && meta->level_source == SBX_NO_SOURCE)
		floor = SBX_LEVEL_NONE;
	if (sandbox->level < floor) {
		if (meta->level_source != SBX_NO_SOURCE)
			refuse_at(&sandbox->blob, meta->level_source,
			    "the policy requires a higher level than this run "
			    "has; see sbxrun --status",
			    0);
		refuse(NULL,
		    "the kernel offers no protection here (see sbxrun "
		    "--status); --accept none runs without",
		    0);
	}
	if (sandbox->machine.landlock_abi < meta->landlock ||
	    (meta->landlock > 0 && sandbox->level < SBX_LEVEL_STANDARD))
		refuse_at(&sandbox->blob, meta->landlock_source,
		    "the policy requires a newer Landlock than this run has; "
		    "see sbxrun --status",
		    0);
}

/*
 * Abstract sockets are kept inside by Landlock from ABI 6 on; before, a network
 * of its own does it, where the filter lets AF_UNIX open.
 */
static enum own_network
wanted_network(const struct sandbox *sandbox)
{
	const struct sbx_meta *meta = sandbox->blob.meta;

	if (meta->net == SBX_NET_LOOPBACK)
		return NETWORK_LOOPBACK;
	if (sandbox->machine.landlock_abi < 6 && meta->net == SBX_NET_NONE &&
	    (meta->flags & SBX_ABSTRACT_ANYWHERE) == 0)
		return NETWORK_EMPTY;
	return NETWORK_OUTER;
}

/*
 * Without the network of its own a policy's sockets stay shut, so there is
 * less than it allows and no less protection: level full without it will do,
 * unless somebody insists on the level.
 */
static pid_t
fork_without_loopback(struct sandbox *sandbox, bool insists)
{
	pid_t first;

	sandbox->why_not_loopback = sandbox->why_not_full;
	if (insists)
		return -1;
	first = namespaces_fork(NETWORK_OUTER, &sandbox->why_not_full);
	if (first >= 0)
		sandbox->why_not_full = NULL;
	return first;
}

/*
 * Where the machine does not give namespaces after all, the level is standard,
 * unless somebody insists.
 */
static pid_t
fork_into_namespaces(struct sandbox *sandbox)
{
	enum own_network network = wanted_network(sandbox);
	bool insists = sandbox->options.level == SBX_LEVEL_FULL ||
	    sandbox->blob.meta->level == SBX_LEVEL_FULL;
	pid_t first = namespaces_fork(network, &sandbox->why_not_full);

	sandbox->loopback = first >= 0 && network == NETWORK_LOOPBACK;
	if (first < 0 && network == NETWORK_LOOPBACK)
		first = fork_without_loopback(sandbox, insists);
	sandbox->supervision.namespaces = first >= 0;
	if (first >= 0)
		return first;
	if (sandbox->options.level == SBX_LEVEL_FULL)
		refuse("level full", sandbox->why_not_full, 0);
	if (sandbox->blob.meta->level == SBX_LEVEL_FULL)
		refuse_at(&sandbox->blob, sandbox->blob.meta->level_source,
		    sandbox->why_not_full, 0);
	sandbox->level = SBX_LEVEL_STANDARD;
	return -1;
}

/* Its place, which both processes have to know. */
static void
find_group(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;

	cgroup_find(&supervision->group,
	    cgroup_wanted(&sandbox->blob, sandbox->level), supervision->begin);
}

static pid_t
fork_below_full(struct sandbox *sandbox)
{
	pid_t first;

	find_group(sandbox);
	first = fork();
	if (first < 0)
		refuse(NULL, "cannot fork", errno);
	return first;
}

/*
 * From here on, where something has to be supervised, we are the first process
 * of the sandbox; else nothing has happened.
 */
static void
part(struct sandbox *sandbox)
{
	bool limited = supervise_plan(&sandbox->supervision, &sandbox->blob) ||
	    sandbox->self_test.outlives;
	bool needed = !sandbox->options.plan &&
	    (limited || sandbox->receipt.on);
	pid_t first = -1;

	cgroup_init(&sandbox->supervision.group);
	if (sandbox->self_test.outlives)
		supervise_briefly(&sandbox->supervision);
	if (sandbox->receipt.on)
		sandbox->supervision.receipt = &sandbox->receipt;

	if (!needed && sandbox->level < SBX_LEVEL_FULL) {
		if (limited)
			find_group(sandbox);
		return;
	}
	supervise_open(&sandbox->supervision);
	if (sandbox->level == SBX_LEVEL_FULL) {
		find_group(sandbox);
		first = fork_into_namespaces(sandbox);
	}
	if (first < 0 && !needed) {
		supervise_close(&sandbox->supervision);
		if (limited)
			find_group(sandbox);
		return;
	}
	if (first < 0)
		first = fork_below_full(sandbox);
	if (first > 0)
		supervise(&sandbox->supervision, first);
	sandbox->supervision.on = true;
}

/*
 * What the view cannot cover because it is not there yet: the command could
 * make it.  That matters where writing is denied and nothing else; a command
 * that reads what it has made itself learns nothing.
 */
static void
warn_of_absent(const struct sandbox *sandbox)
{
	const struct binding *binding = &sandbox->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect != SBX_DENY || (rule->rights & SBX_READ) ||
		    binding->sites[i].state != RULE_ABSENT)
			continue;
		warn_at(&sandbox->blob, rule->source,
		    "nothing is there yet, so the command may "
		    "make what this denies",
		    0);
	}
}

/* The warnings that a user must not miss. */
static void
warn_of_gaps(const struct sandbox *sandbox)
{
	const struct sbx_meta *meta = sandbox->blob.meta;

	if (allows_everything(sandbox))
		return;
	if (sandbox->level == SBX_LEVEL_NONE)
		warn_about("level none", "NOTHING is protected but by limits",
		    0);
	if (sandbox->level == SBX_LEVEL_MINIMAL)
		warn_about("level minimal",
		    "files are NOT protected, network "
		    "and other processes are",
		    0);
	if (sandbox->program != NULL && meta->net == SBX_NET_PORTS &&
	    (sandbox->program->flags & SBX_PROGRAM_TCP) == 0)
		warn_about("network",
		    "all TCP stays shut: opening single "
		    "ports needs Landlock ABI 4",
		    0);
	if (sandbox->level == SBX_LEVEL_FULL && meta->net == SBX_NET_LOOPBACK &&
	    !sandbox->loopback)
		warn_about("network loopback: all sockets stay shut",
		    sandbox->why_not_loopback, 0);
	if (sandbox->level == SBX_LEVEL_FULL)
		warn_of_absent(sandbox);
	else if (sandbox->own_policy)
		warn_about(sandbox->options.policy,
		    "the command may write "
		    "its own policy: keep it elsewhere",
		    0);
}

/*
 * What a run does to the policy's file, or to the way there, the next one would
 * obey.  No mount can keep a link; who names the digest need not care.
 */
static void
guard_policy(struct sandbox *sandbox)
{
	struct sbx_place policy = place_of(sandbox->loaded.path);
	const char *turn = sandbox->options.expect != NULL ?
	    NULL :
	    bind_hop(&sandbox->binding, sandbox->loaded.hops);

	if (turn != NULL)
		refuse(turn,
		    "the command may replace this link or directory, "
		    "by which the policy was named: give the path of the file "
		    "itself",
		    0);
	sandbox->own_policy = bind_is_writable(&sandbox->binding, policy);
	if (sandbox->own_policy && sandbox->level == SBX_LEVEL_FULL)
		bind_policy(&sandbox->binding, policy);
}

/* Everything that looks at the file system, before rights go. */
static void
prepare(struct sandbox *sandbox, char **environment)
{
	bool files = !allows_everything(sandbox) &&
	    sandbox->level >= SBX_LEVEL_STANDARD;

	bind_anchors(&sandbox->binding, &sandbox->blob, &sandbox->options);
	if (!allows_everything(sandbox) && (files || sandbox->options.plan))
		bind_rules(&sandbox->binding);
	if (files)
		guard_policy(sandbox);
	if (sandbox->level == SBX_LEVEL_FULL)
		view_build(&sandbox->binding, &sandbox->shown);
	confine_privileges(sandbox->level);
	environment_build(&sandbox->environment, &sandbox->binding,
	    environment);
	if (!allows_everything(sandbox) && sandbox->level > SBX_LEVEL_NONE)
		sandbox->program = program_for(&sandbox->blob,
		    &sandbox->machine, sandbox->level, sandbox->loopback);
	if (!files)
		return;
	sandbox->row = sbx_landlock_select(&sandbox->blob,
	    (uint32_t)sandbox->machine.landlock_abi);
	if (sandbox->row == NULL)
		refuse(NULL,
		    "the policy has no masks for this kernel's "
		    "Landlock",
		    0);
	sandbox->ruleset = confine_ruleset(sandbox->row, sandbox->loopback);
	sandbox->lowering.masked = sandbox->level == SBX_LEVEL_FULL;
	lower_paths(&sandbox->lowering, &sandbox->binding, sandbox->row,
	    sandbox->ruleset);
	lower_ports(&sandbox->blob, sandbox->row, sandbox->ruleset);
}

/* As late as it can be, since who kills both of us now leaves it behind. */
static void
make_group(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	uint32_t wanted = cgroup_wanted(&sandbox->blob, sandbox->level);

	if (!sandbox->options.plan) {
		supervise_group(supervision, &sandbox->blob, wanted);
		return;
	}
	cgroup_make(&supervision->group, &sandbox->blob, wanted);
	cgroup_remove(&supervision->group);
}

static void
prepare_receipt(struct receipt *receipt, const struct plan *plan)
{
	if (!receipt->on)
		return;
	receipt_begin(receipt, "start");
	plan_record(&receipt->json, plan);
	if (!receipt_end(receipt))
		refuse(NULL, "the receipt has no room for this policy", 0);
}

static void
describe(struct sandbox *sandbox)
{
	char digest[SHA256_HEX + 1] = "";
	struct plan plan = {
		.policy = sandbox->options.policy,
		.blob = &sandbox->blob,
		.machine = &sandbox->machine,
		.level = sandbox->level,
		.row = sandbox->row,
		.program = sandbox->program,
		.binding = &sandbox->binding,
		.lowering = &sandbox->lowering,
		.environment = &sandbox->environment,
		.digest = digest,
		.shown = &sandbox->shown,
		.why_not_full = sandbox->why_not_full,
		.held = sandbox->supervision.group.held,
	};

	if (sandbox->options.plan || sandbox->receipt.on)
		sha256_hex(sandbox->loaded.bytes, sandbox->loaded.size, digest);
	prepare_receipt(&sandbox->receipt, &plan);
	if (sandbox->options.plan && sandbox->options.json)
		plan_print_json(&plan);
	else if (sandbox->options.plan)
		plan_print(&plan);
	else if (sandbox->options.verbose)
		plan_summary(&plan);
	if (sandbox->options.plan)
		_exit(0);
}

static void
confine(const struct sandbox *sandbox)
{
	confine_resources(&sandbox->blob, sandbox->level,
	    sandbox->supervision.group.held);
	if (sandbox->row != NULL)
		confine_landlock(sandbox->row, sandbox->ruleset);
	if (sandbox->program != NULL)
		confine_syscalls(&sandbox->blob, sandbox->program);
}

__attribute__((noreturn)) static void
test_it(const struct sandbox *sandbox)
{
	struct probe_context context = {
		.test = &sandbox->self_test,
		.blob = &sandbox->blob,
		.binding = &sandbox->binding,
		.level = sandbox->level,
	};

	if (sandbox->self_test.outlives)
		probe_outlive();
	probes_run(&context);
}

int
main(int argc, char **argv, char **environment)
{
	static struct sandbox sandbox;

	(void)argc;
	options_parse(&sandbox.options, argv);
	if (sandbox.options.status)
		status_print(sandbox.options.json);
	if (sandbox.options.clean)
		clean_scratch(&sandbox.binding.arena,
		    sandbox.options.workspace);
	/* First, for the policy may be one of the caller's descriptors. */
	load_policy(sandbox.options.policy, sandbox.options.expect,
	    &sandbox.loaded, &sandbox.blob);
	confine_descriptors(&sandbox.options.status_fd);
	receipt_open(&sandbox.receipt, sandbox.options.status_fd,
	    sandbox.options.log);
	if (sandbox.options.self_test)
		self_test_begin(&sandbox.self_test, &sandbox.options,
		    environment);
	sandbox.receipt.on &= !sandbox.self_test.outlives;
	machine_probe(&sandbox.machine);
	if (allows_everything(&sandbox) && !sandbox.options.allow_full_access)
		refuse(sandbox.options.policy,
		    "this policy allows everything: "
		    "--allow-full-access runs it",
		    0);
	choose_level(&sandbox);
	part(&sandbox);
	prepare(&sandbox, environment);
	warn_of_gaps(&sandbox);
	make_group(&sandbox);
	describe(&sandbox);
	if (sandbox.supervision.on)
		supervise_first(&sandbox.supervision);
	confine(&sandbox);
	if (sandbox.supervision.on)
		supervise_started(&sandbox.supervision);
	if (sandbox.options.self_test)
		test_it(&sandbox);
	execute(sandbox.options.command, &sandbox.environment);
}
