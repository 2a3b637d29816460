/* See test_trial.h. */
#include "compiler/cases/trial.h"
#include "compiler/query/show.h"
#include "compiler/tables/words.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIVILEGED_PORTS = 1024 };

static const struct sbx_place tmp = { "/tmp", 4 };

static const char way[] = "level full shows a directory above what is "
			  "allowed, with nothing else in it";

static void
leave(struct test_trial *trial, const char *why)
{
	if (trial->untried == NULL)
		trial->untried = why;
}

/* --- paths ---------------------------------------------------------------- */

const char *
test_stage_path(const struct test_stage *stage, struct sbx_place path,
    bool *in_tree)
{
	const struct places *given = &stage->bound->subject.places;
	uint32_t best = SBX_ANCHOR_ROOT;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < given->blob->anchor_count;
	     i++) {
		if (sbx_covers(given->anchors[i], path) &&
		    (best == SBX_ANCHOR_ROOT ||
			given->anchors[i].len > given->anchors[best].len))
			best = i;
	}
	*in_tree = best != SBX_ANCHOR_ROOT;
	if (best == SBX_ANCHOR_TMP)
		return stage->scratch == NULL ?
		    NULL :
		    arena_printf(stage->tree->arena, "%s%s", stage->scratch,
			path.path + given->anchors[best].len);
	if (*in_tree)
		return arena_printf(stage->tree->arena, "%s%s",
		    stage->tree->root, path.path);
	return path.len > 0 ? path.path : "/";
}

/* The scratch directory is /tmp in the view of level full. */
static const char *
inside(const struct test_stage *stage, const char *path)
{
	size_t len = stage->scratch != NULL ? strlen(stage->scratch) : 0;

	if (len == 0 || stage->subject.level != SBX_LEVEL_FULL ||
	    strncmp(path, stage->scratch, len) != 0 ||
	    (path[len] != '/' && path[len] != '\0'))
		return path;
	return arena_printf(stage->tree->arena, "/tmp%s", path + len);
}

void
test_trial_prepare(const struct test_stage *stage, struct test_trial *trial)
{
	const struct test_result *result = trial->result;
	bool in_tree, good;
	const char *path;

	if (result->access.kind != ACCESS_PATH)
		return;
	path = test_stage_path(stage, result->access.path, &in_tree);
	if (!in_tree || path == NULL)
		return;
	if (result->access.detail == SBX_EXEC)
		good = test_tree_copy(stage->tree, stage->machine->probe, path);
	else
		good = test_tree_file(stage->tree, path);
	if (!good)
		leave(trial,
		    arena_printf(stage->tree->arena, "%s cannot be made: %s",
			path, strerror(errno)));
}

/* A file that is made in the directory, and removed. */
static void
plan_create(struct test_trial *trial, struct arena *arena, const char *path)
{
	trial->kind = SBX_TRY_CREATE;
	trial->text = arena_printf(arena, "%s/.sbx-probe.new", path);
}

/* What is handed out entry by entry is not listed, and nothing is made in it:
 * the model says so too, but not in its verdict. */
static bool
is_split(const struct test_stage *stage, const struct test_trial *trial)
{
	struct place_rules rules;

	if (stage->subject.level != SBX_LEVEL_STANDARD ||
	    !trial->verdict.allowed)
		return false;
	places_rules(&stage->subject.places, stage->subject.arch->platforms,
	    &rules);
	return sbx_path_is_split(rules.rules, rules.count, trial->access.detail,
	    trial->access.path);
}

/* The view shows the way to what is allowed, and nothing beside it. */
static bool
is_way(const struct test_stage *stage, const struct test_trial *trial)
{
	struct place_rules rules;

	if (stage->subject.level != SBX_LEVEL_FULL ||
	    trial->verdict.by != BY_NOTHING || trial->verdict.allowed ||
	    trial->access.detail != SBX_READ)
		return false;
	places_rules(&stage->subject.places, stage->subject.arch->platforms,
	    &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (rules.rules[i].effect == SBX_ALLOW &&
		    sbx_covers(trial->access.path, rules.rules[i].at))
			return true;
	}
	return false;
}

static void
plan_directory(const struct test_stage *stage, struct test_trial *trial,
    const char *path)
{
	if (trial->access.detail == SBX_EXEC)
		leave(trial, "it is a directory, which nobody executes");
	else if (is_way(stage, trial))
		leave(trial, way);
	else if (is_split(stage, trial))
		leave(trial,
		    "at level standard the entries of this directory "
		    "are granted one by one");
	else if (trial->access.detail == SBX_WRITE)
		plan_create(trial, stage->tree->arena, path);
}

static void
plan_tree(const struct test_stage *stage, struct test_trial *trial,
    const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		leave(trial, "it is not there");
	else if (S_ISDIR(status.st_mode))
		plan_directory(stage, trial, path);
	else if (trial->access.detail == SBX_EXEC)
		trial->kind = SBX_TRY_RUN;
}

