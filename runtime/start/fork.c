/* How a sandbox gets its first process: see sandbox.c. */
#include "runtime/apply/apply.h"
#include "runtime/base/kernel.h"
#include "runtime/explain/explain.h"
#include "runtime/start/start.h"
#include "runtime/watch/receipt.h"

#include <errno.h>
#include <unistd.h>

/*
 * In the network of the host, /proc/net and route netlink show its interfaces,
 * addresses and sockets, though nothing can be connected to.  So only a policy
 * that allows something there stays in it: ports, or abstract sockets.
 */
static enum own_network
wanted_network(const struct sbx_meta *meta)
{
	if (sbx_net_is_own(meta->net))
		return NETWORK_LOOPBACK;
	if (meta->net == SBX_NET_NONE &&
	    (meta->flags & SBX_ABSTRACT_ANYWHERE) == 0)
		return NETWORK_EMPTY;
	return NETWORK_OUTER;
}

/*
 * Whether level full protects more than standard without a network of its own.
 * Before Landlock ABI 6 only that keeps abstract sockets inside, and the filter
 * of a policy without a network relies on it.  Single ways out of it need it;
 * level standard has another way for them.
 */
static bool
goes_without(const struct sandbox *sandbox)
{
	enum sbx_net net = sandbox->blob.meta->net;

	return net != SBX_NET_SELECTED &&
	    (sandbox->machine.landlock_abi >= 6 || net != SBX_NET_NONE);
}

/* A machine may give namespaces, but none for the network, or none with lo.
 * Level full goes on without, and says so, unless somebody insists on it. */
