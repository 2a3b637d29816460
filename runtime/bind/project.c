/*
 * The command may write what is in the working tree, and so the file `.git` of a
 * linked working tree or a submodule, which says where the repository is: it
 * could name any other one.  So that repository must lead back to this working
 * tree, which only somebody can have written who could write there:
 *
 *	linked		GIT/worktrees/NAME/gitdir names the file `.git`
 *	submodule	the setting core.worktree in GIT/config names the tree
 *
 * Everything that counts on the way must belong to the user.  Nothing here is
 * executed, and a text that is not what git writes leads nowhere.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/binder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_CONFIG = 16 << 10 };

/* A name beside those of profiles, which are digits alone. */
static const char remembered[] = "project";

struct search {
	struct arena *arena;
	struct sbx_place top;  /* of the working tree */
	struct sbx_place file; /* its `.git` */
	int scratch;           /* TOP, or -1; not yet looked for: */
#define UNOPENED (-2)
	char text[MAX_CONFIG]; /* of the file that was read last */
};

static bool
is_ours(const char *path, mode_t type)
{
	struct stat status;

	return lstat(path, &status) == 0 && status.st_uid == geteuid() &&
	    (status.st_mode & S_IFMT) == type;
}

/* A place below another one; the names begin with a slash. */
static struct sbx_place
below(struct search *search, struct sbx_place at, const char *names)
{
	return arena_join(search->arena, at, sbx_place_of(names));
}

/* Reads a file of the user's, of which each byte is text; false otherwise. */
static bool
read_text(struct search *search, struct sbx_place file)
{
	size_t used = 0;
	ssize_t len = 0;
	int fd;

	if (!is_ours(path_of(file), S_IFREG))
		return false;
	fd = open(path_of(file),
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd >= 0 && used < sizeof search->text - 1 &&
	    (len = read(fd, search->text + used,
		 sizeof search->text - 1 - used)) > 0)
		used += (size_t)len;
	if (fd >= 0)
		close(fd);
	search->text[used] = '\0';
	return fd >= 0 && len == 0 && used > 0 &&
	    memchr(search->text, '\0', used) == NULL;
}

/* The place that a path in a file leads to, from the directory that it is
 * relative to; no length if it leads nowhere. */
static struct sbx_place
lead(struct search *search, struct sbx_place from, const char *path, size_t len)
{
	static const struct sbx_place nowhere = { "", 0 }, slash = { "/", 1 };
	struct sbx_place whole = { path, (uint32_t)len };
	struct followed found;

	if (len == 0 || len + from.len + 1 > SBX_MAX_PATH)
		return nowhere;
	whole = path[0] == '/' ?
	    arena_copy(search->arena, whole) :
	    arena_join(search->arena, arena_join(search->arena, from, slash),
		whole);
	found = follow_given(search->arena, whole.path);
	if (found.fd < 0)
		return nowhere;
	close(found.fd);
	return found.at;
}

/* Where the one line of a file leads to, after some word. */
static struct sbx_place
lead_by_file(struct search *search, struct sbx_place file, const char *word)
{
	size_t skip = strlen(word), len;

	if (!read_text(search, file) || strncmp(search->text, word, skip) != 0)
		return (struct sbx_place){ "", 0 };
	len = strcspn(search->text + skip, "\r\n");
	return lead(search, place_parent(file), search->text + skip, len);
}

/* --- the way back --------------------------------------------------------- */

/* The value of a line of git's settings, as git writes it; NULL: another key. */
static const char *
value_of(const char *line, const char *key, size_t *len)
{
	size_t key_len = strlen(key);

	line += strspn(line, " \t");
	if (strncasecmp(line, key, key_len) != 0)
		return NULL;
	line += key_len;
	line += strspn(line, " \t");
	if (*line++ != '=')
		return NULL;
	line += strspn(line, " \t");
	*len = strcspn(line, "\r\n");
	if (*len > 1 && line[0] == '"' && line[*len - 1] == '"') {
		line++;
		*len -= 2;
	}
	return line;
}

