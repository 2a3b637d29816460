/*
 * A sandbox while it is made: what is known of it so far, and the steps that
 * main.c takes for one run and sessions.c for many.
 */
#include "runtime/start/start.h"

#include "runtime/apply/apply.h"
#include "runtime/apply/mounts.h"
#include "runtime/base/files.h"
#include "runtime/bind/bind.h"

#include <string.h>
#include <unistd.h>

bool
sandbox_restricts_files(const struct sandbox *sandbox)
{
	return !plan_allows_everything(&sandbox->plan) &&
	    sandbox->plan.level >= SBX_LEVEL_STANDARD;
}

/* Sessions do not share scratch directories.  One that has no name, or whose name an
 * outdated one may still use, has the number of its keeper, which is this process. */
static void
name_session(struct sandbox *sandbox)
{
	char key[SCRATCH_KEY_SIZE];
	const char *name = sandbox->renewed ? NULL : sandbox->options.session;
	struct out number;

	memcpy(key, sandbox->scratch, sizeof key);
	out_init(&number, -1);
	out_print(&number, "/%u", (unsigned)getpid());
	scratch_key(sandbox->scratch, key, name != NULL ? name : number.text);
}

/* A policy that comes through a pipe has no place: it is its own origin. */
static void
name_scratch(struct sandbox *sandbox)
{
	const struct policy_file *loaded = &sandbox->loaded;
	char digest[SHA256_HEX + 1];
	const char *origin = loaded->place.path;

	if (origin[0] == '\0') {
		sha256_hex(loaded->bytes, loaded->size, digest);
		origin = digest;
	}
	scratch_key(sandbox->scratch,
	    sbx_string(&sandbox->blob, sandbox->blob.meta->profile), origin);
	if (sandbox->kept)
		name_session(sandbox);
}

void
sandbox_load(struct sandbox *sandbox)
{
	const struct options *options = &sandbox->options;

	bool named = options->expect != NULL || options->plan ||
	    options->status_fd >= 0 || sandbox->kept || sandbox->digests;
	struct run_log *log = &sandbox->receipt.log;

	log->policy = options->policy;
	sandbox->loaded.whole = log->on;
	load_policy(options, &sandbox->arena, named ? sandbox->digest : NULL,
	    &sandbox->loaded, &sandbox->blob);
	ceiling_check_digest(sandbox, sandbox->digest);
	log->blob = &sandbox->blob;
	log->bytes = sandbox->loaded.bytes;
	log->size = sandbox->loaded.all;
	name_scratch(sandbox);
	if (sbx_stage_rule(&sandbox->blob, KERNEL_WHERE) != NULL &&
	    !options->plan && !options->self_test)
		sandbox->options.staging = true;
	limits_apply(&sandbox->blob, options->limits, sandbox->limits);
}

void
sandbox_anchor(struct sandbox *sandbox)
{
	sandbox->binder = bind_begin(&sandbox->arena,
	    &(struct bind_request){
		.blob = &sandbox->blob,
		.options = &sandbox->options,
		.log = log_way(&sandbox->receipt),
		.report = sandbox->report.way,
		.learned = sandbox->learned.way,
		.owners = sandbox->owners,
		.scratch = sandbox->scratch,
	    });
}

void
sandbox_bind(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	bool described = !plan_allows_everything(plan) && sandbox->options.plan;
	bool restricted = sandbox_restricts_files(sandbox);

	/* --expect makes the way to the policy unimportant. */
	plan->binding = bind_finish(sandbox->binder,
	    &(struct bind_request){
		.rules = restricted || described,
		.policy = restricted ? &sandbox->loaded.place : NULL,
		.level = plan->level,
		.guarded = plan->level == SBX_LEVEL_FULL,
		.judges_way = sandbox->options.expect == NULL,
		.owners = sandbox->owners,
	    });
	owners_close(&sandbox->owners);
	plan->outcomes = arena_take(&sandbox->arena, plan->binding->rule_count,
	    sizeof *plan->outcomes);
}

void
sandbox_begin(struct sandbox *sandbox)
{
	sandbox->plan = (struct plan){
		.policy = sandbox->options.policy,
		.blob = &sandbox->blob,
		.machine = &sandbox->machine,
		.level = level_choose(&sandbox->options, &sandbox->blob,
		    &sandbox->machine),
		.environment = &sandbox->environment,
		.chosen = sandbox->options.limits,
		.extra = sandbox->options.rules,
		.extra_count = sandbox->options.rule_count,
	};
	memcpy(sandbox->plan.digest, sandbox->digest, sizeof sandbox->digest);
	secrets_check(&sandbox->blob, sandbox->plan.level);
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
			.listener = sandbox->supervision.listening.answers,
		    });
}

/*
 * What Landlock keeps inside.  The commands of a session have one domain each,
 * none above the other, and signals and sockets go from one to the next: so it
 * is the namespaces that keep them inside.
 */
static uint64_t
scopes(const struct sandbox *sandbox)
{
	const struct plan *plan = &sandbox->plan;

	if (!sandbox->kept)
		return plan->row->scoped;
	return plan->network == NETWORK_OUTER ?
	    plan->row->scoped & LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET :
	    0;
}

