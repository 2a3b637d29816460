/*
 * `sbxc init [WHAT [FILE]]`: finds the directories, and the part of setup/ that
 * fills in what is to be written.
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"
#include "compiler/command/commands.h"
#include "compiler/setup/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct subject_of_init {
	const char *name;
	enum exit_status (*fill)(struct init *init);
	bool takes_file;
	const char *file; /* unless one is named */
};

/* Beside the agents of clients.c. */
static const struct subject_of_init subjects[] = {
	{ "mcp", init_mcp, true, ".mcp.json" },
	{ "vscode", init_vscode, true, NULL },
	{ "git", init_git, false, NULL },
	{ "npm", init_npm, false, NULL },
};

static const struct subject_of_init agents = { NULL, init_agent, false, NULL };

static const struct subject_of_init *
find_subject(const char *name)
{
	for (size_t i = 0; i < countof(subjects); i++) {
		if (strcmp(subjects[i].name, name) == 0)
			return &subjects[i];
	}
	return client_find(name) != NULL ? &agents : NULL;
}

static enum exit_status
unknown_subject(struct arena *arena, const char *name)
{
	VEC(const char *) names = { .count = 0 };
	const char *near, *list = "";

	for (size_t i = 0; i < client_count; i++)
		*arena_push(arena, &names) = clients[i].name;
	for (size_t i = 0; i < countof(subjects); i++)
		*arena_push(arena, &names) = subjects[i].name;
	for (size_t i = 0; i < names.count; i++)
		list = arena_printf(arena, "%s%s%s", list,
		    i == 0                  ? "" :
			i + 1 < names.count ? ", " :
					      " and ",
		    names.items[i]);
	near = nearest_name(name, names.items, names.count);
	return misused("'%s' is none of %s%s%s%s", name, list,
	    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
	    near != NULL ? "'?" : "");
}

/* A directory without links, in a text of the arena; NULL after complaining. */
static const char *
directory_find(struct arena *arena, const char *path)
{
	char *real = path != NULL && *path == '/' ? realpath(path, NULL) : NULL;
	const char *copy = NULL;

	if (path == NULL || *path == '\0')
		complain("HOME is not set: it says for whom this is to be set "
			 "up");
	else if (real == NULL)
		complain("HOME is '%s', which is no directory", path);
	else
		copy = arena_strndup(arena, real, strlen(real));
	free(real);
	return copy;
}

/* A file by its directory, in which no link is followed: a project could have it
 * lead anywhere.  NULL after complaining. */
static const char *
file_find(struct arena *arena, const char *path)
{
	char *here = *path == '/' ? NULL : realpath(".", NULL);
	const char *file = NULL, *directory = NULL;
	struct settings_place place = { .directory = -1 };

	if (*path == '/' || here != NULL)
		file = arena_printf(arena, "%s%s%s", here != NULL ? here : "",
		    here != NULL ? "/" : "", path);
	free(here);
	if (file != NULL && place_open(&place, arena, file, false))
		directory = place_path(&place, arena);
	if (directory != NULL)
		file = arena_printf(arena, "%s/%s",
		    strcmp(directory, "/") == 0 ? "" : directory, place.name);
	else if (errno == ELOOP)
		complain("'%s' lies behind a symbolic link, and is left alone",
		    path);
	else
		complain_unread(path);
	place_close(&place);
	return directory != NULL ? file : NULL;
}

/* What is set up for one repository or one file has a record of its own. */
static const char *
record_path(const struct init *init, const struct subject_of_init *subject)
{
	const char *of = init->file;

	if (subject->fill == init_git)
		of = file_find(init->arena, "./");
	return arena_printf(init->arena, "%s/init/%s%s%s.json",
	    init->configuration, init->what, of == NULL ? "" : "-",
	    of == NULL ? "" : record_key(init->arena, of));
}

static enum exit_status
fill(struct init *init, const struct subject_of_init *subject)
{
	struct stat status;

	if (init->file != NULL) {
		init->file = file_find(init->arena, init->file);
		if (init->file == NULL)
			return EXIT_TROUBLE;
	}
	init->changes.record = record_path(init, subject);
	if (init->options->undo)
		return record_undo(init->arena, init->changes.record) ?
		    EXIT_CLEAN :
		    EXIT_TROUBLE;
	if (lstat(init->changes.record, &status) == 0) {
		complain("%s is set up already; 'sbxc init %s%s%s --undo' "
			 "undoes it",
		    init->what, init->what, init->file != NULL ? " " : "",
		    init->file != NULL ? init->file : "");
		return EXIT_TROUBLE;
	}
	return subject->fill(init);
}

static enum exit_status
prepare(struct init *init, const struct options *options)
{
	struct arena *arena = options->arena;

	init->home = directory_find(arena, getenv("HOME"));
	if (init->home == NULL)
		return EXIT_TROUBLE;
	init->configuration = init_configuration(arena, init->home);
	init->sbxrun = machine_sbxrun(arena);
	if (init->sbxrun != NULL)
		return EXIT_CLEAN;
	complain("sbxrun is neither beside sbxc nor in PATH; SBXRUN names it");
	return EXIT_TROUBLE;
}

enum exit_status
command_init(struct options *options)
{
	const struct words *operands = &options->operands;
	struct init init = { .arena = options->arena, .options = options };
	const struct subject_of_init *subject = NULL;
	enum exit_status status;

	init.changes.arena = options->arena;
	if (operands->list.count > 0) {
		init.what = operands->list.items[0];
		subject = find_subject(init.what);
		if (subject == NULL)
			return unknown_subject(options->arena, init.what);
		init.file = operands->list.count > 1 ? operands->list.items[1] :
						       subject->file;
	}
	if (operands->list.count >
	    (subject != NULL && subject->takes_file) + 1U)
		return misused("init takes one of the clients%s",
		    subject != NULL ? ", and no file for this one" : "");
	if (options->undo && subject == NULL)
		return misused("--undo goes with a client, as in 'sbxc init "
			       "claude --undo'; a project's policy is in the "
			       "directory 'sandbox': remove that");
	status = prepare(&init, options);
	if (status == EXIT_CLEAN)
		status = subject != NULL ? fill(&init, subject) :
					   init_project(&init);
	if (status != EXIT_CLEAN || options->undo)
		return status;
	return init_apply(&init);
}
