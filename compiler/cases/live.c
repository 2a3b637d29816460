/*
 * See cases.h.  All cases of one policy with the same bindings and level are
 * tried in one sandbox:
 *
 *	tree, policy, files		tree.c
 *	trials				trial.c
 *	sbxrun policy -- sbx-trial	here
 *	answers				trial.c
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"
#include "compiler/tables/tables.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* One sandbox, and what is tried in it. */
struct run {
	struct stage stage;
	struct trials trials;
	const char *policy;   /* the file of the policy */
	struct words options; /* the command line of sbxrun */
	struct words environment;
	int file;                /* the tasks, shared with sbx-trial */
	struct sbx_trials *head; /* the same, mapped */
	struct sbx_trial *tasks; /* one for each trial */
};

static struct arena *
arena_of(const struct run *run)
{
	return run->stage.tree->arena;
}

static void
push(const struct run *run, struct words *words, const char *word)
{
	*arena_push(arena_of(run), &words->list) = word;
}

static void
push_value(const struct run *run, struct words *words, const char *name,
    const char *value)
{
	push(run, words, arena_printf(arena_of(run), "%s=%s", name, value));
}

/* sbxrun refused, or sbx-trial did not do its work. */
static enum exit_status
complain_run(const struct run *run, int status)
{
	const char *output = tree_output(run->stage.tree);

	if (run->stage.tree->signal != 0)
		return EXIT_TROUBLE;
	if (status < 0)
		complain("--live: cannot run %s: %s",
		    run->stage.machine->sbxrun, strerror(errno));
	else
		complain("--live: the policy could not be tried at level %s "
			 "(status %d): %.*s",
		    level_word(run->stage.bound->level),
		    WIFEXITED(status) ? WEXITSTATUS(status) :
					128 + WTERMSIG(status),
		    (int)strcspn(output, "\n"), output);
	return EXIT_TROUBLE;
}

/* --- where the policy is applied ------------------------------------------ */

/* Where an anchor of the test file is here, or NULL. */
static const char *
anchor_path(const struct stage *stage, uint32_t anchor)
{
	const struct places *given = &stage->bound->subject.places;

	if (anchor == SBX_ANCHOR_TMP)
		return stage->scratch;
	return arena_printf(stage->tree->arena, "%s%s", stage->tree->root,
	    given->anchors[anchor].path);
}

static bool
stage_directories(const struct stage *stage)
{
	const struct sbx_blob *blob = stage->bound->subject.places.blob;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *path = anchor_path(stage, i);

		if (path != NULL && !tree_directory(stage->tree, path))
			return false;
	}
	return true;
}

/* Denials hold for the home of the password entry, too. */
static void
stage_bind(struct stage *stage)
{
	const struct passwd *entry = getpwuid(getuid());
	const struct sbx_blob *blob = stage->bound->subject.places.blob;
	struct places *places = &stage->subject.places;

	stage->subject = (struct subject){
		.arch = stage->machine->arch,
		.level = stage->bound->level,
		.abi = stage->machine->abi,
	};
	places_init(places, stage->tree->arena, blob, "/", "/");
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *path = anchor_path(stage, i);

		if (path != NULL)
			places_bind(places, (uint16_t)i, path);
	}
	if (entry != NULL && entry->pw_dir[0] == '/')
		places_bind_other_home(places, entry->pw_dir);
}

/* --- how sbxrun is called ------------------------------------------------- */

static void
options_fill(struct run *run)
{
	const struct stage *stage = &run->stage;
	const struct sbx_blob *blob = stage->bound->subject.places.blob;
	struct words *words = &run->options;

	push(run, words, stage->machine->sbxrun);
	push(run, words, "-w");
	push(run, words, anchor_path(stage, SBX_ANCHOR_WORKSPACE));
	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		push(run, words, "-D");
		push_value(run, words, sbx_string(blob, blob->anchors[i].name),
		    anchor_path(stage, i));
	}
	/* A policy that allows everything has no level. */
	if (blob->meta->flags & SBX_EVERYTHING) {
		push(run, words, "--allow-full-access");
		return;
	}
	push(run, words, "-l");
	push(run, words, level_word(stage->bound->level));
}

