/* See setup.h: the workspace, and what in it runs without being asked. */
#include "compiler/base/base.h"
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINK_DEPTH = 3,
	LINK_ENTRIES = 20000, /* that are looked at */
	LINKS_TOLD = 3,
	LATER_TOLD = 12,
};

static bool
is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

/* --- the repository ------------------------------------------------------- */

/* A plain file; to open a named pipe would wait for its other end. */
static FILE *
open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	FILE *stream = NULL;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		stream = fdopen(fd, "r");
	if (fd >= 0 && stream == NULL)
		close(fd);
	return stream;
}

/* Where the file .git of a worktree or a submodule leads, without links; NULL
 * if it is a directory. */
static const char *
find_git_directory(struct doctor *doctor, const char *top)
{
	FILE *stream = open_file(arena_printf(doctor->arena, "%s/.git", top));
	char line[PATH_MAX + 16] = "", *real;
	const char *path = NULL;

	if (stream == NULL)
		return NULL;
	if (fgets(line, sizeof line, stream) == NULL ||
	    strncmp(line, "gitdir: ", 8) != 0)
		line[0] = '\0';
	fclose(stream);
	if (line[0] == '\0')
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	real = realpath(line[8] == '/' ?
		line + 8 :
		arena_printf(doctor->arena, "%s/%s", top, line + 8),
	    NULL);
	if (real != NULL)
		path = arena_strndup(doctor->arena, real, strlen(real));
	free(real);
	return path;
}

/* Whether git would take it for a repository: an empty file or directory .git,
 * which others may leave in /tmp, is none. */
static bool
is_top(struct doctor *doctor, const char *path)
{
	return is_there(arena_printf(doctor->arena, "%s/.git/HEAD", path)) ||
	    find_git_directory(doctor, path) != NULL;
}

/* The nearest directory at or above the workspace that is a repository; or
 * NULL. */
static const char *
find_top(struct doctor *doctor)
{
	char *path = arena_strndup(doctor->arena, doctor->workspace,
	    strlen(doctor->workspace));

	while (*path != '\0') {
		if (is_top(doctor, path))
			return path;
		*strrchr(path, '/') = '\0';
	}
	return NULL;
}

/* A linked worktree shares the directory of the repository that it is of. */
static const char *
find_common(struct doctor *doctor, const char *directory)
{
	char *real =
	    realpath(arena_printf(doctor->arena, "%s/../..", directory), NULL);
	const char *common = directory;

	if (real != NULL &&
	    is_there(arena_printf(doctor->arena, "%s/commondir", directory)))
		common = arena_strndup(doctor->arena, real, strlen(real));
	free(real);
	return common;
}

static void
say_git(struct doctor *doctor)
{
	const char *top = find_top(doctor), *directory;

	if (top == NULL)
		return;
	directory = find_git_directory(doctor, top);
	if (directory != NULL)
		directory = find_common(doctor, directory);
	if (strcmp(top, doctor->workspace) != 0)
		doctor_find(doctor, FINDING_FIX, "workspace",
		    arena_printf(doctor->arena,
			"git finds no repository inside: the working tree "
			"begins at %s",
			shown_text(doctor->arena, top)),
		    "sbxrun -w auto ...");
	if (directory != NULL && !path_lies_in(directory, doctor->workspace) &&
	    !doctor_allows(doctor, "write", directory))
		doctor_find(doctor, FINDING_FIX, "workspace",
		    arena_printf(doctor->arena,
			"a linked worktree or submodule: git writes to %s, "
			"which the policy does not allow",
			shown_text(doctor->arena, directory)),
		    "sbxrun -w auto ...");
}

/* --- the directory -------------------------------------------------------- */

static void
say_place(struct doctor *doctor)
{
	const char *workspace = doctor->workspace, *home = doctor->home;
	const char *scratch = arena_printf(doctor->arena, "/tmp/sbx-%u",
	    geteuid());
	struct stat status = { .st_mode = 0 };

	if (strcmp(workspace, "/") == 0) {
		doctor_find(doctor, FINDING_FIX, "workspace",
		    "/ is no workspace: sbxrun refuses it", "cd PROJECT");
		return;
	}
	if (path_lies_in(scratch, workspace) ||
	    path_lies_in(workspace, scratch)) {
		doctor_find(doctor, FINDING_FIX, "workspace",
		    "sbx keeps its own directory in /tmp: sbxrun refuses it as "
		    "a workspace",
		    "cd PROJECT, or sbxrun -w PROJECT ...");
		return;
	}
	if (home != NULL && path_lies_in(home, workspace))
		doctor_find(doctor, FINDING_FIX, "workspace",
		    strcmp(home, workspace) == 0 ?
			"it is the home directory: commands may write the "
			"files that your shell runs at its start" :
			"the home directory lies in it: commands may write the "
			"files that your shell runs at its start",
		    "cd PROJECT, or sbxrun -w PROJECT ...");
	else
		doctor_find(doctor, FINDING_GOOD, "workspace", workspace, NULL);
	if (stat(workspace, &status) != 0 || status.st_uid != geteuid())
		doctor_find(doctor, FINDING_NOTE, "workspace",
		    "it belongs to another user", NULL);
	else if ((status.st_mode & S_IWOTH) != 0)
		doctor_find(doctor, FINDING_NOTE, "workspace",
		    "every user may write to it",
		    arena_printf(doctor->arena, "chmod o-w %s",
			shell_word(doctor->arena, workspace)));
	if (access(workspace, W_OK) != 0)
		doctor_find(doctor, FINDING_NOTE, "workspace",
		    "you may not write to it, and so commands cannot either",
		    NULL);
}

