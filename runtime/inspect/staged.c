/*
 * --staged: to compare and copy trees takes heap, so it is sbxc that does it.  It
 * reads what commands wrote: so it becomes unable to change anything but the stage
 * and, to apply it, the workspace.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { STAGE = 3, WORKSPACE, DESCRIPTORS_END }; /* sbxc knows them */

static const char option[] = "--staged";

/* The one that was named, or that of the workspace in which we are. */
static void
find_name(const struct options *options, struct arena *arena,
    struct staging *stage)
{
	struct options here = *options;
	struct followed found;

	if (options->stage != NULL) {
		memcpy(stage->name, options->stage, strlen(options->stage) + 1);
		return;
	}
	if (here.workspace == NULL || strcmp(here.workspace, "auto") == 0) {
		here.workspace = NULL;
		project_find(arena, &here);
	}
	found = follow_given(arena,
	    here.workspace != NULL ? here.workspace : ".");
	if (found.fd < 0 || found.at.len == 0)
		refuse(here.workspace, "no such workspace", found.error);
	stage_name(stage, found.at);
}

static void
hand_over(int fd, int number)
{
	if (fd < 0 || (fd != number && dup2(fd, number) < 0) ||
	    fcntl(number, F_SETFD, 0) != 0)
		refuse(option, "cannot hand the stage to sbxc", errno);
}

/* Opens the stage for sbxc, and the workspace, if it is there. */
static void
open_one(const struct staging *stage, bool changes)
{
	int fd = stage_find(stage->name);

	if (fd < 0 && errno == ENOENT)
		refuse(stage->name,
		    "there is no stage of this name; sbxrun --staged lists "
		    "them",
		    0);
	if (fd < 0)
		refuse(stage->name, "cannot open the stage", errno);
	if (changes && !stage_lock(fd))
		refuse(stage->name,
		    "a run or a session has this stage; wait until it has "
		    "ended",
		    0);
	hand_over(fd, STAGE);
}

static void
open_workspace(const struct staging *stage)
{
	struct sbx_stage about;
	struct path workspace;
	int fd;

	stage_read(STAGE, stage->name, &about, &workspace);
	fd = open_unlinked(AT_FDCWD, workspace.text, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		hand_over(fd, WORKSPACE);
}

/* A list takes no more words: who typed one meant something else. */
static void
check_words(const char *verb, char *const *given)
{
	static const char *const verbs[] = { "list", "diff", "apply",
		"discard" };

	for (size_t i = 0; i < countof(verbs); i++) {
		if (strcmp(verb, verbs[i]) == 0 && (i > 0 || *given == NULL))
			return;
	}
	refuse(strcmp(verb, verbs[0]) == 0 ? *given : verb,
	    "--staged takes list, diff, apply or discard, and a stage's name "
	    "as --staged=NAME",
	    0);
}

void
staged_run(const struct options *options, struct arena *arena)
{
	static const char name[] = "sbxc", staged[] = "staged",
			  json[] = "--json", list[] = "list";
	const char *words[6 + OPTIONS_MAX_STAGED] = { name, staged };
	char **given = options->command;
	const char *verb = *given != NULL && **given != '-' ? *given++ : list;
	bool discards = strcmp(verb, "discard") == 0;
	bool changes = discards || strcmp(verb, "apply") == 0;
	int found = own_state(SBX_STAGES), stages, places[DESCRIPTORS_END];
	struct staging stage;
	struct path program;
	size_t count = 2, place_count = 0;

	check_words(verb, given);
	stages = found < 0 ? -1 :
			     fcntl(found, F_DUPFD_CLOEXEC, DESCRIPTORS_END);
	if (stages < 0)
		refuse(option, "cannot open ~" SBX_OWN_STATE, errno);
	close(STAGE);
	close(WORKSPACE);
	words[count++] = verb;
	if (options->json)
		words[count++] = json;
	if (strcmp(verb, list) == 0) {
		hand_over(openat(stages, ".",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		    STAGE);
	} else {
		find_name(options, arena, &stage);
		open_one(&stage, changes);
		if (discards)
			hand_over(stages, WORKSPACE);
		else
			open_workspace(&stage);
		words[count++] = stage.name;
	}
	while (*given != NULL && count < countof(words) - 1)
		words[count++] = *given++;
	if (*given != NULL)
		refuse(option, "too many paths", 0);
	words[count] = NULL;
	if (changes)
		places[place_count++] = STAGE;
	if (changes && fcntl(WORKSPACE, F_GETFD) >= 0)
		places[place_count++] = WORKSPACE;
	if (helper_path(&program) == NULL)
		refuse(option, "cannot tell where sbxrun lies", errno);
	if (!helper_confine_but(places, place_count))
		refuse(option, "cannot confine what reads the stage", errno);
	execv(program.text, (char *const *)words);
	refuse(program.text, "--staged needs sbxc beside sbxrun", errno);
}
