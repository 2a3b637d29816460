/*
 * One openat2(2) with RESOLVE_NO_SYMLINKS answers for nearly every path: if it
 * succeeds, or says that a component is missing, there was no link on the way
 * and the path need not be followed.  Only where it says ELOOP is each
 * component looked at.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_LINKS = 40 }; /* as in the kernel's path walk */

/* A path walk in progress: what has no links any more, and what is left. */
struct walk {
	struct arena *arena;
	struct path done;
	char rest[2 * SBX_MAX_PATH + 2];
	char *next;
	uint32_t link_count;
	struct sbx_place links[MAX_LINKS + 1]; /* with the one too many */
	int error; /* of the first component that cannot be looked at */
};

/* Cuts the next component off the rest; its length, 0 at the end. */
static size_t
walk_component(struct walk *walk, char **component)
{
	walk->next += strspn(walk->next, "/");
	*component = walk->next;
	walk->next += strcspn(walk->next, "/");
	return (size_t)(walk->next - *component);
}

static void
walk_up(struct walk *walk)
{
	path_cut(&walk->done,
	    place_parent((struct sbx_place){ walk->done.text, walk->done.len })
		.len);
}

static struct sbx_place
walk_place(const struct walk *walk)
{
	return arena_copy(walk->arena,
	    (struct sbx_place){ walk->done.text, walk->done.len });
}

/* Puts the target of a link in front of the rest. */
static void
walk_link(struct walk *walk, const char *target, size_t len)
{
	size_t left = strlen(walk->next);

	walk->links[walk->link_count++] = walk_place(walk);
	if (len + left > SBX_MAX_PATH || walk->link_count > MAX_LINKS) {
		walk->error = ELOOP;
		return;
	}
	memmove(walk->rest + len, walk->next, left + 1);
	memcpy(walk->rest, target, len);
	walk->next = walk->rest;
	if (target[0] == '/')
		path_cut(&walk->done, 0);
	else
		walk_up(walk);
}

/*
 * Before a slash the kernel takes nothing but a directory.  A further name says
 * so itself when it is looked at; "..", "." and the end do not.
 */
static bool
walk_expects_directory(const struct walk *walk)
{
	const char *next = walk->next + strspn(walk->next, "/");

	return next > walk->next && (*next == '.' || *next == '\0');
}

