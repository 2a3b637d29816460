/*
 * How a sandbox gets its first process: what is decided, what both processes then
 * need, and the fork.  Whether the machine gives namespaces is known when they
 * have been made; so where it does not, all of it is done once more, for level
 * standard.
 */
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

/* --- choices -------------------------------------------------------------- */

/* What is decided before any process is made. */
struct choices {
	bool full;       /* in namespaces of its own */
	bool explains;   /* --explain or --learn, where it can be done */
	bool supervised; /* a process stays outside */
	/* Below level full: whose calls the supervisor answers, or NULL. */
	const struct sbx_program *answered;
};

/* What cannot be explained runs without, what cannot be learned from does not. */
static bool
decide_explaining(struct sandbox *sandbox)
{
	const struct options *options = &sandbox->options;
	const char *why;

	if (!options->explain && options->learn == NULL)
		return false;
	why = plan_allows_everything(&sandbox->plan) ?
	    "the policy allows everything" :
	    !sandbox_restricts_files(sandbox) ?
	    "this level does not restrict files" :
	    listen_obstacles().listening;
	if (why != NULL && options->learn != NULL)
		refuse("--learn", why, 0);
	if (why == NULL)
		return true;
	sandbox->supervision.why_untraced = why;
	warn_about("--explain", why, 0);
	return false;
}

/* Where a supervisor can answer calls, it does: what a policy lets through must not
 * depend on what else wants a supervisor. */
static const struct sbx_program *
decide_answering(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	const struct sbx_program *program;
	struct listen_obstacles obstacles;

	if (plan->level == SBX_LEVEL_FULL || !sandbox_restricts_files(sandbox))
		return NULL;
	program = program_for(&sandbox->blob, &sandbox->machine,
	    (struct sbx_circumstances){
		.level = plan->level,
		.listener = true,
	    });
	if ((program->flags & SBX_PROGRAM_LISTENER) == 0)
		return NULL;
	obstacles = listen_obstacles();
	if (obstacles.listening == NULL)
		obstacles.listening = supervise_obstacle();
	plan->why_no_listener = obstacles.listening;
	plan->nested = obstacles.nested;
	if (obstacles.listening != NULL)
		return NULL;
	plan->why_no_sockets = obstacles.copying;
	return program;
}

static struct choices
decide(struct sandbox *sandbox, bool explains)
{
	const struct supervision *supervision = &sandbox->supervision;
	const struct plan *plan = &sandbox->plan;
	struct choices chosen = {
		.full = plan->level == SBX_LEVEL_FULL,
		.explains = explains,
		.answered = decide_answering(sandbox),
	};

	chosen.supervised = chosen.full || supervision->timeout > 0 ||
	    supervision->output > 0 || supervision->tripwire != NULL ||
	    supervision->receipt != NULL || supervision->log != NULL ||
	    explains || chosen.answered != NULL;
	/* Then the first process refuses, and that is the line to read. */
	if (chosen.supervised && !chosen.full && !sandbox->options.plan &&
	    supervise_obstacle() != NULL)
		sandbox->plan.why_no_listener = NULL;
	return chosen;
}

/* --- what the supervisor needs -------------------------------------------- */

static void
begin_supervision(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	const struct options *options = &sandbox->options;

	supervision->anchored = bind_anchored(sandbox->binder);
	supervise_limits(supervision, &sandbox->blob);
	/* The shortest time, whatever the policy says. */
	if (sandbox->self_test.outlives) {
		supervision->timeout = 1;
		supervision->grace = 0;
	}
	supervise_tells(supervision, options, &sandbox->receipt,
	    &sandbox->report);
	/* Before anything runs that could change what is watched.  It may take its
	 * time, which counts. */
	clock_now(&supervision->begin);
	if (!options->plan && !options->self_test)
		supervision->tripwire = tripwire_set(&sandbox->arena,
		    supervision->anchored);
	if (sandbox->stage.directory < 0)
		return;
	supervision->stage = &sandbox->stage;
	tripwire_list(supervision->tripwire, &sandbox->arena,
	    sandbox->stage.directory);
}

/* Each command of a session looks for itself; the session knows which places. */
static void
begin_kept_stage(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;

	if (!sandbox->options.staging)
		return;
	stage_open(&sandbox->stage, sandbox->options.stage,
	    bind_anchored(sandbox->binder), true);
	sandbox->receipt.log.stage = sandbox->stage.name;
	supervision->stage = &sandbox->stage;
	tripwire_list(tripwire_set(&sandbox->arena,
			  bind_anchored(sandbox->binder)),
	    &sandbox->arena, sandbox->stage.directory);
}

