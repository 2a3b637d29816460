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
#include "runtime/apply/mount_tree.h"
#include "runtime/apply/namespaces.h"
#include "runtime/apply/pid_max.h"
#include "runtime/apply/streams.h"
#include "runtime/base/out.h"
#include "runtime/base/path.h"
#include "runtime/bind/scratch.h"
#include "runtime/inspect/clean.h"
#include "runtime/inspect/plan.h"
#include "runtime/inspect/self_test.h"
#include "runtime/inspect/status.h"
#include "runtime/start/level.h"
#include "runtime/start/load.h"
#include "runtime/start/view_listener.h"
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
	struct plan plan; /* what was decided: the level and all the rest */
	struct supervision supervision;
	struct sbx_limit limits[SBX_LIMIT_END];
	struct owners owners;
	const struct binding *anchored; /* the anchors alone */
	char scratch[SCRATCH_KEY_SIZE];
	int ruleset;       /* of Landlock, from level standard on */
	unsigned reopened; /* of the caller's streams, see apply/streams.h */
	int pid_max;       /* where root's processes are limited, or -1 */
	struct environment environment;
	struct arena arena;
	struct self_test self_test;
	struct policy_file loaded;
};

/* Whether the policy restricts files, and the level can do it. */
static bool
restricts_files(const struct sandbox *sandbox)
{
	return !plan_allows_everything(&sandbox->plan) &&
	    sandbox->plan.level >= SBX_LEVEL_STANDARD;
}

static void
begin_plan(struct sandbox *sandbox)
{
	sandbox->plan = (struct plan){
		.policy = sandbox->options.policy,
		.blob = &sandbox->blob,
		.machine = &sandbox->machine,
		.level = level_choose(&sandbox->options, &sandbox->blob,
		    &sandbox->machine),
		.environment = &sandbox->environment,
		.chosen = sandbox->options.limits,
	};
	if (sandbox->options.plan || sandbox->receipt.on)
		sha256_hex(sandbox->loaded.bytes, sandbox->loaded.size,
		    sandbox->plan.digest);
}

/* --- binding -------------------------------------------------------------- */

/* A policy that comes through a pipe has no place: it is its own origin. */
static void
name_scratch(struct sandbox *sandbox)
{
	const struct policy_file *loaded = &sandbox->loaded;
	char digest[SHA256_HEX + 1];
	const char *origin = loaded->path;

	if (origin[0] == '\0') {
		sha256_hex(loaded->bytes, loaded->size, digest);
		origin = digest;
	}
	scratch_key(sandbox->scratch,
	    sbx_string(&sandbox->blob, sandbox->blob.meta->profile), origin);
	sandbox->self_test.scratch = sandbox->scratch;
}

/* Once, by the process that becomes the supervisor: it is outside of all
 * namespaces, where owners can be told apart. */
static void
find_anchors(struct sandbox *sandbox)
{
	sandbox->anchored = bind_policy(&sandbox->arena,
	    &(struct bind_request){
		.blob = &sandbox->blob,
		.options = &sandbox->options,
		.hops = "",
		.log = sandbox->receipt.way,
		.owners = sandbox->owners,
		.scratch = sandbox->scratch,
	    });
}

static void
bind(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	bool described = !plan_allows_everything(plan) && sandbox->options.plan;
	bool restricted = restricts_files(sandbox);
	/* --expect makes the way to the policy unimportant. */
	bool way = restricted && sandbox->options.expect == NULL;

	plan->binding = bind_policy(&sandbox->arena,
	    &(struct bind_request){
		.blob = &sandbox->blob,
		.options = &sandbox->options,
		.rules = restricted || described,
		.anchored = sandbox->anchored,
		.policy = place_of(restricted ? sandbox->loaded.path : ""),
		.level = plan->level,
		.guarded = plan->level == SBX_LEVEL_FULL,
		.hops = way ? sandbox->loaded.hops : "",
		.owners = sandbox->owners,
	    });
	owners_close(&sandbox->owners);
	plan->outcomes = arena_take(&sandbox->arena, plan->binding->rule_count,
	    sizeof *plan->outcomes);
}

/* --- the supervisor ------------------------------------------------------- */

/*
 * In the network of the host, /proc/net and route netlink show its interfaces,
 * addresses and sockets, though nothing can be connected to.  So only a policy
 * that allows something there stays in it: ports, or abstract sockets.
 */
