/*
 * See test_live.h.  All cases of one policy at one place and level are tried in
 * one sandbox:
 *
 *	tree, policy, files		test_tree.c
 *	trials				test_trial.c
 *	sbxrun policy -- probe		here
 *	answers				test_trial.c
 */
#include "compiler/cases/trial.h"
#include "compiler/read/read.h"
#include "compiler/tables/words.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words for execve(2). */
struct words_list {
	VEC(const char *) list;
};

struct trials {
	struct test_stage stage;
	struct test_trials all;
	struct words_list arguments, environment;
};

static struct arena *
arena_of(const struct trials *trials)
{
	return trials->stage.tree->arena;
}

static void
push(const struct trials *trials, struct words_list *words, const char *word)
{
	*arena_push(arena_of(trials), &words->list) = word;
}

static const char *
own_file(const struct trials *trials, const char *name)
{
	return arena_printf(arena_of(trials), "%s/%s", trials->stage.tree->top,
	    name);
}

/* --- the stage ------------------------------------------------------------ */

/* Where an anchor of the test file is here. */
static const char *
anchor_path(const struct test_stage *stage, uint32_t anchor)
{
	const struct places *given = &stage->bound->subject.places;

	if (anchor == SBX_ANCHOR_TMP)
		return stage->scratch;
	return arena_printf(stage->tree->arena, "%s%s", stage->tree->root,
	    given->anchors[anchor].path);
}

static bool
stage_directories(const struct test_stage *stage)
{
	const struct sbx_blob *blob = stage->subject.places.blob;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *path = anchor_path(stage, i);

		if (path != NULL && !test_tree_directory(stage->tree, path))
			return false;
	}
	return true;
}

/* Denials hold for the home of the password entry, too. */
static void
stage_bind(struct test_stage *stage)
{
	const struct passwd *entry = getpwuid(getuid());
	const struct sbx_blob *blob = &stage->bound->loaded->operand.blob;
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
push_definitions(struct trials *trials)
{
	const struct test_stage *stage = &trials->stage;
	const struct sbx_blob *blob = &stage->bound->loaded->operand.blob;

	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		push(trials, &trials->arguments, "-D");
		push(trials, &trials->arguments,
		    arena_printf(arena_of(trials), "%s=%s",
			sbx_string(blob, blob->anchors[i].name),
			anchor_path(stage, i)));
	}
}

static void
arguments_fill(struct trials *trials)
{
	const struct test_stage *stage = &trials->stage;
	struct words_list *words = &trials->arguments;

	push(trials, words, stage->machine->sbxrun);
	push(trials, words, "-w");
	push(trials, words, anchor_path(stage, SBX_ANCHOR_WORKSPACE));
	push_definitions(trials);
	/* What allows everything has no level. */
	if (stage->bound->loaded->operand.blob.meta->flags & SBX_EVERYTHING) {
		push(trials, words, "--allow-full-access");
		return;
	}
	push(trials, words, "-l");
	push(trials, words, level_word(stage->bound->level));
}

/* Whether a variable is what sbxrun itself needs. */
static bool
is_taken(const struct trials *trials, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < trials->environment.list.count; i++) {
		const char *taken = trials->environment.list.items[i];

		if (strncmp(taken, name, len) == 0 && taken[len] == '=')
			return true;
	}
	return false;
}

/* What sanitizers are told outside holds inside. */
static void
push_inherited(struct trials *trials)
{
	static const char *const names[] = {
		"ASAN_OPTIONS",
		"LSAN_OPTIONS",
		"UBSAN_OPTIONS",
	};

	for (size_t i = 0; i < countof(names); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL)
			push(trials, &trials->environment,
			    arena_printf(arena_of(trials), "%s=%s", names[i],
				value));
	}
}

/* All variables that cases ask about are there, so that a missing one was
 * taken away. */