static int
directory_error(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return errno;
	return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

static void
walk_step(struct walk *walk, const char *name, size_t len)
{
	char target[SBX_MAX_PATH + 1];
	ssize_t target_len;

	if (len == 1 && name[0] == '.')
		return;
	if (len == 2 && memcmp(name, "..", 2) == 0) {
		walk_up(walk);
		return;
	}
	if (!path_push(&walk->done, name, len))
		walk->error = ENAMETOOLONG;
	if (walk->error != 0)
		return;
	target_len = readlink(walk->done.text, target, sizeof target);
	if (target_len >= 0)
		walk_link(walk, target, (size_t)target_len);
	else if (errno != EINVAL) /* it is there and is no link */
		walk->error = errno;
	else if (walk_expects_directory(walk))
		walk->error = directory_error(walk->done.text);
}

int
open_unlinked(int directory, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	int fd = openat2(directory, path, &how);

	if (fd < 0 && is_shortage(errno))
		refuse(path, "cannot open it now", errno);
	return fd;
}

int
open_place(struct sbx_place at, int flags)
{
	int fd = open_unlinked(AT_FDCWD, path_of(at), flags);

	/* Old filters of containers answer as if there were no openat2; each
	 * component has been looked at then. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path_of(at), flags | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

/* What openat2(2) says where the components have to be looked at. */
static bool
needs_walk(int error)
{
	return error == ELOOP || error == ENOSYS || error == EPERM;
}

/*
 * Whether a path, without its leading slash, has no "." or ".." in it and no
 * empty component.  A name that begins with a dot is taken for one of those.
 */
static bool
is_normal(const char *path, size_t len)
{
	return len > 0 && path[0] != '.' && path[0] != '/' &&
	    path[len - 1] != '/' && strstr(path, "/.") == NULL &&
	    strstr(path, "//") == NULL;
}

/* Tries the rest in one call. */
static bool
walk_rest(struct walk *walk, struct followed *found)
{
	size_t len = strlen(walk->next);
	uint32_t before = walk->done.len;

	if (!is_normal(walk->next, len) ||
	    !path_push(&walk->done, walk->next, len))
		return false;
	found->fd = open_unlinked(AT_FDCWD, walk->done.text, O_PATH);
	found->error = found->fd < 0 ? errno : 0;
	if (needs_walk(found->error)) {
		path_cut(&walk->done, before);
		return false;
	}
	return true;
}

/* Goes on component by component, until no more links are on the way. */
static void
walk_path(struct walk *walk, struct followed *found)
{
	char *component;
	size_t len;

	while ((len = walk_component(walk, &component)) > 0) {
		uint32_t before = walk->link_count;

		walk_step(walk, component, len);
		walk->next += strspn(walk->next, "/");
		if (walk->link_count > before && walk->error == 0 &&
		    walk_rest(walk, found))
			return;
	}
	found->error = walk->error;
	if (found->error == 0) {
		found->fd = open_place((struct sbx_place){ walk->done.text,
					   walk->done.len },
		    O_PATH);
		found->error = found->fd < 0 ? errno : 0;
	}
}

static struct followed
follow_slowly(struct arena *arena, struct sbx_place path)
{
	struct followed found = { .fd = -1 };
	struct sbx_place *links;
	struct walk walk;

	walk.arena = arena;
	path_cut(&walk.done, 0);
	walk.next = walk.rest;
	walk.link_count = 0;
	walk.error = 0;
	memcpy(walk.rest, path.path, path.len + 1);
	walk_path(&walk, &found);
	found.at = walk_place(&walk);
	found.link_count = walk.link_count;
	links = arena_take(arena, walk.link_count, sizeof *links);
	memcpy(links, walk.links, walk.link_count * sizeof *links);
	found.links = links;
	return found;
}

struct followed
follow(struct arena *arena, struct sbx_place path)
{
	struct followed found = { .at = path };

	found.fd = open_unlinked(AT_FDCWD, path_of(path), O_PATH);
	found.error = found.fd < 0 ? errno : 0;
	if (needs_walk(found.error))
		return follow_slowly(arena, path);
	return found;
}

struct followed
follow_below(struct arena *arena, const struct listings *listings,
    struct sbx_place parent, struct sbx_place path)
{
	struct followed found = { .at = path, .fd = -1 };
	uint32_t known = parent.len;
	char target;

	/* path[0, known) has no links, so readlink(2), which takes half as long
	 * as to open it, tells enough about the component behind it. */
	if (listings_look(listings, path, &known) == LISTED_MISSING) {
		found.error = ENOENT;
		return found;
	}
	if (path.len == known)
		return found;
	if (strchr(path.path + known + 1, '/') == NULL) {
		if (readlink(path.path, &target, 1) < 0)
			found.error = errno;
		if (found.error == EINVAL || found.error == ENOENT) {
			found.error = found.error == ENOENT ? ENOENT : 0;
			return found;
		}
	}
	found = follow(arena, path);
	if (found.fd >= 0)
		close(found.fd);
	found.fd = -1;
	return found;
}

struct followed
follow_given(struct arena *arena, const char *given)
{
	static const struct sbx_place slash = { "/", 1 };
	char cwd[SBX_MAX_PATH + 1] = "";
	struct sbx_place path = { given,
		(uint32_t)strnlen(given, SBX_MAX_PATH + 1) };

	if (given[0] == '/') {
		path = arena_copy(arena, path);
	} else {
		if (current_path(cwd, sizeof cwd) < 0)
			return (struct followed){ .fd = -1, .error = errno };
		path = arena_join(arena,
		    arena_join(arena, place_of(cwd), slash), path);
	}
	if (is_normal(path.path + 1, path.len - 1))
		return follow(arena, path);
	return follow_slowly(arena, path);
}