/* A device may do something when it is opened; these do not. */
static bool
is_tame(const char *path, mode_t mode)
{
	static const char *const tame[] = {
		"/dev/full",
		"/dev/null",
		"/dev/random",
		"/dev/tty",
		"/dev/urandom",
		"/dev/zero",
	};

	if (S_ISREG(mode) || S_ISDIR(mode))
		return true;
	for (size_t i = 0; i < countof(tame); i++) {
		if (strcmp(path, tame[i]) == 0)
			return true;
	}
	return false;
}

/* What is not ours is opened, and not changed: something is only made where
 * the model says that it will not be. */
static void
plan_outside_write(const struct test_stage *stage, struct test_trial *trial,
    const char *path, bool directory)
{
	if (access(path, W_OK) != 0)
		leave(trial, "this user may not write it in any case");
	else if (!directory)
		return;
	else if (trial->verdict.allowed)
		leave(trial, "nothing is made outside of the test's own tree");
	else
		plan_create(trial, stage->tree->arena, path);
}

static void
plan_outside(const struct test_stage *stage, struct test_trial *trial,
    const char *path)
{
	struct stat status;

	if (stage->subject.level == SBX_LEVEL_FULL &&
	    sbx_covers(tmp, trial->access.path))
		leave(trial, "/tmp is the sandbox's own at level full");
	else if (strncmp(path, "/proc/", 6) == 0)
		leave(trial, "/proc is another one inside");
	else if (stat(path, &status) != 0)
		leave(trial, "it is not there on this machine");
	else if (!is_tame(path, status.st_mode))
		leave(trial,
		    "what is no ordinary file may act when it is "
		    "opened");
	else if (trial->access.detail == SBX_WRITE)
		plan_outside_write(stage, trial, path, S_ISDIR(status.st_mode));
	else if (S_ISDIR(status.st_mode) && is_way(stage, trial))
		leave(trial, way);
	else if (trial->access.detail == SBX_EXEC && S_ISDIR(status.st_mode))
		leave(trial, "it is a directory, which nobody executes");
	else if (access(path, trial->access.detail == SBX_EXEC ? X_OK : R_OK) !=
	    0)
		leave(trial, "this user may not do it in any case");
}

static void
plan_path(const struct test_stage *stage, struct test_trial *trial)
{
	static const enum sbx_trial_kind kinds[] = {
		[SBX_READ] = SBX_TRY_READ,
		[SBX_WRITE] = SBX_TRY_WRITE,
		[SBX_EXEC] = SBX_TRY_EXEC,
	};
	bool in_tree;
	const char *path = test_stage_path(stage, trial->access.path, &in_tree);

	if (path == NULL) {
		leave(trial, "the policy has no scratch directory");
		return;
	}
	trial->access.path = (struct sbx_place){
		path,
		path[1] != '\0' ? (uint32_t)strlen(path) : 0,
	};
	trial->verdict = verdict_of(&stage->subject, &trial->access);
	trial->kind = kinds[trial->access.detail];
	trial->text = path;
	if (in_tree)
		plan_tree(stage, trial, path);
	else
		plan_outside(stage, trial, path);
	trial->text = inside(stage, trial->text);
}

/* --- the others ----------------------------------------------------------- */

static void
plan_call(const struct test_stage *stage, struct test_trial *trial)
{
	const char *why = test_call_arguments(trial->access.name, trial->args);
	int number = syscall_number(stage->subject.arch, trial->access.name);

	trial->kind = SBX_TRY_CALL;
	if (number < 0)
		leave(trial, "this machine has no such system call");
	else if (trial->verdict.depends)
		leave(trial, "it depends on the arguments");
	else if (why != NULL)
		leave(trial, why);
	else
		trial->number = (uint32_t)number;
}

static void
plan_others(const struct test_stage *stage, struct test_trial *trial)
{
	trial->verdict = verdict_of(&stage->subject, &trial->access);
	trial->text = "";
	switch (trial->access.kind) {
	case ACCESS_PATH:
		break;
	case ACCESS_PORT:
		trial->kind = trial->access.detail == SBX_CONNECT_TCP ?
		    SBX_TRY_CONNECT :
		    SBX_TRY_LISTEN;
		trial->number = trial->access.port;
		break;
	case ACCESS_ENV:
		trial->kind = SBX_TRY_ENV;
		trial->text = trial->access.name;
		break;
	case ACCESS_SYSCALL:
		plan_call(stage, trial);
		break;
	}
}

