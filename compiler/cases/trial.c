/*
 * One case as a trial: what is done in the sandbox to find out, or why nothing
 * can be done; and what the answer of the kernel means.
 */
#include "compiler/cases/cases.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIVILEGED_PORTS = 1024 };

/* --- paths ---------------------------------------------------------------- */

const char *
stage_path(const struct stage *stage, struct sbx_place path, bool *in_tree)
{
	const struct places *given = &stage->bound->subject.places;
	const struct sbx_place *anchors = given->anchors;
	uint32_t best = SBX_ANCHOR_ROOT;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < given->blob->anchor_count;
	     i++) {
		if (sbx_covers(anchors[i], path) &&
		    (best == SBX_ANCHOR_ROOT ||
			anchors[i].len > anchors[best].len))
			best = i;
	}
	*in_tree = best != SBX_ANCHOR_ROOT;
	if (!*in_tree)
		return path.len > 0 ? path.path : "/";
	if (best != SBX_ANCHOR_TMP)
		return arena_printf(stage->tree->arena, "%s%s",
		    stage->tree->root, path.path);
	return stage->scratch == NULL ?
	    NULL :
	    arena_printf(stage->tree->arena, "%s%s", stage->scratch,
		path.path + anchors[best].len);
}

const char *
stage_inside(const struct stage *stage, const char *path)
{
	size_t len = stage->scratch != NULL ? strlen(stage->scratch) : 0;

	if (len == 0 || stage->subject.level != SBX_LEVEL_FULL ||
	    strncmp(path, stage->scratch, len) != 0 ||
	    (path[len] != '/' && path[len] != '\0'))
		return path;
	return arena_printf(stage->tree->arena, "/tmp%s", path + len);
}

static bool
step_do(const struct stage *stage, const char *path, bool program,
    enum trial_step step)
{
	static const char text[] = "sbx\n";
	struct tree *tree = stage->tree;

	if (step == STEP_PARENTS)
		return tree_directory(tree,
		    arena_strndup(tree->arena, path,
			(size_t)(strrchr(path, '/') - path)));
	if (program != (step == STEP_PROGRAMS))
		return true;
	return program ? tree_file(tree, path, stage->machine->copy,
			     stage->machine->copy_size) :
			 tree_file(tree, path, text, sizeof text - 1);
}

void
trial_prepare(const struct stage *stage, struct trial *trial,
    enum trial_step step)
{
	const struct access *access = &trial->result->access;
	const char *path;
	bool in_tree;

	if ((access->kind != KIND_PATH &&
		(access->kind != KIND_SOCKET || step != STEP_PARENTS)) ||
	    trial->untried != NULL)
		return;
	path = stage_path(stage, access->path, &in_tree);
	if (in_tree && path != NULL &&
	    !step_do(stage, path, access->detail == SBX_EXEC, step))
		trial->untried = arena_printf(stage->tree->arena,
		    "%s cannot be made: %s", path, strerror(errno));
}

/* --- what is done with a path --------------------------------------------- */

/* At level standard a directory with a denied part is not granted itself: its
 * entries are, one by one.  So it cannot be listed, and nothing can be made in
 * it, although the model allows both. */
static bool
is_split(const struct stage *stage, const struct trial *trial)
{
	struct place_rules rules;

	if (stage->subject.level != SBX_LEVEL_STANDARD ||
	    !trial->verdict.allowed)
		return false;
	places_rules(&stage->subject.places, stage->subject.arch->platforms,
	    &rules);
	places_rules_at(&rules, stage->subject.level);
	return sbx_path_is_split(rules.rules, rules.count, trial->access.detail,
	    trial->access.path);
}

/* Why nothing is done with any directory for this trial, or NULL. */
static const char *
directory_fault(const struct stage *stage, const struct trial *trial)
{
	if (trial->access.detail == SBX_EXEC)
		return "it is a directory, which nobody executes";
	if (trial->verdict.by == BY_NOTHING && !trial->verdict.allowed &&
	    verdict_is_above_allowed(&stage->subject, &trial->access))
		return "level full shows a directory above what is allowed, "
		       "with nothing else in it";
	return NULL;
}