/* It holds secrets, so nothing else is forked before. */
static void
start_tls(struct sandbox *sandbox)
{
	struct tls_values secrets = { .count = 0 };

	if (sandbox->options.plan || tls_rule(&sandbox->blob) == NULL)
		return;
	secrets_get(&sandbox->blob, &sandbox->arena,
	    !sandbox->no_secret_programs, &secrets);
	tls_start(&sandbox->supervision.network, bind_anchored(sandbox->binder),
	    &secrets);
	sandbox->supervision.network.tls.placeholders.hidden = secrets.hidden;
}

/* Neither the command nor what it does to the files changes what it judges by. */
static void
open_listener(struct sandbox *sandbox, const struct sbx_program *program)
{
	struct plan *plan = &sandbox->plan;
	struct supervision *supervision = &sandbox->supervision;
	struct listening *listening = &supervision->listening;
	uint8_t net = sandbox->blob.meta->net;

	sandbox_bind(sandbox);
	listener_open(supervision, program, plan->binding);
	listening->binding = plan->binding;
	listening->objects = objects_open();
	listening->inside = plan->why_no_sockets == NULL &&
	    sbx_net_is_own(net) && (program->flags & SBX_PROGRAM_TCP) != 0;
	listening->selected = listening->inside && net == SBX_NET_SELECTED;
	listening->network = &supervision->network;
	if (listening->selected)
		network_prepare_host(listening->network, plan->binding,
		    sandbox->loaded.size);
	network_ask(listening->network, sandbox->options.questions);
	start_tls(sandbox);
}

/* At level full the rules are bound inside, once more: so the supervisor has its
 * own, with which nothing inside can meddle. */
static void
open_explaining(struct sandbox *sandbox, bool full)
{
	struct plan *plan = &sandbox->plan;
	struct explaining *explaining = &sandbox->explaining;
	struct listening *listening = &sandbox->supervision.listening;

	explain_begin(explaining, &sandbox->blob);
	explaining->policy = sandbox->options.policy[0] == '@' ?
	    sandbox->options.policy :
	    sandbox->loaded.place.path;
	explaining->live = sandbox->options.explain_live;
	explaining->thorough = sandbox->options.explain_thorough;
	explaining->scoped = sandbox->machine.landlock_abi >= 6;
	if (plan->binding == NULL)
		sandbox_bind(sandbox);
	explain_bind(explaining, plan->binding, full);
	if (!listening->on)
		listen_open(listening);
	listening->explaining = explaining;
	if (sandbox->options.learn != NULL) {
		learn_begin(&sandbox->learning);
		explaining->learning = &sandbox->learning;
		learned_open(&sandbox->learned, sandbox->options.learn,
		    explaining->binding);
		sandbox->supervision.learned = &sandbox->learned;
	}
	if (!full) {
		listening->binding = plan->binding;
		return;
	}
	listening->view = true;
	listen_close_places(plan->binding);
	plan->binding = NULL;
	sandbox_anchor(sandbox);
}

/* --- the fork ------------------------------------------------------------- */

/* The place of the control group, which both processes have to know. */
static void
find_group(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;

	cgroup_find(&supervision->group,
	    cgroup_wanted(&sandbox->blob, sandbox->plan.level),
	    supervision->begin);
}

/* What the two processes tell each other, now that there are two; or there is
 * nobody to talk to.  An ordinary user's processes are counted by the user
 * namespace, and root's by a file of the inner one. */
static void
settle_processes(struct sandbox *sandbox, pid_t first)
{
	struct network *network = &sandbox->supervision.network;

	if (first < 0) {
		owners_close(&sandbox->owners);
		network_forget(network);
	} else if (first == 0) {
		sandbox->receipt.log.inside = true;
		close(sandbox->options.questions);
		owners_use(&sandbox->owners);
		network_make(network, &sandbox->arena);
		sandbox->pid_max = pid_max_open_own(sandbox->pid_max);
		return;
	} else {
		network_receive(network);
		owners_serve(&sandbox->owners);
	}
	if (sandbox->pid_max >= 0)
		close(sandbox->pid_max);
	sandbox->pid_max = -1;
}

/* Whether nothing less than level full will do. */
static bool
insists_on_full(const struct sandbox *sandbox)
{
	return sandbox->options.level == SBX_LEVEL_FULL ||
	    sandbox->blob.meta->level == SBX_LEVEL_FULL;
}

/*
 * Where the machine turns out not to give namespaces, the level is standard,
 * unless somebody insists on full.
 */