/* Where core.worktree leads to; the last one counts, as for git. */
static struct sbx_place
lead_by_settings(struct search *search, struct sbx_place git)
{
	struct sbx_place found = { "", 0 };
	bool core = false;

	if (!read_text(search, below(search, git, "/config")))
		return found;
	for (const char *line = search->text; *line != '\0';) {
		size_t len;
		const char *value;

		if (line[strspn(line, " \t")] == '[')
			core = strncasecmp(line, "[core]", 6) == 0;
		value = core ? value_of(line, "worktree", &len) : NULL;
		if (value != NULL)
			found = lead(search, git, value, len);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return found;
}

/* Whether this is GIT/worktrees/NAME. */
static bool
is_linked(struct sbx_place git, struct sbx_place own)
{
	struct sbx_place directory = place_parent(own);

	return directory.len == git.len + 10 && sbx_covers(git, directory) &&
	    memcmp(directory.path + git.len, "/worktrees", 10) == 0;
}

static bool
is_repository(struct search *search, struct sbx_place git)
{
	return is_ours(path_of(git), S_IFDIR) &&
	    is_ours(path_of(below(search, git, "/HEAD")), S_IFREG) &&
	    is_ours(path_of(below(search, git, "/objects")), S_IFDIR) &&
	    is_ours(path_of(below(search, git, "/refs")), S_IFDIR);
}

static bool
is_same(struct sbx_place a, struct sbx_place b)
{
	return a.len > 0 && sbx_place_compare(a, b) == 0;
}

/* The repository of the working tree, if it leads back; of no length if not. */
static struct sbx_place
find_repository(struct search *search)
{
	struct sbx_place own = lead_by_file(search, search->file, "gitdir: ");
	struct sbx_place git, back;

	/* place_parent() may share a text that does not end there. */
	if (own.len == 0 || !is_ours(path_of(own), S_IFDIR))
		return (struct sbx_place){ "", 0 };
	git = lead_by_file(search, below(search, own, "/commondir"), "");
	if (git.len > 0) {
		back = lead_by_file(search, below(search, own, "/gitdir"), "");
		if (!is_linked(git, own) || !is_same(back, search->file))
			git.len = 0;
	} else {
		git = own;
		back = lead_by_settings(search, git);
		if (!is_same(back, search->top))
			git.len = 0;
	}
	/* What a narrow policy let a command write may look like one. */
	if (git.len > 0 && (!is_repository(search, git) || scratch_holds(git)))
		git.len = 0;
	return git;
}

/* --- the top -------------------------------------------------------------- */

/* Whether a directory is a home of the user's, or above one. */
static bool
holds_home(struct search *search, struct sbx_place directory)
{
	char buffer[PASSWD_LINE];
	const char *homes[HOMES_MAX] = { getenv("HOME"),
		passwd_home(buffer, sizeof buffer) };

	for (size_t i = 0; i < HOMES_MAX; i++) {
		struct followed found;

		if (homes[i] == NULL || homes[i][0] != '/' ||
		    strlen(homes[i]) > SBX_MAX_PATH)
			continue;
		found = follow_given(search->arena, homes[i]);
		if (found.fd >= 0)
			close(found.fd);
		if (sbx_covers(directory, found.at))
			return true;
	}
	return false;
}

static bool
is_top(struct search *search)
{
	struct stat status;

	return lstat(path_of(search->file), &status) == 0 &&
	    status.st_uid == geteuid() &&
	    (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode));
}

/*
 * A command may remove the `.git` of a repository that lies in another one.  Then
 * that one would be the project of the next run, so it is remembered beside the
 * scratch directories what was one.
 */
static bool
was_top(struct search *search)
{
	if (search->scratch == UNOPENED)
		search->scratch = scratch_top();
	return scratch_has(search->scratch, search->top, remembered);
}

static void
remember_top(struct search *search, const struct options *options)
{
	char path[SCRATCH_PATH_SIZE];

	if (options->plan || options->clean)
		return;
	scratch_path(path, search->top, remembered, true, getenv("TMPDIR"));
}

/* Who may put a `.git` into a directory of others decides nothing here.  What is
 * remembered is believed no further than a `.git`. */
static bool
find_top(struct search *search, const struct options *options,
    struct sbx_place at)
{
	for (; at.len > 0; at = place_parent(at)) {
		bool is;

		/* First, since to ask whether it was one takes longest. */
		search->top = arena_copy(search->arena, at);
		if (!is_ours(path_of(search->top), S_IFDIR))
			continue;
		search->file = below(search, search->top, "/.git");
		is = is_top(search);
		if (!is && !was_top(search))
			continue;
		if (holds_home(search, search->top) ||
		    scratch_within(search->top))
			return false;
		if (is)
			remember_top(search, options);
		return true;
	}
	return false;
}

void
project_find(struct arena *arena, struct options *options)
{
	struct search *search = arena_take(arena, 1, sizeof *search);
	bool asked = options->workspace != NULL;
	char cwd[SBX_MAX_PATH + 1];
	struct sbx_place git;
	bool found;

	search->arena = arena;
	search->scratch = UNOPENED;
	options->workspace = NULL;
	if (current_path(cwd, sizeof cwd) < 0 || cwd[0] != '/')
		return;
	found = find_top(search, options, place_of(cwd));
	if (search->scratch >= 0)
		close(search->scratch);
	if (!found) {
		options->in_home = cwd[1] != '\0' &&
		    holds_home(search, place_of(cwd));
		if (asked && cwd[1] != '\0' && !options->clean &&
		    scratch_within(place_of(cwd)))
			options->workspace = "none";
		return;
	}
	options->workspace = path_of(search->top);
	if (!is_ours(path_of(search->file), S_IFREG))
		return;
	git = find_repository(search);
	if (git.len == 0)
		warn_about(path_of(search->file),
		    "it leads to no repository of yours that leads back here, "
		    "so git finds none",
		    0);
	else if (holds_home(search, git) || sbx_covers(git, search->top))
		warn_about(path_of(git),
		    "the repository of the workspace is around more than "
		    "itself, and stays shut",
		    0);
	else if (!sbx_covers(search->top, git))
		options->git = path_of(git);
}