static enum own_network
wanted_network(const struct sbx_meta *meta)
{
	if (meta->net == SBX_NET_LOOPBACK)
		return NETWORK_LOOPBACK;
	if (meta->net == SBX_NET_NONE &&
	    (meta->flags & SBX_ABSTRACT_ANYWHERE) == 0)
		return NETWORK_EMPTY;
	return NETWORK_OUTER;
}

/*
 * Whether level full protects more than standard without a network of its own.
 * Before Landlock ABI 6 only that keeps abstract sockets inside, and the filter
 * of a policy without a network relies on it.
 */
static bool
goes_without(const struct sandbox *sandbox)
{
	return sandbox->machine.landlock_abi >= 6 ||
	    sandbox->blob.meta->net != SBX_NET_NONE;
}

/* A machine may give namespaces, but none for the network, or none with lo.
 * Level full goes on without, and says so, unless somebody insists on it. */
static pid_t
fork_with_network(struct sandbox *sandbox, bool insists)
{
	struct plan *plan = &sandbox->plan;
	pid_t first;

	plan->network = wanted_network(sandbox->blob.meta);
	first = namespaces_fork(plan->network, &plan->why_not_full);
	plan->why_no_network = first < 0 ? plan->why_not_full : NULL;
	while (first < 0 && plan->network != NETWORK_OUTER && !insists &&
	    goes_without(sandbox)) {
		plan->network--;
		first = namespaces_fork(plan->network, &plan->why_not_full);
	}
	if (first < 0)
		plan->network = NETWORK_OUTER;
	return first;
}

/* The place of the control group, which both processes have to know. */
static void
find_group(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;

	cgroup_find(&supervision->group,
	    cgroup_wanted(&sandbox->blob, sandbox->plan.level),
	    supervision->begin);
}

/* An ordinary user's processes are counted by the user namespace. */
static bool
wants_pid_max(const struct sandbox *sandbox)
{
	return geteuid() == 0 &&
	    limit_find(&sandbox->blob, SBX_LIMIT_PROCESSES) != NULL;
}

/* Before the namespaces are made, and in both processes afterwards. */
static void
find_pid_max(struct sandbox *sandbox, pid_t first)
{
	if (first == 0) {
		sandbox->pid_max = pid_max_open_own(sandbox->pid_max);
		return;
	}
	if (sandbox->pid_max >= 0)
		close(sandbox->pid_max);
	sandbox->pid_max = -1;
}

/*
 * Where the machine turns out not to give namespaces, the level is standard,
 * unless somebody insists on full.
 */
static pid_t
fork_at_full(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	const struct sbx_meta *meta = sandbox->blob.meta;
	bool asked = sandbox->options.level == SBX_LEVEL_FULL;
	bool required = meta->level == SBX_LEVEL_FULL;
	pid_t first;

	find_group(sandbox);
	sandbox->pid_max = wants_pid_max(sandbox) ? pid_max_open() : -1;
	owners_open(&sandbox->owners);
	first = fork_with_network(sandbox, asked || required);
	if (first < 0)
		owners_close(&sandbox->owners);
	else if (first == 0)
		owners_use(&sandbox->owners);
	else
		owners_serve(&sandbox->owners);
	find_pid_max(sandbox, first);
	sandbox->supervision.namespaces = first >= 0;
	if (first >= 0) {
		plan->why_not_full = NULL;
		return first;
	}
	if (asked)
		refuse("level full", plan->why_not_full, 0);
	if (required)
		refuse_at(&sandbox->blob, meta->level_source,
		    plan->why_not_full, 0);
	plan->level = SBX_LEVEL_STANDARD;
	return -1;
}

/*
 * At level standard, if the policy has a filter whose calls the supervisor
 * answers, and it can.  What it judges by is bound before it forks: neither the
 * command nor what the command does to the files changes that.
 */
static void
prepare_listener(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	struct listening *listening = &sandbox->supervision.listening;
	const struct sbx_program *program;

	if (!restricts_files(sandbox))
		return;
	program = program_for(&sandbox->blob, &sandbox->machine,
	    (struct sbx_circumstances){
		.level = plan->level,
		.listener = true,
	    });
	if ((program->flags & SBX_PROGRAM_LISTENER) == 0)
		return;
	plan->why_no_listener = listen_obstacle();
	if (plan->why_no_listener != NULL)
		return;
	bind(sandbox);
	listen_open(listening);
	listening->binding = plan->binding;
	listening->objects = objects_open();
}

/* Below level full.  Where nobody supervises there is no group either: nobody
 * would enter it, nor remove it. */