/* --- links that lead out -------------------------------------------------- */

struct links {
	struct doctor *doctor;
	unsigned entries, told, more;
};

/* The rule that shows what a link leads to, if that gives away no credentials,
 * no home and the like; the link may be another's trap. */
static const char *
advice_for(struct doctor *doctor, const char *path)
{
	const char *words[] = { "read", path };
	struct access access;
	struct verdict verdict;
	struct remedy remedy;

	if ((doctor->home != NULL && path_lies_in(doctor->home, path)) ||
	    access_parse(&doctor->subject->places, words, countof(words),
		&access) != NULL)
		return NULL;
	access.outside = true;
	verdict = verdict_of(doctor->subject, &access);
	remedy = remedy_find(doctor->subject, &access, &verdict);
	if (!remedy_works(&remedy) || remedy.steps.count != 1 ||
	    remedy.steps.items[0].what != REMEDY_ADD)
		return NULL;
	return arena_printf(doctor->arena,
	    "add to the policy, if it is wanted: %s",
	    remedy_words(doctor->arena, &remedy, 0));
}

/* A link is told of if something is there that the policy does not show. */
static void
judge_link(struct links *links, const char *path)
{
	struct doctor *doctor = links->doctor;
	char *real = realpath(path, NULL);

	if (real != NULL && !path_lies_in(real, doctor->workspace) &&
	    !doctor_allows(doctor, "read", real)) {
		if (links->told++ < LINKS_TOLD)
			doctor_find(doctor, FINDING_NOTE, "links",
			    arena_printf(doctor->arena,
				"%s leads out of the workspace, to %s, which "
				"the policy does not show",
				shown_text(doctor->arena, path),
				shown_text(doctor->arena, real)),
			    advice_for(doctor, real));
		else
			links->more++;
	}
	free(real);
}

static void
walk_links(struct links *links, const char *directory, int depth)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;

	while (stream != NULL && (entry = readdir(stream)) != NULL &&
	    links->entries++ < LINK_ENTRIES) {
		const char *path = arena_printf(links->doctor->arena, "%s/%s",
		    directory, entry->d_name);

		if (entry->d_type == DT_LNK)
			judge_link(links, path);
		else if (entry->d_type == DT_DIR && depth > 1 &&
		    entry->d_name[0] != '.')
			walk_links(links, path, depth - 1);
	}
	if (stream != NULL)
		closedir(stream);
}

static void
say_links(struct doctor *doctor)
{
	struct links links = { .doctor = doctor };

	walk_links(&links, doctor->workspace, LINK_DEPTH);
	if (links.more > 0)
		doctor_find(doctor, FINDING_NOTE, "links",
		    arena_printf(doctor->arena, "%u more such links",
			links.more),
		    NULL);
}

void
doctor_project(struct doctor *doctor)
{
	say_place(doctor);
	if (strcmp(doctor->workspace, "/") == 0)
		return;
	say_git(doctor);
	say_links(doctor);
}

/* --- what runs later ------------------------------------------------------ */

struct later {
	struct doctor *doctor;
	const char *text;
	unsigned count;
};

static void
add_later(struct later *later, const char *path)
{
	size_t len = strlen(later->doctor->workspace);
	const char *name = path_lies_in(path, later->doctor->workspace) ?
	    path + len + (path[len] == '/') :
	    path;

	/* A name that ls would take for an option. */
	if (*name == '-')
		name = arena_printf(later->doctor->arena, "./%s", name);
	if (later->count++ < LATER_TOLD)
		later->text = arena_printf(later->doctor->arena, "%s%s%s",
		    later->text, *later->text == '\0' ? "" : " ",
		    shell_word(later->doctor->arena, name));
}

/* Hooks that git runs: executable, and not one of its samples. */
static void
add_hooks(struct later *later, const char *top)
{
	const char *directory = arena_printf(later->doctor->arena,
	    "%s/.git/hooks", top);
	DIR *stream = opendir(directory);
	struct dirent *entry;

	while (stream != NULL && (entry = readdir(stream)) != NULL) {
		const char *path = arena_printf(later->doctor->arena, "%s/%s",
		    directory, entry->d_name);
		const char *dot = strrchr(entry->d_name, '.');
		struct stat status;

		if ((dot == NULL || strcmp(dot, ".sample") != 0) &&
		    stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		    (status.st_mode & 0111) != 0)
			add_later(later, path);
	}
	if (stream != NULL)
		closedir(stream);
}

/* The policy's own list of what others run: a watch each. */
void
doctor_later(struct doctor *doctor)
{
	const struct json_t *watches = json_member(doctor->plan, "watches");
	struct later later = { .doctor = doctor, .text = "" };

	for (size_t i = 0; i < json_count(watches); i++) {
		const struct json_t *watch = json_item(watches, i);
		const char *path = json_text(watch, "path");
		const char *words = json_text(watch, "rule");

		if (path == NULL || words == NULL ||
		    !path_lies_in(path, doctor->workspace))
			continue;
		if (strcmp(words, "watch git") == 0)
			add_hooks(&later, path);
		else if (is_there(path))
			add_later(&later, path);
	}
	if (later.count == 0)
		return;
	doctor_find(doctor, FINDING_NOTE, "runs later",
	    arena_printf(doctor->arena,
		"git, editors, agents or shells act on %u thing%s here without "
		"being asked; read them before you use the project unconfined",
		later.count, later.count == 1 ? "" : "s"),
	    arena_printf(doctor->arena, "ls -l %s%s", later.text,
		later.count > LATER_TOLD ? " ..." : ""));
}
