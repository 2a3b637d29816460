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
#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "runtime/explain/explain.h"
#include "runtime/inspect/inspect.h"
#include "runtime/session/session.h"
#include "runtime/start/start.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
	if (sandbox->options.plan)
		plan_print_json(plan);
	else if (sandbox->options.verbose)
		plan_summary(plan, sandbox->options.command);
	else if (sandbox->options.by_default)
		plan_say_default(plan);
	if (sandbox->options.plan)
		_exit(0);
	if (plan_allows_everything(plan) && !sandbox->options.self_test)
		say("--allow-full-access",
		    "nothing is confined: the command may do all that you may",
		    0);
}

/* --- the command ---------------------------------------------------------- */

static void
filter(struct sandbox *sandbox)
{
	const struct sbx_program *program = sandbox->plan.program;
	const struct sbx_blob *blob = &sandbox->blob;
	const struct listening *listening = &sandbox->supervision.listening;
	int listener;

	if (program == NULL)
		return;
	listener = listening->explaining != NULL ?
	    traced_install(&sandbox->arena, blob, program,
		traced_looks(listening->explaining,
		    sandbox->plan.level == SBX_LEVEL_FULL)) :
	    confine_syscalls(blob, program);
	if (listener >= 0)
		listen_send(listening, listener,
		    (uint32_t)(program - blob->programs));
}

/* The last words of sbxrun are on a socket that the command has. */
static void
keep_standard_error(const struct sandbox *sandbox)
{
	const char *fault;

	if (!sandbox->supervision.on || !sandbox->supervision.relay.shared ||
	    sandbox->plan.program == NULL)
		return;
	fault = filter_shutdown();
	if (fault != NULL)
		refuse(NULL, fault, errno);
}

/* The key to execute the command with, if there is one. */
static uint64_t
confine(struct sandbox *sandbox)
{
	uint64_t key = 0;
	const struct plan *plan = &sandbox->plan;
	uint32_t held = plan->held |
	    (uint32_t)plan->pid_max << SBX_LIMIT_PROCESSES;

	confine_resources(&sandbox->blob, plan->level, held,
	    sandbox->supervision.tasks);
	/* The command may start no other program.  Where there is no filter,
	 * nothing holds that. */
	if (sandbox->plan.program != NULL && !sandbox->options.self_test &&
	    (sandbox->blob.meta->flags & SBX_NO_SPAWN) != 0)
		key = spawn_prepare();
	keep_standard_error(sandbox);
	if (plan->row != NULL)
		confine_landlock(plan->row, sandbox->ruleset);
	filter(sandbox);
	return key;
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

__attribute__((noreturn)) static void
become_command(void *data)
{
	struct sandbox *sandbox = data;
	struct supervision *supervision = &sandbox->supervision;
	uint64_t key = confine(sandbox);

	if (supervision->on)
		supervise_started(supervision);
	if (sandbox->options.self_test)
		test_it(sandbox);
	execute(sandbox->options.command, &sandbox->environment, key,
	    sandbox->elsewhere);
}

/*
 * What a command runs under if no policy was named: the user's own default, or
 * @coding.
 */
static void
find_policy(struct sandbox *sandbox)
{
	struct options *options = &sandbox->options;

	options->by_default = true;
	options->policy = policy_is_own(&sandbox->arena, "default") ?
	    "@default" :
	    "@coding";
}

/* Whether the workspace is to be found.  A session that is there has one; libsbx
 * names it. */
static bool
takes_project(const struct options *options)
{
	if (options->workspace != NULL)
		return strcmp(options->workspace, "auto") == 0;
	return !options->self_test && !options->status && !options->sessions &&
	    !options->end && !options->check && options->keep < 0 &&
	    options->join < 0 &&
	    (options->session == NULL || options->own_session);
}

/* What the command line leaves to be found. */
static void
find_names(struct sandbox *sandbox)
{
	struct options *options = &sandbox->options;

	if (takes_project(options))
		project_find(&sandbox->arena, options);
	if (options->own_session)
		sessions_name(sandbox);
	/* A session has its policy; and these have none. */
	if (options->policy == NULL && !options->doctor && !options->staged &&
	    (!options_in_session(options) || options->own_session) &&
	    !options_have_no_policy(options))
		find_policy(sandbox);
}

/* Not a static object: if that were larger than the caller's limit on memory, the
 * kernel would kill this program before it could say so. */
static void *
take_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		refuse(NULL, "there is not enough memory for sbxrun", errno);
	/* A few pages of it are used. */
	madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

int
main(int argc, char **argv, char **environment)
{
	struct sandbox *sandbox = take_memory(sizeof *sandbox);
	struct options *options = &sandbox->options;

	(void)argc;
	signals_begin();
	sandbox->pid_max = -1;
	options_parse(options, argv);
	log_begin(&sandbox->receipt, &sandbox->arena, options);
	questions_begin(options, &sandbox->arena);
	find_names(sandbox);
	owners_none(&sandbox->owners);
	stage_none(&sandbox->stage);
	render_begin(options);
	if (options->status)
		status_print();
	if (options->staged)
		staged_run(options, &sandbox->arena);
	if (options->doctor)
		doctor_run(options, &sandbox->arena);
	if (options->clean)
		clean_scratch(&sandbox->arena, options->workspace);
	if (options->sessions || options->end || options->check)
		ask_run(options);
	ceiling_obey(sandbox);
	if (options->session != NULL || options->keep >= 0 ||
	    options->join >= 0) {
		sessions_run(sandbox, environment);
		/* There are none here, and the command runs by itself. */
		if (options->workspace == NULL)
			project_find(&sandbox->arena, options);
	}
	/* First, for the policy may be one of the caller's descriptors. */
	sandbox_load(sandbox);
	confine_descriptors(options, -1);
	streams_check();
	receipt_open(&sandbox->receipt, &sandbox->arena, options->status_fd,
	    NULL);
	receipt_open(&sandbox->report, &sandbox->arena, -1,
	    options->explain_file);
	receipt_open(&sandbox->learned, &sandbox->arena, -1, options->learn);
	if (options->self_test &&
	    (sandbox->blob.meta->flags & SBX_NO_SPAWN) != 0)
		refuse("--self-test",
		    "each attempt is a process of its own, and the policy "
		    "says `deny spawn`",
		    0);
	if (options->self_test)
		self_test_begin(&sandbox->self_test, options, environment);
	sandbox->receipt.on &= !sandbox->self_test.outlives;
	machine_probe(&sandbox->machine);
	sandbox_begin(sandbox);
	sandbox_anchor(sandbox);
	log_open(&sandbox->receipt);
	receipt_open_log(&sandbox->report, options->explain_file);
	if (options->staging)
		stage_open(&sandbox->stage, options->stage,
		    bind_anchored(sandbox->binder), false);
	sandbox_fork(sandbox);
	sandbox_prepare(sandbox, environment);
	if (sandbox_restricts_files(sandbox))
		log_hide(&sandbox->receipt,
		    sandbox->plan.outside != NULL ? sandbox->plan.outside :
						    sandbox->plan.binding);
	plan_warn(&sandbox->plan, options->plan || options->verbose);
	sandbox_make_group(sandbox);
	describe(sandbox);
	if (sandbox->supervision.on)
		supervise_first(&sandbox->supervision,
		    &(struct becoming){ become_command, sandbox,
			&sandbox->arena, !options->self_test });
	become_command(sandbox);
}