static pid_t
fork_below_full(struct sandbox *sandbox, bool supervised)
{
	pid_t first = -1;

	if (!supervised) {
		cgroup_forget(&sandbox->supervision.group);
		return -1;
	}
	find_group(sandbox);
	if (sandbox->options.plan)
		return -1;
	first = fork();
	if (first < 0)
		refuse(NULL, "cannot fork", errno);
	return first;
}

/*
 * At level full, and where something has to be supervised: from here on we are
 * the first process of the sandbox, and our parent is the supervisor.
 */
static void
fork_supervisor(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	bool full = sandbox->plan.level == SBX_LEVEL_FULL;
	bool supervised, opened;
	pid_t first = -1;

	supervise_limits(supervision, &sandbox->blob);
	if (sandbox->self_test.outlives)
		supervise_briefly(supervision);
	if (sandbox->receipt.on)
		supervision->receipt = &sandbox->receipt;
	/* Before anything runs that could change what is watched. */
	if (!sandbox->options.plan && !sandbox->options.self_test)
		supervision->tripwire = tripwire_set(&sandbox->arena,
		    sandbox->anchored);
	supervised = supervision->timeout > 0 || supervision->output > 0 ||
	    supervision->tripwire != NULL || sandbox->receipt.on;
	opened = full || (supervised && !sandbox->options.plan);
	if (opened)
		supervise_open(supervision);
	if (full) {
		view_listener_prepare(&supervision->listening, &sandbox->blob,
		    &sandbox->machine);
		first = fork_at_full(sandbox);
		view_listener_settle(&supervision->listening, &sandbox->plan);
	}
	if (first < 0) {
		prepare_listener(sandbox);
		supervised |= supervision->listening.on;
		if (supervised && !opened && !sandbox->options.plan) {
			supervise_open(supervision);
			opened = true;
		}
		first = fork_below_full(sandbox, supervised);
	}
	if (first > 0)
		supervise(supervision, first);
	if (first < 0 && opened)
		supervise_close(supervision);
	supervision->on = first == 0;
}

/* --- the file system ------------------------------------------------------ */

static void
choose_filter(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;

	if (!plan_allows_everything(plan) && plan->level > SBX_LEVEL_NONE)
		plan->program = program_for(&sandbox->blob, &sandbox->machine,
		    (struct sbx_circumstances){
			.level = plan->level,
			.loopback = plan->network == NETWORK_LOOPBACK,
			.listener = sandbox->supervision.listening.on,
		    });
}

static void
fill_ruleset(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;

	plan->row = sbx_landlock_select(&sandbox->blob,
	    (uint32_t)sandbox->machine.landlock_abi);
	if (plan->row == NULL)
		refuse(NULL,
		    "the policy has no masks for this kernel's Landlock", 0);
	sandbox->ruleset = confine_ruleset(plan->row,
	    plan->network == NETWORK_LOOPBACK, plan->row->scoped);
	lower_paths(&sandbox->arena,
	    &(struct lowering){
		.binding = plan->binding,
		.row = plan->row,
		.ruleset = sandbox->ruleset,
		.masked = plan->level == SBX_LEVEL_FULL,
		.outcomes = plan->outcomes,
	    });
	lower_ports(&sandbox->blob, plan->row, sandbox->ruleset);
	streams_allow(sandbox->reopened, sandbox->ruleset);
}

/*
 * Everything that looks at the file system; then no privilege is left.  The
 * ruleset of Landlock comes after that, because it needs none.
 */
static void
prepare(struct sandbox *sandbox, char **environment)
{
	struct plan *plan = &sandbox->plan;

	if (plan->binding == NULL)
		bind(sandbox);
	view_listener_choose(&sandbox->supervision.listening, plan->binding);
	if (plan->level == SBX_LEVEL_FULL) {
		sandbox->reopened = streams_reopen();
		sandbox->supervision.own_input = sandbox->reopened & 1;
		plan->binding = mount_tree_enter(&sandbox->arena, plan->binding,
		    plan->outcomes, &plan->hard_linked);
	}
	confine_privileges(plan->level);
	environment_build(&sandbox->environment, &sandbox->arena, plan->binding,
	    environment);
	choose_filter(sandbox);
	if (restricts_files(sandbox))
		fill_ruleset(sandbox);
}

/* If no group counts them.  Where the policy lets root write the number, the
 * command may raise it again. */