static void
plan_given(const struct test_stage *stage, struct test_trial *trial)
{
	const struct test_given *given = trial->result->test->given;

	if (given->macos)
		leave(trial, "it is about macOS");
	else if (trial->result->bound->subject.arch != stage->machine->arch)
		leave(trial, "it is about another machine");
	else if (given->abi != 0 && given->abi != stage->machine->abi)
		leave(trial,
		    arena_printf(stage->tree->arena,
			"it is about Landlock ABI %d, and this machine has %d",
			given->abi, stage->machine->abi));
}

void
test_trial_plan(const struct test_stage *stage, struct test_trial *trial)
{
	trial->access = trial->result->access;
	plan_given(stage, trial);
	if (trial->access.kind == ACCESS_PATH)
		plan_path(stage, trial);
	else
		plan_others(stage, trial);
	if (trial->verdict.unenforced)
		leave(trial, "nothing enforces it at this level");
}

bool
test_trial_compares(const struct test_trial *trial)
{
	return trial->untried == NULL && trial->kind == SBX_TRY_CALL;
}

/* --- answers -------------------------------------------------------------- */

enum meaning { WAS_ALLOWED, WAS_DENIED, TELLS_NOTHING };

static enum meaning
path_meaning(const struct test_trial *trial)
{
	switch (trial->answer.answer) {
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

/* Landlock is asked before all that could fail otherwise, but for the port of
 * a server that takes a privilege, which fails in the same way. */
static enum meaning
port_meaning(const struct test_trial *trial)
{
	int answer = trial->answer.answer;

	if (trial->answer.socket != 0)
		return WAS_DENIED;
	if (answer != EACCES && answer != EPERM)
		return WAS_ALLOWED;
	return trial->kind == SBX_TRY_LISTEN &&
		trial->number < PRIVILEGED_PORTS ?
	    TELLS_NOTHING :
	    WAS_DENIED;
}

static bool
is_refusal(int answer)
{
	return answer == EPERM || answer == EACCES || answer == ENOSYS ||
	    answer <= SBX_TRIAL_SIGNAL;
}

/* The call fails in any case; how it does so without a sandbox tells the
 * filter's answer from the kernel's own. */
static enum meaning
call_meaning(const struct test_trial *trial)
{
	int answer = trial->answer.answer, outside = trial->outside.answer;

	if (outside == SBX_TRIAL_NONE || outside == SBX_TRIAL_UNABLE)
		return TELLS_NOTHING;
	if (answer == outside)
		return is_refusal(answer) ? TELLS_NOTHING : WAS_ALLOWED;
	if (!is_refusal(answer))
		return WAS_ALLOWED;
	/* Root loses capabilities, with the same answer. */
	return trial->verdict.allowed && answer == EPERM && geteuid() == 0 ?
	    TELLS_NOTHING :
	    WAS_DENIED;
}

static enum meaning
meaning_of(const struct test_trial *trial)
{
	if (trial->answer.answer == SBX_TRIAL_UNABLE)
		return TELLS_NOTHING;
	switch (trial->kind) {
	case SBX_TRY_CONNECT:
	case SBX_TRY_LISTEN:
		return port_meaning(trial);
	case SBX_TRY_ENV:
		return trial->answer.answer == 0 ? WAS_ALLOWED : WAS_DENIED;
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
differs(const struct test_stage *stage, struct test_trial *trial,
    const char *line)
{
	struct test_result *result = trial->result;

	result->live = LIVE_DIFFERS;
	result->message = arena_printf(stage->tree->arena, "%s\n%s", line,
	    result->message != NULL ? result->message : "");
	result->passed = false;
}

/* Here the model says something else than where the test file places it. */
static bool
model_differs(const struct test_stage *stage, struct test_trial *trial)
{
	const struct test_result *result = trial->result;

	if (trial->verdict.allowed == result->verdict.allowed)
		return false;
	differs(stage, trial,
	    arena_printf(stage->tree->arena,
		"on this machine it is %s at level %s (Landlock ABI %d%s%s)",
		trial->verdict.allowed ? "allowed" : "denied",
		level_word(stage->subject.level), stage->machine->abi,
		trial->access.kind == ACCESS_PATH ? ", tried at " : "",
		trial->access.kind == ACCESS_PATH ? trial->text : ""));
	return true;
}

void
test_trial_judge(const struct test_stage *stage, struct test_trial *trial)
{
	struct test_result *result = trial->result;
	const char *answer = answer_text(stage->tree->arena,
	    trial->answer.answer);
	enum meaning meaning = trial->untried == NULL ? meaning_of(trial) :
							TELLS_NOTHING;

	if (trial->untried == NULL && model_differs(stage, trial))
		return;
	if (meaning == TELLS_NOTHING) {
		result->live = LIVE_UNTRIED;
		result->why_untried = trial->untried != NULL ?
		    trial->untried :
		    trial->answer.answer == SBX_TRIAL_UNABLE ?
		    "the policy denies what it takes to try it" :
		    arena_printf(stage->tree->arena,
			"the answer, %s, tells "
			"nothing",
			answer);
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