/* A file is made in the directory, and removed. */
static void
plan_create(const struct stage *stage, struct trial *trial)
{
	trial->task.kind = SBX_TRY_CREATE;
	trial->text = arena_printf(stage->tree->arena, "%s/.sbx-trial.new",
	    trial->text);
}

static const char *
plan_in_tree(const struct stage *stage, struct trial *trial)
{
	const char *fault;
	struct stat status;

	if (stat(trial->text, &status) != 0)
		return "it is not there";
	if (S_ISDIR(status.st_mode)) {
		fault = directory_fault(stage, trial);
		if (fault == NULL && is_split(stage, trial))
			fault = "at level standard the entries of this "
				"directory are granted one by one";
		if (fault == NULL && trial->access.detail == SBX_WRITE)
			plan_create(stage, trial);
		return fault;
	}
	if (trial->access.detail == SBX_EXEC)
		trial->task.kind = SBX_TRY_RUN;
	return NULL;
}

/* Opening a device may do something; with these it does not. */
static bool
is_harmless(const char *path, mode_t mode)
{
	static const char *const devices[] = {
		"/dev/full",
		"/dev/null",
		"/dev/random",
		"/dev/tty",
		"/dev/urandom",
		"/dev/zero",
	};

	if (S_ISREG(mode) || S_ISDIR(mode))
		return true;
	for (size_t i = 0; i < countof(devices); i++) {
		if (strcmp(path, devices[i]) == 0)
			return true;
	}
	return false;
}

/* Outside of the tree a file is opened and not changed, and a file is made
 * only where the model says that it cannot be. */
static const char *
plan_write_outside(const struct stage *stage, struct trial *trial,
    bool directory)
{
	if (access(trial->text, W_OK) != 0)
		return "this user may not write it in any case";
	if (directory && trial->verdict.allowed)
		return "nothing is made outside of the test's own tree";
	if (directory)
		plan_create(stage, trial);
	return NULL;
}

static const char *
plan_outside(const struct stage *stage, struct trial *trial)
{
	const char *path = trial->text, *fault;
	uint8_t right = trial->access.detail;
	struct stat status;

	if (stage->subject.level == SBX_LEVEL_FULL &&
	    sbx_tmp_rest(trial->access.path) != NULL)
		return "/tmp and /var/tmp are the sandbox's own at level full";
	if (strncmp(path, "/proc/", 6) == 0)
		return "/proc is another one inside";
	if (stat(path, &status) != 0)
		return "it is not there on this machine";
	if (!is_harmless(path, status.st_mode))
		return "what is no ordinary file may act when it is opened";
	if (right == SBX_WRITE)
		return plan_write_outside(stage, trial,
		    S_ISDIR(status.st_mode));
	fault = S_ISDIR(status.st_mode) ? directory_fault(stage, trial) : NULL;
	if (fault == NULL && access(path, right == SBX_EXEC ? X_OK : R_OK) != 0)
		fault = "this user may not do it in any case";
	return fault;
}

static const char *
plan_path(const struct stage *stage, struct trial *trial)
{
	static const enum sbx_trial_kind kinds[] = {
		[SBX_READ] = SBX_TRY_READ,
		[SBX_WRITE] = SBX_TRY_WRITE,
		[SBX_EXEC] = SBX_TRY_EXEC,
	};
	bool in_tree;
	const char *path = stage_path(stage, trial->access.path, &in_tree);
	const char *fault;

	if (path == NULL)
		return "the policy has no scratch directory";
	trial->access.path = (struct sbx_place){
		path,
		path[1] != '\0' ? (uint32_t)strlen(path) : 0,
	};
	trial->verdict = verdict_of(&stage->subject, &trial->access);
	trial->task.kind = kinds[trial->access.detail];
	trial->text = path;
	fault = in_tree ? plan_in_tree(stage, trial) :
			  plan_outside(stage, trial);
	trial->text = stage_inside(stage, trial->text);
	return fault;
}

/* --- what is done with the others ----------------------------------------- */

static const char *
plan_call(const struct stage *stage, struct trial *trial)
{
	int number = syscall_number(stage->subject.arch, trial->access.name);

	trial->task.kind = SBX_TRY_CALL;
	trial->task.number = (uint32_t)number;
	if (number < 0)
		return "this machine has no such system call";
	if (trial->verdict.depends)
		return "it depends on the arguments";
	return call_arguments(trial->access.name, trial->task.args);
}