static void
environment_fill(struct trials *trials)
{
	struct words_list *words = &trials->environment;

	push(trials, words, "PATH=/usr/local/bin:/usr/bin:/bin");
	push(trials, words,
	    arena_printf(arena_of(trials), "HOME=%s",
		anchor_path(&trials->stage, SBX_ANCHOR_HOME)));
	push(trials, words,
	    arena_printf(arena_of(trials), "XDG_RUNTIME_DIR=%s",
		anchor_path(&trials->stage, SBX_ANCHOR_RUNTIME)));
	push_inherited(trials);
	for (size_t i = 0; i < trials->all.list.count; i++) {
		const struct access *access =
		    &trials->all.list.items[i].result->access;

		if (access->kind == ACCESS_ENV &&
		    !is_taken(trials, access->name))
			push(trials, words,
			    arena_printf(arena_of(trials), "%s=1",
				access->name));
	}
	push(trials, words, NULL);
}

/* sbxrun refused, or the probe did not do its work. */
static enum exit_status
complain_run(const struct trials *trials, int status)
{
	const char *output = test_tree_output(trials->stage.tree);

	if (trials->stage.tree->signal != 0)
		return EXIT_TROUBLE;
	if (status < 0)
		complain("--live: cannot run %s: %s",
		    trials->stage.machine->sbxrun, strerror(errno));
	else
		complain("--live: the policy could not be tried at level %s "
			 "(status %d): %.*s",
		    level_word(trials->stage.bound->level),
		    WIFEXITED(status) ? WEXITSTATUS(status) :
					128 + WTERMSIG(status),
		    (int)strcspn(output, "\n"), output);
	return EXIT_TROUBLE;
}

/* A policy that any level takes, and that has a scratch directory. */
static bool
scratch_policy(const struct trials *trials, const char *path)
{
	static const char text[] =
	    "sbx 1\nprofile scratch {\n    allow write ${tmp}\n}\n";
	struct compilation compilation;
	struct source *source;
	struct image image;

	compilation_init(&compilation, arena_of(trials));
	source = sources_add(&compilation.sources, "scratch.sbx", "scratch.sbx",
	    text, sizeof text - 1, (struct loc){ 0 });
	compilation.file = source;
	compilation.stmts = ast_parse(&compilation.sources, &compilation.diags,
	    source);
	return compile(&compilation, NULL, &image) &&
	    test_tree_write(path, image.bytes, image.size);
}

/* Its name is sbxrun's business, and depends on the workspace alone; a plan for
 * level standard, where it has no other, tells it. */
static enum exit_status
scratch_find(struct trials *trials)
{
	struct test_stage *stage = &trials->stage;
	const struct sbx_blob *blob = &stage->bound->loaded->operand.blob;
	const char *policy = own_file(trials, "scratch.bin"), *line;
	const char *const arguments[] = {
		stage->machine->sbxrun,
		"-l",
		"standard",
		"-w",
		anchor_path(stage, SBX_ANCHOR_WORKSPACE),
		"-n",
		policy,
		NULL,
	};
	int status;

	if (!(blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED))
		return EXIT_CLEAN;
	if (!scratch_policy(trials, policy))
		return complain_run(trials, -1);
	status = test_tree_run(stage->tree, arguments,
	    trials->environment.list.items, "/dev/null");
	line = status == 0 ? strstr(test_tree_output(stage->tree), "\ntmp ") :
			     NULL;
	if (line == NULL)
		return complain_run(trials, status);
	line += strcspn(line, "/");
	stage->scratch = arena_strndup(arena_of(trials), line,
	    strcspn(line, " \n"));
	return EXIT_CLEAN;
}

/* --- the probe ------------------------------------------------------------ */

static bool
probe_may_run(const struct test_stage *stage, const char *path)
{
	struct access access = {
		.kind = ACCESS_PATH,
		.detail = SBX_EXEC,
		.path = { path, (uint32_t)strlen(path) },
	};

	return verdict_of(&stage->subject, &access).allowed;
}

/* Where the policy lets a copy of the probe be executed; else where it is
 * installed, if that may be.  NULL: nowhere. */