static pid_t
fork_at_full(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	struct supervision *supervision = &sandbox->supervision;
	pid_t first;

	find_group(sandbox);
	if (geteuid() == 0 &&
	    limit_here(&sandbox->blob, SBX_LIMIT_PROCESSES) != NULL)
		sandbox->pid_max = pid_max_open();
	owners_open(&sandbox->owners);
	network_prepare(&supervision->network, bind_anchored(sandbox->binder),
	    sandbox->loaded.size);
	network_ask(&supervision->network, sandbox->options.questions);
	start_tls(sandbox);
	first = fork_with_network(sandbox, insists_on_full(sandbox));
	settle_processes(sandbox, first);
	supervision->namespaces = first >= 0;
	if (first >= 0)
		plan->why_not_full = NULL;
	else if (sandbox->options.level == SBX_LEVEL_FULL)
		refuse("level full", plan->why_not_full, 0);
	else if (insists_on_full(sandbox))
		refuse_at(&sandbox->blob, sandbox->blob.meta->level_source,
		    plan->why_not_full, 0);
	else
		plan->level = SBX_LEVEL_STANDARD;
	view_listener_settle(&supervision->listening, plan);
	return first;
}

static pid_t
fork_below_full(struct sandbox *sandbox)
{
	pid_t first;

	find_group(sandbox);
	if (sandbox->options.plan)
		return -1;
	first = fork();
	if (first < 0)
		refuse(NULL, "cannot fork", errno);
	if (first > 0)
		return first;
	/* To process 1 of a namespace a signal has to wait: what it does not
	 * block, and has no handler for, the kernel drops.  This one may end. */
	sandbox->receipt.log.inside = true;
	close(sandbox->options.questions);
	signals_restore(&sandbox->supervision.former);
	network_forget(&sandbox->supervision.network);
	return 0;
}

/* As it was decided; returns as fork(2) does, or -1 if nobody is to stay
 * outside. */
static pid_t
fork_first(struct sandbox *sandbox, const struct choices *chosen, bool *opened)
{
	struct supervision *supervision = &sandbox->supervision;

	if (!*opened &&
	    (chosen->full || (chosen->supervised && !sandbox->options.plan))) {
		supervise_open(supervision);
		*opened = true;
	}
	if (chosen->full)
		view_listener_prepare(supervision, &sandbox->arena,
		    supervision->anchored, &sandbox->machine);
	if (chosen->answered != NULL)
		open_listener(sandbox, chosen->answered);
	if (chosen->explains)
		open_explaining(sandbox, chosen->full);
	if (chosen->full)
		return fork_at_full(sandbox);
	if (chosen->supervised)
		return fork_below_full(sandbox);
	/* Nobody would enter a group, nor remove it. */
	cgroup_forget(&supervision->group);
	return -1;
}

/* For the record of the run. */
static void
note_facts(struct sandbox *sandbox)
{
	struct run_log *log = &sandbox->receipt.log;

	log->level = level_name(sandbox->plan.level);
	if (sandbox->stage.directory >= 0)
		log->stage = sandbox->stage.name;
	log->workspace =
	    bind_anchored(sandbox->binder)->anchors[SBX_ANCHOR_WORKSPACE];
}

void
sandbox_fork(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;
	bool explains = decide_explaining(sandbox), opened = false;
	struct choices chosen;
	pid_t first;

	begin_supervision(sandbox);
	do {
		chosen = decide(sandbox, explains);
		first = fork_first(sandbox, &chosen, &opened);
	} while (first < 0 && chosen.full);
	if (first > 0 && sandbox->options.explain && explains)
		advice_open(&sandbox->explaining);
	if (first > 0) {
		note_facts(sandbox);
		supervise(supervision, first);
	}
	if (first < 0 && opened)
		supervise_close(supervision);
	if (first == 0 && supervision->learned != NULL)
		receipt_close(&sandbox->learned);
	supervision->on = first == 0;
}

pid_t
sandbox_fork_kept(struct sandbox *sandbox)
{
	struct supervision *supervision = &sandbox->supervision;

	supervise_limits(supervision, &sandbox->blob);
	if (sandbox->plan.level != SBX_LEVEL_FULL)
		return -1;
	/* Who joins would need the filter of apply/spawn.c, too. */
	if ((sandbox->blob.meta->flags & SBX_NO_SPAWN) != 0)
		refuse(NULL, "a policy with 'deny spawn' has no session", 0);
	clock_now(&supervision->begin);
	begin_kept_stage(sandbox);
	view_listener_prepare(supervision, &sandbox->arena,
	    bind_anchored(sandbox->binder), &sandbox->machine);
	return fork_at_full(sandbox);
}
