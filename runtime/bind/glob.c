#include "runtime/bind/glob.h"

#include "format/glob.h"
#include "runtime/base/kernel.h"
#include "runtime/bind/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
	struct glob_search *search;
	struct sbx_glob glob;
	uint32_t len; /* of the directory's path, which begins `path` */
	char path[SBX_MAX_PATH + 1];
};

/* --- what ends a search --------------------------------------------------- */

static void
fail(struct walk *walk, const char *fault, int error)
{
	walk->search->fault = fault;
	walk->search->error = error;
}

/* Somebody else keeps it shut, or the directory that it is in. */
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
 * Why a directory does not open.  What went away, or is a link now, is passed
 * over.  So is what somebody else keeps shut, for the sandbox cannot look into
 * it either; but who owns a directory can open it up again.
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
		    "cannot look into a directory that the glob leads "
		    "to",
		    error);
}

/* --- the walk ------------------------------------------------------------- */

static void walk_directory(struct walk *walk, int fd, uint64_t states,
    unsigned depth);

/* Puts a name behind the path; false if it does not fit. */
static bool
push(struct walk *walk, const char *name, size_t len)
{
	if (walk->len + 1 + len > SBX_MAX_PATH) {
		fail(walk, "a path that the glob leads to is too long",
		    ENAMETOOLONG);
		return false;
	}
	walk->path[walk->len] = '/';
	memcpy(walk->path + walk->len + 1, name, len);
	walk->len += 1 + (uint32_t)len;
	walk->path[walk->len] = '\0';
	return true;
}

static void
add_match(struct walk *walk)
{
	static const struct sbx_place nothing = { "", 0 };
	struct glob_search *search = walk->search;

	if (search->matches == GLOB_MAX_MATCHES) {
		fail(walk,
		    "the policy's globs match more than the bound of "
		    "4096 places",
		    0);
		return;
	}
	search->matches++;
	search->visit(search->context,
	    arena_join(search->arena,
		(struct sbx_place){ walk->path, walk->len }, nothing));
}

static void
descend(struct walk *walk, int parent, const char *name, uint64_t states,
    unsigned depth)
{
	int fd;

	if (depth == GLOB_MAX_DEPTH) {
		fail(walk,
		    "the glob leads deeper than the bound of 128 "
		    "directories",
		    0);
		return;
	}
	fd = openat(parent, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note_closed(walk, parent, name);
		return;
	}
	walk_directory(walk, fd, states, depth + 1);
	close(fd);
}

static void
walk_entry(struct walk *walk, int parent, const char *name, uint8_t type,
    uint64_t states, unsigned depth)
{
	size_t len = strlen(name);
	uint32_t mark = walk->len;

	states = sbx_glob_step(&walk->glob, states, name, len);
	if (states == 0)
		return;
	if (sbx_glob_matches(&walk->glob, states)) {
		if (push(walk, name, len))
			add_match(walk);
	} else if (type == ENTRY_DIRECTORY || type == ENTRY_UNKNOWN) {
		if (push(walk, name, len))
			descend(walk, parent, name, states, depth);
	}
	walk->len = mark;
	walk->path[mark] = '\0';
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

static bool
is_dot(const char *name)
{
	return name[0] == '.' &&
	    (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void
walk_entries(struct walk *walk, int fd, uint64_t states, unsigned depth)
{
	_Alignas(struct entry) char buffer[4096];
	long len;

	while ((len = read_entries(fd, buffer, sizeof buffer)) > 0) {
		for (long at = 0; at < len;) {
			const struct entry *entry = (const void *)(buffer + at);

			at += entry->size;
			if (is_dot(entry->name))
				continue;
			if (!count_entry(walk))
				return;
			walk_entry(walk, fd, entry->name, entry->type, states,
			    depth);
			if (walk->search->fault != NULL)
				return;
		}
	}
	if (len < 0 && errno != ENOENT)
		fail(walk, "cannot list a directory that the glob leads to",
		    errno);
}

/* Where one name alone can come next, the directory need not be listed. */
static void
walk_directory(struct walk *walk, int fd, uint64_t states, unsigned depth)
{
	int only = sbx_glob_only(&walk->glob, states);
	struct stat status;
	char name[256];

	if (only < 0) {
		walk_entries(walk, fd, states, depth);
		return;
	}
	if (walk->glob.lens[only] >= sizeof name || !count_entry(walk))
		return;
	memcpy(name, walk->glob.parts[only], walk->glob.lens[only]);
	name[walk->glob.lens[only]] = '\0';
	if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		walk_entry(walk, fd, name,
		    S_ISDIR(status.st_mode) ? ENTRY_DIRECTORY : ENTRY_LINK,
		    states, depth);
	else if (errno != ENOENT)
		note_closed(walk, fd, "");
}

void
glob_find(struct glob_search *search, struct sbx_place place,
    const char *pattern)
{
	struct walk walk = { .search = search, .len = place.len };
	const char *path = place.len == 0 ? "/" : place.path;
	int fd;

	if (!sbx_glob_parse(pattern, &walk.glob))
		return;
	memcpy(walk.path, place.path, place.len);
	fd = resolve_directory(place);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note_closed(&walk, AT_FDCWD, path);
		return;
	}
	walk_directory(&walk, fd, sbx_glob_start(&walk.glob), 0);
	close(fd);
}