static bool
is_set(const struct words *environment, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < environment->list.count; i++) {
		const char *known = environment->list.items[i];

		if (strncmp(known, name, len) == 0 && known[len] == '=')
			return true;
	}
	return false;
}

/* What sbxrun needs, and all variables that cases ask about: one that is not
 * there inside was taken away. */
static void
environment_fill(struct run *run)
{
	/* Sanitizers are to do inside what they do outside. */
	static const char *const inherited[] = {
		"ASAN_OPTIONS",
		"LSAN_OPTIONS",
		"UBSAN_OPTIONS",
	};
	struct words *words = &run->environment;

	push(run, words, "PATH=/usr/local/bin:/usr/bin:/bin");
	push_value(run, words, "HOME",
	    anchor_path(&run->stage, SBX_ANCHOR_HOME));
	push_value(run, words, "XDG_RUNTIME_DIR",
	    anchor_path(&run->stage, SBX_ANCHOR_RUNTIME));
	for (size_t i = 0; i < countof(inherited); i++) {
		if (getenv(inherited[i]) != NULL)
			push_value(run, words, inherited[i],
			    getenv(inherited[i]));
	}
	for (size_t i = 0; i < run->trials.list.count; i++) {
		const struct access *access =
		    &run->trials.list.items[i].result->access;

		if (access->kind == KIND_ENV && !is_set(words, access->name))
			push_value(run, words, access->name, "1");
	}
	push(run, words, NULL);
}

/* --- the scratch directory ------------------------------------------------ */

/* The scratch directory in the document of `sbxrun -n --json`, which may follow
 * warnings, or NULL. */
static const char *
scratch_read(struct arena *arena, const char *text)
{
	const char *begin = strstr(text, "{\"sbx\":");
	struct json_t *plan = json_read(begin != NULL ? begin : "");
	const char *path = json_text(plan, "scratch");

	if (path != NULL)
		path = arena_strndup(arena, path, strlen(path));
	json_release(plan);
	return path;
}

/* sbxrun names the scratch directory after the workspace and the policy. */
static enum exit_status
scratch_find(struct run *run)
{
	struct stage *stage = &run->stage;
	const struct sbx_blob *blob = stage->bound->subject.places.blob;
	struct words words = { .list.count = 0 };
	int status;

	if (!(blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED))
		return EXIT_CLEAN;
	for (size_t i = 0; i < run->options.list.count; i++)
		push(run, &words, run->options.list.items[i]);
	push(run, &words, "-n");
	push(run, &words, "--json");
	push(run, &words, run->policy);
	push(run, &words, NULL);
	status = tree_run(stage->tree, words.list.items,
	    run->environment.list.items, -1);
	if (status == 0)
		stage->scratch = scratch_read(arena_of(run),
		    tree_output(stage->tree));
	return stage->scratch != NULL ? EXIT_CLEAN : complain_run(run, status);
}

/* Removes only what has the name that sbxrun gives: the directory of this
 * workspace, which is ours alone, with that of the profile in it. */
static void
scratch_remove(const struct run *run)
{
	const char *scratch = run->stage.scratch, *name, *end;
	const char *top = arena_printf(arena_of(run), "/tmp/sbx-%u",
	    (unsigned)geteuid());
	size_t len = strlen(top);

	if (scratch == NULL || strncmp(scratch, top, len) != 0 ||
	    (scratch[len] != '/' && scratch[len] != '-'))
		return;
	name = strchr(scratch + len, '/');
	end = name != NULL ? strchr(name + 1, '/') : NULL;
	if (end != NULL && strchr(end + 1, '/') == NULL)
		directory_clear(arena_printf(arena_of(run), "%.*s",
		    (int)(end - scratch), scratch));
}

/* --- sbx-trial ------------------------------------------------------------ */

static bool
helper_may_run(const struct stage *stage, const char *path)
{
	struct access access = {
		.kind = KIND_PATH,
		.detail = SBX_EXEC,
		.path = sbx_place_of(path),
	};

	return verdict_of(&stage->subject, &access).allowed;
}

/* Where the policy lets a copy of sbx-trial be executed; else where it is
 * installed, if it may be executed there.  NULL: nowhere. */