/*
 * What Landlock holds of ports.  In a network of its own all are open.  Where the
 * supervisor does listen(2), a port that the command only has is of no use.
 */
static uint64_t
held_ports(const struct sandbox *sandbox)
{
	const struct sbx_landlock *row = sandbox->plan.row;

	if (sandbox->plan.network == NETWORK_LOOPBACK)
		return 0;
	return sandbox->supervision.listening.inside ?
	    row->handled_net & ~row->bind_tcp :
	    row->handled_net;
}

static void
fill_ruleset(struct sandbox *sandbox)
{
	struct plan *plan = &sandbox->plan;
	struct lowering what;
	uint64_t net;

	plan->row = sbx_landlock_select(&sandbox->blob,
	    (uint32_t)sandbox->machine.landlock_abi);
	if (plan->row == NULL)
		refuse(NULL,
		    "the policy has no masks for this kernel's Landlock", 0);
	net = held_ports(sandbox);
	sandbox->ruleset = confine_ruleset(plan->row, net, scopes(sandbox));
	what = (struct lowering){
		.binding = plan->binding,
		.row = plan->row,
		.ruleset = sandbox->ruleset,
		.masked = plan->level == SBX_LEVEL_FULL,
		.outcomes = plan->outcomes,
	};
	lower_paths(&sandbox->arena, &what);
	lower_sockets(&sandbox->arena, &what);
	lower_ports(&sandbox->blob, plan->row, net, sandbox->ruleset);
	streams_allow(sandbox->reopened, sandbox->ruleset);
	name_files_allow(&sandbox->name_files, sandbox->ruleset);
}

/* Where the command is outside, where the view may not have it. */
static const char *
find_elsewhere(struct sandbox *sandbox, char **environment)
{
	char **command = sandbox->options.command;

	if (sandbox->plan.level < SBX_LEVEL_FULL || command == NULL ||
	    *command == NULL)
		return NULL;
	return elsewhere_find(&sandbox->arena, *command, environment);
}

/* Where programs inside find whom to believe where TLS is ended; and at level full,
 * what covers the machine's own. */
static void
find_trust(struct sandbox *sandbox)
{
	static const struct sbx_place bundle = { "/roots.pem", 10 };
	const struct network_tls *tls = &sandbox->supervision.network.tls;
	struct plan *plan = &sandbox->plan;

	plan->trust = sbx_place_of("");
	plan->secrets = secrets_variables(&sandbox->blob, &sandbox->arena,
	    &tls->placeholders);
	if (tls->name[0] == '\0')
		return;
	plan->trust = arena_join(&sandbox->arena,
	    plan->binding->anchors[SBX_ANCHOR_TMP], sbx_place_of(tls->name));
	if (sandbox->name_files.roots.len > 0 ||
	    plan->level != SBX_LEVEL_FULL || tls->roots[0] == '\0')
		return;
	sandbox->name_files.bundle = arena_join(&sandbox->arena, plan->trust,
	    bundle);
	sandbox->name_files.roots = sbx_place_of(tls->roots);
}

void
sandbox_prepare(struct sandbox *sandbox, char **environment)
{
	struct plan *plan = &sandbox->plan;

	name_files_none(&sandbox->name_files);
	stage_mount(&sandbox->stage);
	if (plan->binding == NULL)
		sandbox_bind(sandbox);
	view_listener_choose(&sandbox->supervision.listening, plan);
	sandbox->elsewhere = find_elsewhere(sandbox, environment);
	if (plan->level == SBX_LEVEL_FULL) {
		if (!sandbox->kept)
			sandbox->reopened = streams_reopen(~0U);
		sandbox->supervision.own_input = sandbox->reopened & 1;
		plan->outside = plan->binding;
		find_trust(sandbox);
		plan->binding = mount_tree_enter(&sandbox->arena, plan->binding,
		    plan->outcomes, &plan->hard_linked, &sandbox->name_files);
		sandbox->supervision.listening.moved = bind_is_moved(
		    plan->binding);
	}
	find_trust(sandbox);
	confine_privileges(plan->level);
	if (!sandbox->kept)
		environment_build(&sandbox->environment, &sandbox->arena,
		    &(struct environment_rules){
			.blob = plan->binding->blob,
			.anchors = plan->binding->anchors,
			.bound = plan->binding->bound,
			.agent = plan->binding->agent,
			.git = plan->binding->git_copy,
			.trust = plan->trust,
			.secrets = plan->secrets,
			.level = level_name(plan->level),
		    },
		    environment);
	choose_filter(sandbox);
	if (sandbox_restricts_files(sandbox))
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
	const struct sbx_limit *limit = limit_here(plan->blob,
	    SBX_LIMIT_PROCESSES);

	if (sandbox->pid_max < 0 || limit == NULL)
		return;
	if (plan->held >> SBX_LIMIT_PROCESSES & 1) {
		close(sandbox->pid_max);
		return;
	}
	pid_max_set(sandbox->pid_max, limit->value);
	plan->pid_max = !rule_index_allows(plan->binding->index, SBX_WRITE,
	    place);
}

void
sandbox_make_group(struct sandbox *sandbox)
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