static const char *
plan_access(const struct stage *stage, struct trial *trial)
{
	enum rule_kind_id kind = trial->access.kind;

	trial->verdict = verdict_of(&stage->subject, &trial->access);
	if (kind == KIND_PATH)
		return plan_path(stage, trial);
	if (kind == KIND_SYSCALL)
		return plan_call(stage, trial);
	if (kind == KIND_PORT && trial->access.detail < SBX_HOST_TCP) {
		trial->task.kind = trial->access.detail == SBX_CONNECT_TCP ?
		    SBX_TRY_CONNECT :
		    SBX_TRY_LISTEN;
		trial->task.number = trial->access.port;
		return NULL;
	}
	if (kind == KIND_ENV) {
		trial->task.kind = SBX_TRY_ENV;
		trial->text = trial->access.name;
		return trial->verdict.by == BY_AGENT ?
		    "it takes an agent of ssh" :
		    NULL;
	}
	/* The one question that such a rule answers. */
	if (kind == KIND_BLANKET) {
		trial->task.kind = SBX_TRY_SPAWN;
		return NULL;
	}
	return trial_plan_network(stage, trial);
}

/* Why the case is not about this machine, or NULL. */
static const char *
given_fault(const struct stage *stage, const struct test_result *result)
{
	const struct test_given *given = result->test->given;

	if (given->macos)
		return "it is about macOS";
	if (result->bound->subject.arch != stage->machine->arch)
		return "it is about another machine";
	if (given->abi != 0 && given->abi != stage->machine->abi)
		return arena_printf(stage->tree->arena,
		    "it is about Landlock ABI %d, and this machine has %d",
		    given->abi, stage->machine->abi);
	return NULL;
}

void
trial_plan(const struct stage *stage, struct trial *trial)
{
	const char *fault;

	trial->access = trial->result->access;
	trial->task.answer = SBX_TRIAL_NONE;
	trial->text = "";
	if (trial->untried == NULL)
		trial->untried = given_fault(stage, trial->result);
	fault = plan_access(stage, trial);
	if (trial->untried == NULL)
		trial->untried = fault;
	if (trial->untried == NULL && trial->verdict.unenforced)
		trial->untried = "nothing enforces it at this level";
}

bool
trial_is_tried(const struct trial *trial, bool outside)
{
	return trial->untried == NULL &&
	    (!outside || trial->task.kind == SBX_TRY_CALL);
}

/* --- answers -------------------------------------------------------------- */

static enum meaning
path_meaning(const struct trial *trial)
{
	switch (trial->task.answer) {
	case 0:
	case ENXIO: /* of a device, which is asked last */
		return WAS_ALLOWED;
	case EACCES:
	case EPERM:
	case EROFS:
	case ENOENT:
		return WAS_DENIED;
	default:
		return TELLS_NOTHING;
	}
}

/* Landlock decides before any other check of the kernel.  The exception is
 * listening on a privileged port, which fails with the same error. */
static enum meaning
port_meaning(const struct trial *trial)
{
	int answer = trial->task.answer;

	if (trial->task.socket != 0)
		return WAS_DENIED;
	if (answer != EACCES && answer != EPERM)
		return WAS_ALLOWED;
	return trial->task.kind == SBX_TRY_LISTEN &&
		trial->task.number < PRIVILEGED_PORTS ?
	    TELLS_NOTHING :
	    WAS_DENIED;
}

static bool
is_refusal(int answer)
{
	return answer == EPERM || answer == EACCES || answer == ENOSYS ||
	    answer <= SBX_TRIAL_SIGNAL;
}

/* The call fails in any case.  Its error without a sandbox shows whether the
 * filter or the kernel itself answered. */
static enum meaning
call_meaning(const struct trial *trial)
{
	int answer = trial->task.answer, outside = trial->outside;

	if (outside == SBX_TRIAL_NONE || outside == SBX_TRIAL_UNABLE)
		return TELLS_NOTHING;
	if (answer == outside)
		return is_refusal(answer) ? TELLS_NOTHING : WAS_ALLOWED;
	if (!is_refusal(answer))
		return WAS_ALLOWED;
	/* In the sandbox root lacks capabilities, which gives the same error.
	 * */
	return trial->verdict.allowed && answer == EPERM && geteuid() == 0 ?
	    TELLS_NOTHING :
	    WAS_DENIED;
}