static void
set_pid_max(struct sandbox *sandbox)
{
	static const struct sbx_place place = { "/proc/sys/kernel/pid_max",
		sizeof "/proc/sys/kernel/pid_max" - 1 };
	struct plan *plan = &sandbox->plan;
	const struct sbx_limit *limit = limit_find(plan->blob,
	    SBX_LIMIT_PROCESSES);

	if (sandbox->pid_max < 0)
		return;
	if (plan->held >> SBX_LIMIT_PROCESSES & 1) {
		close(sandbox->pid_max);
		return;
	}
	pid_max_set(sandbox->pid_max, limit->value);
	plan->pid_max = !rule_index_allows(plan->binding->index, SBX_WRITE,
	    place);
}

/* As late as possible: if somebody kills both processes before its end, the
 * group is left behind. */
static void
make_group(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	uint32_t wanted = cgroup_wanted(&sandbox->blob, sandbox->plan.level);

	if (!sandbox->options.plan) {
		supervise_group(supervision, &sandbox->blob, wanted);
	} else {
		cgroup_make(&supervision->group, &sandbox->blob, wanted);
		cgroup_remove(&supervision->group);
	}
	sandbox->plan.held = supervision->group.held;
	set_pid_max(sandbox);
}

static void
prepare_receipt(struct receipt *receipt, const struct plan *plan)
{
	receipt_begin(receipt, "start");
	plan_record(&receipt->json, plan);
	if (!receipt_end(receipt))
		refuse(NULL, "the receipt has no room for this policy", 0);
}

static void
describe(struct sandbox *sandbox)
{
	const struct plan *plan = &sandbox->plan;

	if (sandbox->receipt.on)
		prepare_receipt(&sandbox->receipt, plan);
	if (sandbox->options.plan && sandbox->options.json)
		plan_print_json(plan);
	else if (sandbox->options.plan)
		plan_print(plan);
	else if (sandbox->options.verbose)
		plan_summary(plan);
	if (sandbox->options.plan)
		_exit(0);
}

/* --- the command ---------------------------------------------------------- */

static void
confine(const struct sandbox *sandbox)
{
	const struct plan *plan = &sandbox->plan;
	int listener = -1;
	uint32_t held = plan->held |
	    (uint32_t)plan->pid_max << SBX_LIMIT_PROCESSES;

	confine_resources(&sandbox->blob, plan->level, held,
	    sandbox->supervision.tasks);
	if (plan->row != NULL)
		confine_landlock(plan->row, sandbox->ruleset);
	if (plan->program != NULL)
		listener = confine_syscalls(&sandbox->blob, plan->program);
	if (listener >= 0)
		listen_send(&sandbox->supervision.listening, listener);
}

__attribute__((noreturn)) static void
test_it(const struct sandbox *sandbox)
{
	struct probe_context context = {
		.test = &sandbox->self_test,
		.blob = &sandbox->blob,
		.binding = sandbox->plan.binding,
		.level = sandbox->plan.level,
	};

	if (sandbox->self_test.outlives)
		probe_outlive();
	probes_run(&context);
}

int
main(int argc, char **argv, char **environment)
{
	static struct sandbox sandbox;
	struct options *options = &sandbox.options;

	(void)argc;
	sandbox.pid_max = -1;
	options_parse(options, argv);
	owners_none(&sandbox.owners);
	if (options->status)
		status_print(options->json);
	if (options->clean)
		clean_scratch(&sandbox.arena, options->workspace);
	/* First, for the policy may be one of the caller's descriptors. */
	load_policy(options->policy, options->expect, &sandbox.loaded,
	    &sandbox.blob);
	name_scratch(&sandbox);
	limits_apply(&sandbox.blob, options->limits, sandbox.limits);
	confine_descriptors(&options->status_fd);
	streams_check();
	receipt_open(&sandbox.receipt, &sandbox.arena, options->status_fd,
	    options->log);
	if (options->self_test)
		self_test_begin(&sandbox.self_test, options, environment);
	sandbox.receipt.on &= !sandbox.self_test.outlives;
	machine_probe(&sandbox.machine);
	begin_plan(&sandbox);
	find_anchors(&sandbox);
	fork_supervisor(&sandbox);
	prepare(&sandbox, environment);
	plan_warn(&sandbox.plan);
	make_group(&sandbox);
	describe(&sandbox);
	if (sandbox.supervision.on)
		supervise_first(&sandbox.supervision);
	confine(&sandbox);
	if (sandbox.supervision.on)
		supervise_started(&sandbox.supervision);
	if (options->self_test)
		test_it(&sandbox);
	execute(options->command, &sandbox.environment);
}