static const char *
probe_place(const struct test_stage *stage)
{
	static const char *const names[] = { ".sbx-probe", "sbx-probe" };
	const struct sbx_blob *blob = stage->subject.places.blob;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *directory = anchor_path(stage, i);

		for (size_t j = 0; j < countof(names); j++) {
			const char *path;

			if (directory == NULL)
				continue;
			path = arena_printf(stage->tree->arena, "%s/%s",
			    directory, names[j]);
			if (probe_may_run(stage, path) &&
			    test_tree_copy(stage->tree, stage->machine->probe,
				path))
				return path;
		}
	}
	return probe_may_run(stage, stage->machine->probe) ?
	    stage->machine->probe :
	    NULL;
}

/* --- running it ------------------------------------------------------------ */

static bool
trials_read(const char *path, struct sbx_trials *packed)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = read(fd, packed, packed->size) == (ssize_t)packed->size;
	close(fd);
	return good;
}

/* Runs the probe on a file of trials by way of these words. */
static enum exit_status
probe_run(struct trials *trials, const struct words_list *words, bool outside)
{
	struct sbx_trials *packed = test_trials_pack(arena_of(trials),
	    &trials->all, outside);
	const char *path = own_file(trials, "trials");
	int status;

	if (packed->count == 0)
		return EXIT_CLEAN;
	if (!test_tree_write(path, packed, packed->size))
		return complain_run(trials, -1);
	status = test_tree_run(trials->stage.tree, words->list.items,
	    trials->environment.list.items, path);
	if (status != 0 || !trials_read(path, packed))
		return complain_run(trials, status);
	if (test_trials_take(&trials->all, packed, outside))
		return EXIT_CLEAN;
	complain("--live: the probe ended before it had tried everything at "
		 "level %s",
	    level_word(trials->stage.bound->level));
	return EXIT_TROUBLE;
}

static enum exit_status
probe_inside(struct trials *trials, const char *probe)
{
	struct words_list *words = &trials->arguments;
	const char *scratch = trials->stage.scratch;
	size_t len = scratch != NULL ? strlen(scratch) : 0;

	if (len > 0 && trials->stage.bound->level == SBX_LEVEL_FULL &&
	    strncmp(probe, scratch, len) == 0)
		probe = arena_printf(arena_of(trials), "/tmp%s", probe + len);
	push(trials, words, own_file(trials, "policy.bin"));
	push(trials, words, "--");
	push(trials, words, probe);
	push(trials, words, NULL);
	return probe_run(trials, words, false);
}

static enum exit_status
probe_outside(struct trials *trials)
{
	struct words_list words = { 0 };

	push(trials, &words, trials->stage.machine->probe);
	push(trials, &words, NULL);
	return probe_run(trials, &words, true);
}

/* --- one sandbox ---------------------------------------------------------- */

static void
leave_all(struct trials *trials, const char *why)
{
	for (size_t i = 0; i < trials->all.list.count; i++) {
		struct test_result *result = trials->all.list.items[i].result;

		result->live = LIVE_UNTRIED;
		result->why_untried = why;
	}
}