static enum meaning
meaning_of(const struct stage *stage, const struct trial *trial)
{
	if (trial->task.answer == SBX_TRIAL_UNABLE)
		return TELLS_NOTHING;
	switch ((enum sbx_trial_kind)trial->task.kind) {
	case SBX_TRY_CONNECT:
		if (trial->access.detail == SBX_HOST_TCP)
			return trial_meaning_network(stage, trial);
		return port_meaning(trial);
	case SBX_TRY_LISTEN:
		return port_meaning(trial);
	case SBX_TRY_NAME:
	case SBX_TRY_TUNNEL:
	case SBX_TRY_ADDRESS:
	case SBX_TRY_SOCKET:
	case SBX_TRY_OWN_SOCKET:
		return trial_meaning_network(stage, trial);
	case SBX_TRY_SPAWN:
		return trial->task.answer == 0 ? WAS_ALLOWED : WAS_DENIED;
	case SBX_TRY_ENV:
		return trial->task.answer == 0 ? WAS_ALLOWED : WAS_DENIED;
	case SBX_TRY_CALL:
		return call_meaning(trial);
	case SBX_TRY_READ:
	case SBX_TRY_WRITE:
	case SBX_TRY_CREATE:
	case SBX_TRY_RUN:
	case SBX_TRY_EXEC:
		break;
	}
	return path_meaning(trial);
}

static const char *
answer_text(struct arena *arena, int answer)
{
	const char *name = answer > 0 ? show_errno((uint16_t)answer) : NULL;

	if (name != NULL)
		return name;
	if (answer == 0)
		return "success";
	if (answer == SBX_TRIAL_ABSENT)
		return "not set";
	return arena_printf(arena, "%s %d", answer > 0 ? "error" : "signal",
	    answer > 0 ? answer : SBX_TRIAL_SIGNAL - answer);
}

static void
differs(const struct stage *stage, struct trial *trial, const char *line)
{
	struct test_result *result = trial->result;

	result->live = LIVE_DIFFERS;
	result->message = arena_printf(stage->tree->arena, "%s\n%s", line,
	    result->message != NULL ? result->message : "");
	result->passed = false;
}

/* With the bindings of this machine the model may answer differently than with
 * those of the test file. */
static bool
model_differs(const struct stage *stage, struct trial *trial)
{
	const struct test_result *result = trial->result;

	if (trial->verdict.allowed == result->verdict.allowed)
		return false;
	differs(stage, trial,
	    arena_printf(stage->tree->arena,
		"on this machine it is %s at level %s (Landlock ABI %d%s%s)",
		trial->verdict.allowed ? "allowed" : "denied",
		level_word(stage->subject.level), stage->machine->abi,
		trial->access.kind == KIND_PATH ? ", tried at " : "",
		trial->access.kind == KIND_PATH ? trial->text : ""));
	return true;
}

void
trial_judge(const struct stage *stage, struct trial *trial)
{
	struct test_result *result = trial->result;
	const char *answer = answer_text(stage->tree->arena,
	    trial->task.answer);
	enum meaning meaning = trial->untried == NULL ?
	    meaning_of(stage, trial) :
	    TELLS_NOTHING;

	if (trial->untried == NULL && model_differs(stage, trial))
		return;
	if (meaning == TELLS_NOTHING) {
		result->live = LIVE_UNTRIED;
		result->why_untried = trial->untried != NULL ?
		    trial->untried :
		    trial->task.answer == SBX_TRIAL_UNABLE ?
		    "the policy denies what it takes to try it" :
		    arena_printf(stage->tree->arena,
			"the answer, %s, tells nothing", answer);
		return;
	}
	if ((meaning == WAS_ALLOWED) == trial->verdict.allowed) {
		result->live = LIVE_AGREES;
		return;
	}
	differs(stage, trial,
	    arena_printf(stage->tree->arena,
		"the model says %s, and the kernel %s it at level %s: %s%s%s",
		trial->verdict.allowed ? "allowed" : "denied",
		meaning == WAS_ALLOWED ? "allows" : "denies",
		level_word(stage->subject.level), answer,
		*trial->text != '\0' ? " for " : "", trial->text));
}
