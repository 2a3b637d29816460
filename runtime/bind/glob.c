/*
 * Globs: which places match a pattern now.  The walk goes only where a match
 * can lie and follows no symbolic link.  It does not look into what matches,
 * since a match stands for all that lies in it.  It is bounded: what would make
 * it endless may have been put there by an earlier run.
 */
#include "runtime/bind/binder.h"

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A search in progress; `path` is the directory that it is in. */
struct walk {
	struct glob_search *search;
	struct sbx_glob glob;
	struct path path;
	unsigned depth;
};

/* --- what ends a search --------------------------------------------------- */

static void
fail(struct walk *walk, const char *fault, int error)
{
	walk->search->fault = fault;
	walk->search->error = error;
}

/* Whether somebody else keeps it shut, or the directory that it is in. */
static bool
is_of_others(int parent, const char *name)
{
	struct stat status;

	if (fstatat(parent, name, &status,
		AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 &&
	    fstatat(parent, "", &status, AT_EMPTY_PATH) != 0)
		return false;
	return status.st_uid != geteuid();
}

/*
 * A directory does not open.  What went away, or is a link now, is passed over.
 * So is what somebody else keeps shut: the sandbox cannot look into it either.
 * The owner of a directory, however, can open it up again.
 */
static void
note_closed(struct walk *walk, int parent, const char *name)
{
	int error = errno;

	if (error == ENOENT || error == ENOTDIR || error == ELOOP)
		return;
	if (error == EACCES &&
	    (walk->search->gives || is_of_others(parent, name)))
		walk->search->closed++;
	else
		fail(walk,
		    "cannot look into a directory that the glob leads to",
		    error);
}

static bool
count_entry(struct walk *walk)
{
	if (walk->search->entries++ < GLOB_MAX_ENTRIES)
		return true;
	fail(walk,
	    "the policy's globs meet more directory entries than the "
	    "bound of 262144",
	    0);
	return false;
}

/* --- the walk ------------------------------------------------------------- */

static void walk_directory(struct walk *walk, int fd, uint64_t states);

static void
add_match(struct walk *walk)
{
	struct glob_search *search = walk->search;

	if (search->count == GLOB_MAX_MATCHES) {
		fail(walk,
		    "the policy's globs match more than the bound of "
		    "4096 places",
		    0);
		return;
	}
	search->matches[search->count++] = arena_copy(search->arena,
	    (struct sbx_place){ walk->path.text, walk->path.len });
}

static void
descend(struct walk *walk, int parent, const char *name, uint64_t states)
{
	int fd;

	if (walk->depth == GLOB_MAX_DEPTH) {
		fail(walk,
		    "the glob leads deeper than the bound of 128 directories",
		    0);
		return;
	}
	fd = openat(parent, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note_closed(walk, parent, name);
		return;
	}
	walk->depth++;
	walk_directory(walk, fd, states);
	walk->depth--;
	close(fd);
}

static void
walk_entry(struct walk *walk, int parent, const char *name, uint8_t type,
    uint64_t states)
{
	size_t len = strlen(name);
	uint32_t before = walk->path.len;
	bool matches;

	states = sbx_glob_step(&walk->glob, states, name, len);
	matches = sbx_glob_matches(&walk->glob, states);
	if (states == 0 ||
	    (!matches && type != ENTRY_DIRECTORY && type != ENTRY_UNKNOWN))
		return;
	if (!path_push(&walk->path, name, len)) {
		fail(walk, "a path that the glob leads to is too long",
		    ENAMETOOLONG);
		return;
	}
	if (matches)
		add_match(walk);
	else
		descend(walk, parent, name, states);
	path_cut(&walk->path, before);
}

static void
walk_entries(struct walk *walk, int fd, uint64_t states)
{
	const struct entry *entry;
	struct directory directory;

	directory_begin(&directory, fd);
	while ((entry = directory_next(&directory)) != NULL) {
		if (!count_entry(walk))
			return;
		walk_entry(walk, fd, entry->name, entry->type, states);
		if (walk->search->fault != NULL)
			return;
	}
	if (directory.len < 0 && errno != ENOENT)
		fail(walk, "cannot list a directory that the glob leads to",
		    errno);
}

/* Where only one name can come next, the directory need not be listed. */
static void
walk_directory(struct walk *walk, int fd, uint64_t states)
{
	int only = sbx_glob_only(&walk->glob, states);
	struct stat status;
	char name[256];

	if (only < 0) {
		walk_entries(walk, fd, states);
		return;
	}
	if (walk->glob.lens[only] >= sizeof name || !count_entry(walk))
		return;
	memcpy(name, walk->glob.parts[only], walk->glob.lens[only]);
	name[walk->glob.lens[only]] = '\0';
	if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		walk_entry(walk, fd, name,
		    S_ISDIR(status.st_mode) ? ENTRY_DIRECTORY : ENTRY_LINK,
		    states);
	else if (errno != ENOENT)
		note_closed(walk, fd, "");
}

void
glob_find(struct glob_search *search, struct sbx_place place, const char *name,
    const char *pattern)
{
	struct walk walk = { .search = search, .path.len = place.len };
	uint64_t states;
	int fd;

	search->closed = 0;
	search->fault = NULL;
	if (!sbx_glob_parse(pattern, &walk.glob))
		return;
	memcpy(walk.path.text, place.path, place.len);
	states = sbx_glob_start(&walk.glob);
	if (name != NULL)
		states = sbx_glob_step(&walk.glob, states, name, strlen(name));
	if (sbx_glob_matches(&walk.glob, states)) {
		add_match(&walk);
		return;
	}
	fd = open_place(place, O_RDONLY | O_DIRECTORY);
	if (fd < 0) {
		note_closed(&walk, AT_FDCWD, path_of(place));
		return;
	}
	walk_directory(&walk, fd, states);
	close(fd);
}