/* Why this policy is not run here at this level, or NULL. */
static const char *
stage_fault(const struct test_stage *stage)
{
	const struct sbx_meta *meta = stage->bound->loaded->operand.blob.meta;
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

static void
prepare(struct trials *trials)
{
	for (int programs = 1; programs >= 0; programs--) {
		for (size_t i = 0; i < trials->all.list.count; i++) {
			struct test_trial *trial = &trials->all.list.items[i];
			const struct access *access = &trial->result->access;

			if ((access->kind == ACCESS_PATH &&
				access->detail == SBX_EXEC) == (programs != 0))
				test_trial_prepare(&trials->stage, trial);
		}
	}
}

/* Parents first: what is a directory for one case is no file for another. */
static void
prepare_parents(struct trials *trials)
{
	const struct test_stage *stage = &trials->stage;

	for (size_t i = 0; i < trials->all.list.count; i++) {
		const struct access *access =
		    &trials->all.list.items[i].result->access;
		struct sbx_place path = access->path;
		bool in_tree = false;
		const char *here = NULL;

		if (access->kind != ACCESS_PATH)
			continue;
		while (path.len > 0 && path.path[--path.len] != '/')
			;
		path.path = arena_strndup(arena_of(trials), path.path,
		    path.len);
		here = test_stage_path(stage, path, &in_tree);
		if (in_tree && here != NULL)
			test_tree_directory(stage->tree, here);
	}
}

static enum exit_status
stage_set(struct trials *trials)
{
	struct test_stage *stage = &trials->stage;
	const struct sbx_blob *blob = &stage->bound->loaded->operand.blob;
	enum exit_status status = EXIT_CLEAN;

	stage_bind(stage);
	arguments_fill(trials);
	environment_fill(trials);
	if (!stage_directories(stage) ||
	    !test_tree_write(own_file(trials, "policy.bin"), blob->base,
		blob->size))
		return complain_run(trials, -1);
	status = scratch_find(trials);
	if (status != EXIT_CLEAN)
		return status;
	stage_bind(stage);
	if (!stage_directories(stage))
		return complain_run(trials, -1);
	prepare_parents(trials);
	prepare(trials);
	for (size_t i = 0; i < trials->all.list.count; i++)
		test_trial_plan(stage, &trials->all.list.items[i]);
	return EXIT_CLEAN;
}

static enum exit_status
stage_run(struct trials *trials)
{
	enum exit_status status = stage_set(trials);
	const char *probe = status == EXIT_CLEAN ? probe_place(&trials->stage) :
						   NULL;

	if (status == EXIT_CLEAN && probe == NULL) {
		leave_all(trials,
		    "the policy lets nothing be executed in the "
		    "test's own tree, so the probe does not run");
		return EXIT_CLEAN;
	}
	if (status == EXIT_CLEAN)
		status = probe_outside(trials);
	if (status == EXIT_CLEAN)
		status = probe_inside(trials, probe);
	for (size_t i = 0; i < trials->all.list.count && status == EXIT_CLEAN;
	     i++)
		test_trial_judge(&trials->stage, &trials->all.list.items[i]);
	return status;
}

/* Only what has the name that sbxrun gives is removed. */
static void
scratch_remove(const struct trials *trials)
{
	const char *scratch = trials->stage.scratch;
	const char *parent = arena_printf(arena_of(trials), "/tmp/sbx-%u/",
	    (unsigned)geteuid());

	if (scratch != NULL && strncmp(scratch, parent, strlen(parent)) == 0 &&
	    strchr(scratch + strlen(parent), '/') == NULL)
		test_tree_clear(scratch);
}

static enum exit_status
try_bound(struct test_results *results, const struct test_bound *bound,
    const struct test_machine *machine)
{
	struct test_tree tree = { .arena = results->subjects.file->arena };
	struct trials trials = {
		.stage = {
			.tree = &tree, .machine = machine, .bound = bound,
		},
	};
	enum exit_status status;

	for (size_t i = 0; i < results->list.count; i++) {
		if (results->list.items[i].bound == bound)
			*arena_push(tree.arena,
			    &trials.all.list) = (struct test_trial){
				.result = &results->list.items[i],
			};
	}
	if (trials.all.list.count == 0)
		return EXIT_CLEAN;
	if (stage_fault(&trials.stage) != NULL) {
		leave_all(&trials, stage_fault(&trials.stage));
		return EXIT_CLEAN;
	}
	if (!test_tree_make(&tree, tree.arena)) {
		complain("--live: cannot make a directory to try in: %s",
		    strerror(errno));
		return EXIT_TROUBLE;
	}
	status = stage_run(&trials);
	scratch_remove(&trials);
	test_tree_remove(&tree);
	return status;
}

enum exit_status
test_try(struct test_results *results, const struct test_machine *machine)
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