static pid_t
fork_with_network(struct sandbox *sandbox, bool insists)
{
	struct plan *plan = &sandbox->plan;
	bool publishes = network_publishes(&sandbox->supervision.network);
	pid_t first;

	plan->network = wanted_network(sandbox->blob.meta);
	first = namespaces_fork(plan->network, publishes, &plan->why_not_full);
	plan->why_no_network = first < 0 ? plan->why_not_full : NULL;
	while (first < 0 && plan->network != NETWORK_OUTER && !insists &&
	    goes_without(sandbox)) {
		plan->network--;
		first = namespaces_fork(plan->network, publishes,
		    &plan->why_not_full);
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

/* What the two processes tell each other, now that there are two; or there is
 * nobody to talk to. */
static void
settle_processes(struct sandbox *sandbox, pid_t first)
{
	struct network *network = &sandbox->supervision.network;

	if (first < 0) {
		owners_close(&sandbox->owners);
		network_forget(network);
	} else if (first == 0) {
		owners_use(&sandbox->owners);
		network_make(network, &sandbox->arena);
	} else {
		network_receive(network);
		owners_serve(&sandbox->owners);
	}
	find_pid_max(sandbox, first);
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
	network_prepare(&sandbox->supervision.network,
	    bind_anchored(sandbox->binder), sandbox->loaded.size);
	first = fork_with_network(sandbox, asked || required);
	settle_processes(sandbox, first);
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
	struct listen_obstacles obstacles;

	if (!sandbox_restricts_files(sandbox))
		return;
	program = program_for(&sandbox->blob, &sandbox->machine,
	    (struct sbx_circumstances){
		.level = plan->level,
		.listener = true,
	    });
	if ((program->flags & SBX_PROGRAM_LISTENER) == 0)
		return;
	obstacles = listen_obstacles();
	plan->why_no_listener = obstacles.listening;
	plan->nested = obstacles.nested;
	if (obstacles.listening != NULL)
		return;
	plan->why_no_sockets = obstacles.copying;
	sandbox_bind(sandbox);
	listen_open(listening);
	listening->answers = true;
	listening->abstract = (sandbox->blob.meta->flags &
				  SBX_ABSTRACT_ANYWHERE) != 0;
	listening->set_id = (program->flags & SBX_PROGRAM_SET_ID) != 0;
	listening->binding = plan->binding;
	listening->objects = objects_open();
	listening->servers = &sandbox->supervision.servers;
	listening->sockets = plan->binding->sockets;
	listening->socket_count = plan->binding->socket_count;
	listening->inside = obstacles.copying == NULL &&
	    sbx_net_is_own(sandbox->blob.meta->net) &&
	    (program->flags & SBX_PROGRAM_TCP) != 0;
	listening->selected = listening->inside &&
	    sandbox->blob.meta->net == SBX_NET_SELECTED;
	listening->network = &sandbox->supervision.network;
	if (listening->selected)
		network_prepare_host(listening->network, plan->binding,
		    sandbox->loaded.size);
}

/* Why nothing can be explained, or NULL. */
static const char *
explaining_obstacle(const struct sandbox *sandbox)
{
	if (plan_allows_everything(&sandbox->plan))
		return "the policy allows everything";
	return sandbox_restricts_files(sandbox) ?
	    listen_obstacles().listening :
	    "this level does not restrict files";
}

/* By the rules that were just bound for the supervisor. */
static void
open_learned(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;

	if (sandbox->options.learn == NULL)
		return;
	learned_open(&sandbox->learned, sandbox->options.learn,
	    sandbox->explaining.binding);
	supervision->learned = &sandbox->learned;
}

/* At level full the rules are bound inside, once more: so the supervisor has its
 * own, with which nothing inside can meddle. */
static void
explain_at_full(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	struct listening *listening = &sandbox->supervision.listening;

	sandbox_bind(sandbox);
	explain_bind(&sandbox->explaining, plan->binding, true);
	listen_close_places(plan->binding);
	plan->binding = NULL;
	sandbox_anchor(sandbox);
	if (!listening->on)
		listen_open(listening);
	listening->view = true;
	listening->explaining = &sandbox->explaining;
	open_learned(sandbox);
}

static void
explain_below_full(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	struct listening *listening = &sandbox->supervision.listening;

	if (plan->binding == NULL)
		sandbox_bind(sandbox);
	explain_bind(&sandbox->explaining, plan->binding, false);
	if (!listening->on)
		listen_open(listening);
	listening->binding = plan->binding;
	listening->explaining = &sandbox->explaining;
	open_learned(sandbox);
}

/* What is to be explained, unless it cannot be; then the command runs without. */
static bool
prepare_explaining(struct sandbox *sandbox)
{
	const char *why;

	if (!sandbox->options.explain && sandbox->options.learn == NULL)
		return false;
	why = explaining_obstacle(sandbox);
	if (why != NULL && sandbox->options.learn != NULL)
		refuse("--learn", why, 0);
	if (why != NULL) {
		sandbox->supervision.why_untraced = why;
		warn_about("--explain", why, 0);
		return false;
	}
	explain_begin(&sandbox->explaining, &sandbox->blob);
	sandbox->explaining.live = sandbox->options.explain_live;
	sandbox->explaining.thorough = sandbox->options.explain_thorough;
	if (sandbox->options.learn != NULL) {
		learn_begin(&sandbox->learning);
		sandbox->explaining.learning = &sandbox->learning;
	}
	return true;
}

/*
 * Below level full.  Where nobody supervises there is no group either: nobody
 * would enter it, nor remove it.
 */
static pid_t
fork_below_full(struct sandbox *sandbox, bool supervised)
{
	pid_t first;

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
	/* To process 1 of a namespace a signal has to wait: what it does not
	 * block, and has no handler for, the kernel drops.  This one may end. */
	if (first == 0)
		signals_restore(&sandbox->supervision.former);
	return first;
}

void
sandbox_fork(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	bool full = sandbox->plan.level == SBX_LEVEL_FULL;
	bool supervised, opened, explained = prepare_explaining(sandbox);
	pid_t first = -1;

	supervision->command = sandbox->options.command;
	supervision->anchored = bind_anchored(sandbox->binder);
	supervise_limits(supervision, &sandbox->blob);
	if (sandbox->self_test.outlives)
		supervise_briefly(supervision);
	if (sandbox->receipt.on)
		supervision->receipt = &sandbox->receipt;
	if (sandbox->report.on)
		supervision->report = &sandbox->report;
	supervision->verbose = sandbox->options.verbose;
	supervision->explains = sandbox->options.explain;
	supervision->explain_all = sandbox->options.explain_all;
	supervision->explain_agent = sandbox->options.explain_agent;
	/* Before anything runs that could change what is watched.  It may take its
	 * time, which counts. */
	clock_now(&supervision->begin);
	if (!sandbox->options.plan && !sandbox->options.self_test)
		supervision->tripwire = tripwire_set(&sandbox->arena,
		    bind_anchored(sandbox->binder));
	supervised = supervision->timeout > 0 || supervision->output > 0 ||
	    supervision->tripwire != NULL || sandbox->receipt.on || explained;
	opened = full || (supervised && !sandbox->options.plan);
	if (opened)
		supervise_open(supervision);
	if (full) {
		view_listener_prepare(supervision, &sandbox->arena,
		    bind_anchored(sandbox->binder), &sandbox->machine);
		if (explained)
			explain_at_full(sandbox);
		first = fork_at_full(sandbox);
		view_listener_settle(&supervision->listening, &sandbox->plan);
	}
	if (first < 0) {
		prepare_listener(sandbox);
		if (explained)
			explain_below_full(sandbox);
		supervised |= supervision->listening.on;
		if (supervised && !opened && !sandbox->options.plan) {
			supervise_open(supervision);
			opened = true;
		}
		first = fork_below_full(sandbox, supervised);
		if (first == 0)
			network_forget(&supervision->network);
	}
	if (first == 0 && supervision->learned != NULL)
		receipt_close(&sandbox->learned);
	if (first > 0 && sandbox->options.explain && explained)
		advice_open(&sandbox->explaining);
	if (first > 0)
		supervise(supervision, first);
	if (first < 0 && opened)
		supervise_close(supervision);
	supervision->on = first == 0;
}

pid_t
sandbox_fork_kept(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	pid_t first;

	supervise_limits(supervision, &sandbox->blob);
	if (sandbox->plan.level != SBX_LEVEL_FULL)
		return -1;
	/* Who joins would need the filter of apply/spawn.c, too. */
	if ((sandbox->blob.meta->flags & SBX_NO_SPAWN) != 0)
		refuse(NULL, "a policy with 'deny spawn' has no session", 0);
	clock_now(&supervision->begin);
	view_listener_prepare(supervision, &sandbox->arena,
	    bind_anchored(sandbox->binder), &sandbox->machine);
	first = fork_at_full(sandbox);
	view_listener_settle(&supervision->listening, &sandbox->plan);
	return first;
}