static const char *
helper_place(const struct stage *stage)
{
	static const char *const names[] = { ".sbx-trial", "sbx-trial" };
	const struct machine *machine = stage->machine;
	const struct sbx_blob *blob = stage->subject.places.blob;

	for (uint32_t i = 0; i < countof(names) * blob->anchor_count; i++) {
		uint32_t anchor = i / countof(names);
		const char *directory = anchor_path(stage, anchor), *path;

		if (anchor == SBX_ANCHOR_ROOT || directory == NULL)
			continue;
		path = arena_printf(stage->tree->arena, "%s/%s", directory,
		    names[i % countof(names)]);
		if (helper_may_run(stage, path) &&
		    tree_file(stage->tree, path, machine->copy,
			machine->copy_size))
			return path;
	}
	return helper_may_run(stage, machine->helper) ? machine->helper : NULL;
}

/* --- what sbx-trial is asked ---------------------------------------------- */

/* Puts all trials into a file in memory, as format/protocol.h has it. */
static bool
tasks_make(struct run *run)
{
	struct trial *trials = run->trials.list.items;
	size_t count = run->trials.list.count;
	struct sbx_trials head = {
		.magic = SBX_TRIAL_MAGIC,
		.count = (uint32_t)count,
		.size = (uint32_t)(sizeof head + count * sizeof *run->tasks),
	};
	uint32_t text = head.size;

	for (size_t i = 0; i < count; i++)
		head.size += (uint32_t)strlen(trials[i].text) + 1;
	run->file = memfd_create("trials", MFD_CLOEXEC);
	if (run->file < 0 || ftruncate(run->file, head.size) != 0)
		return false;
	run->head = mmap(NULL, head.size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    run->file, 0);
	if (run->head == MAP_FAILED)
		return false;
	*run->head = head;
	run->tasks = (struct sbx_trial *)(void *)(run->head + 1);
	for (size_t i = 0; i < count; i++) {
		run->tasks[i] = trials[i].task;
		run->tasks[i].text = text;
		strcpy((char *)run->head + text, trials[i].text);
		text += (uint32_t)strlen(trials[i].text) + 1;
	}
	return true;
}

/* Runs sbx-trial with this command line on some of the tasks: outside of the
 * sandbox it only makes system calls. */
static enum exit_status
helper_run(struct run *run, const struct words *arguments, bool outside)
{
	struct trial *trials = run->trials.list.items;
	size_t wanted = 0;
	int status;

	for (size_t i = 0; i < run->trials.list.count; i++) {
		bool is_wanted = trial_is_tried(&trials[i], outside);

		run->tasks[i].answer = is_wanted ? SBX_TRIAL_NONE :
						   SBX_TRIAL_UNWANTED;
		wanted += is_wanted;
	}
	if (wanted == 0)
		return EXIT_CLEAN;
	status = tree_run(run->stage.tree, arguments->list.items,
	    run->environment.list.items, run->file);
	if (status != 0)
		return complain_run(run, status);
	for (size_t i = 0; i < run->trials.list.count; i++) {
		if (run->tasks[i].answer == SBX_TRIAL_NONE) {
			complain("--live: sbx-trial ended before it had tried "
				 "everything at level %s",
			    level_word(run->stage.bound->level));
			return EXIT_TROUBLE;
		}
		if (outside)
			trials[i].outside = run->tasks[i].answer;
		else
			trials[i].task = run->tasks[i];
	}
	return EXIT_CLEAN;
}

static enum exit_status
helper_inside(struct run *run, const char *helper)
{
	struct words *words = &run->options;

	push(run, words, run->policy);
	push(run, words, "--");
	push(run, words, stage_inside(&run->stage, helper));
	push(run, words, NULL);
	return helper_run(run, words, false);
}

static enum exit_status
helper_outside(struct run *run)
{
	struct words words = { 0 };

	push(run, &words, run->stage.machine->helper);
	push(run, &words, NULL);
	return helper_run(run, &words, true);
}

/* --- one sandbox ---------------------------------------------------------- */

static void
leave_all(struct run *run, const char *why)
{
	for (size_t i = 0; i < run->trials.list.count; i++) {
		struct test_result *result = run->trials.list.items[i].result;

		result->live = LIVE_UNTRIED;
		result->why_untried = why;
	}
}

/* Why this policy is not run here at this level, or NULL. */
static const char *
stage_fault(const struct stage *stage)
{
	const struct sbx_meta *meta = stage->bound->subject.places.blob->meta;
	enum sbx_level level = stage->bound->level;
	struct arena *arena = stage->tree->arena;

	if (level > stage->machine->level)
		return arena_printf(arena, "this machine gives level %s",
		    level_word(stage->machine->level));
	if (level < meta->level)
		return arena_printf(arena, "the policy requires level %s",
		    level_word(meta->level));
	if (level == SBX_LEVEL_NONE)
		return "sbxrun has no level none to ask for";
	return NULL;
}

static enum exit_status
run_prepare(struct run *run)
{
	struct stage *stage = &run->stage;
	const struct sbx_blob *blob = stage->bound->subject.places.blob;
	enum exit_status status;

	run->policy = arena_printf(arena_of(run), "%s/policy.bin",
	    stage->tree->top);
	options_fill(run);
	environment_fill(run);
	if (!stage_directories(stage) ||
	    !tree_file(stage->tree, run->policy, blob->base, blob->size))
		return complain_run(run, -1);
	status = scratch_find(run);
	if (status != EXIT_CLEAN)
		return status;
	if (stage->scratch != NULL &&
	    !tree_directory(stage->tree, stage->scratch))
		return complain_run(run, -1);
	stage_bind(stage);
	for (int step = 0; step < STEP_END; step++) {
		for (size_t i = 0; i < run->trials.list.count; i++)
			trial_prepare(stage, &run->trials.list.items[i],
			    (enum trial_step)step);
	}
	for (size_t i = 0; i < run->trials.list.count; i++)
		trial_plan(stage, &run->trials.list.items[i]);
	return tasks_make(run) ? EXIT_CLEAN : complain_run(run, -1);
}

static enum exit_status
run_all(struct run *run)
{
	enum exit_status status = run_prepare(run);
	const char *helper = status == EXIT_CLEAN ? helper_place(&run->stage) :
						    NULL;

	if (status == EXIT_CLEAN && helper == NULL) {
		leave_all(run,
		    "the policy lets nothing be executed in the "
		    "test's own tree, so sbx-trial does not run");
		return EXIT_CLEAN;
	}
	if (status == EXIT_CLEAN)
		status = helper_outside(run);
	if (status == EXIT_CLEAN)
		status = helper_inside(run, helper);
	for (size_t i = 0; i < run->trials.list.count && status == EXIT_CLEAN;
	     i++)
		trial_judge(&run->stage, &run->trials.list.items[i]);
	return status;
}

static enum exit_status
try_bound(struct test_results *results, const struct test_bound *bound,
    const struct machine *machine)
{
	struct tree tree = { .arena = results->subjects.file->arena };
	struct run run = {
		.stage = {
			.tree = &tree, .machine = machine, .bound = bound,
		},
		.file = -1,
	};
	enum exit_status status;

	for (size_t i = 0; i < results->list.count; i++) {
		if (results->list.items[i].bound == bound)
			*arena_push(tree.arena,
			    &run.trials.list) = (struct trial){
				.result = &results->list.items[i],
			};
	}
	if (run.trials.list.count == 0)
		return EXIT_CLEAN;
	if (stage_fault(&run.stage) != NULL) {
		leave_all(&run, stage_fault(&run.stage));
		return EXIT_CLEAN;
	}
	if (!tree_make(&tree, tree.arena)) {
		complain("--live: cannot make a directory to try in: %s",
		    strerror(errno));
		return EXIT_TROUBLE;
	}
	status = run_all(&run);
	if (run.tasks != NULL)
		munmap(run.head, run.head->size);
	if (run.file >= 0)
		close(run.file);
	scratch_remove(&run);
	tree_remove(&tree);
	return status;
}

enum exit_status
test_try(struct test_results *results, const struct machine *machine)
{
	enum exit_status worst = EXIT_CLEAN;

	for (size_t i = 0; i < results->subjects.bound.count; i++) {
		const struct test_bound *bound =
		    results->subjects.bound.items[i];
		enum exit_status status = bound->good ?
		    try_bound(results, bound, machine) :
		    EXIT_CLEAN;

		if (status > worst)
			worst = status;
	}
	return worst;
}
