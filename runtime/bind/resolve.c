/*
 * One openat2(2) with RESOLVE_NO_SYMLINKS answers for nearly every path: if it
 * succeeds, or fails for want of a component, no link was on the way and the
 * path is its own resolution.  Only where it says ELOOP are the components
 * looked at one by one.
 */
#include "runtime/bind/resolve.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MAX_LINKS = 40 }; /* as in the kernel's path walk */

static const struct sbx_place nothing = { "", 0 }, slash = { "/", 1 };

struct sbx_place
place_of(const char *path)
{
	size_t len = strlen(path);

	/* The root is the empty string, see format/model.h. */
	return (struct sbx_place){ path, len == 1 ? 0 : (uint32_t)len };
}

/* A path walk in progress: what is resolved, and what is left to do. */
struct walk {
	char done[SBX_MAX_PATH + 1];
	uint32_t done_len;
	char rest[2 * SBX_MAX_PATH + 2];
	char *next;
	int links;
	int error; /* of the first component that cannot be looked at */
};

static void
walk_up(struct walk *walk)
{
	while (walk->done_len > 0 && walk->done[--walk->done_len] != '/')
		;
	walk->done[walk->done_len] = '\0';
}

/* Cuts the next component off the rest; its length, 0 at the end. */
static size_t
walk_component(struct walk *walk, char **component)
{
	walk->next += strspn(walk->next, "/");
	*component = walk->next;
	walk->next += strcspn(walk->next, "/");
	return (size_t)(walk->next - *component);
}

/* Puts the target of a link in front of the rest. */
static void
walk_link(struct walk *walk, char *target, size_t len)
{
	size_t left = strlen(walk->next);

	if (len + left > SBX_MAX_PATH || ++walk->links > MAX_LINKS) {
		walk->error = ELOOP;
		return;
	}
	memmove(walk->rest + len, walk->next, left + 1);
	memcpy(walk->rest, target, len);
	walk->next = walk->rest;
	if (target[0] == '/')
		walk->done[walk->done_len = 0] = '\0';
	else
		walk_up(walk);
}

static void
walk_step(struct walk *walk, const char *component, size_t len,
    link_visitor *visit, void *context)
{
	char target[SBX_MAX_PATH + 1];
	ssize_t target_len;

	if (len == 2 && memcmp(component, "..", 2) == 0) {
		walk_up(walk);
		return;
	}
	if (walk->done_len + 1 + len > SBX_MAX_PATH) {
		walk->error = ENAMETOOLONG;
		return;
	}
	walk->done[walk->done_len++] = '/';
	memcpy(walk->done + walk->done_len, component, len);
	walk->done_len += (uint32_t)len;
	walk->done[walk->done_len] = '\0';
	if (walk->error != 0)
		return;
	target_len = readlink(walk->done, target, sizeof target);
	if (target_len < 0) {
		/* EINVAL: it is there and is no link. */
		walk->error = errno == EINVAL ? 0 : errno;
		return;
	}
	if (visit != NULL)
		visit(context,
		    (struct sbx_place){ walk->done, walk->done_len });
	walk_link(walk, target, (size_t)target_len);
}

static const struct open_how how = { .flags = O_PATH | O_CLOEXEC,
	.resolve = RESOLVE_NO_SYMLINKS };

int
resolve_reopen(struct sbx_place at)
{
	const char *path = at.len == 0 ? "/" : at.path;
	int fd = openat2(AT_FDCWD, path, &how);

	/* Container filters of old answer for openat2 as if it did not exist;
	 * the walk has then looked at each component itself. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return fd;
}

int
resolve_directory(struct sbx_place at)
{
	static const struct open_how reading = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return openat2(AT_FDCWD, at.len == 0 ? "/" : at.path, &reading);
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
walk_rest(struct walk *walk, struct resolved *found)
{
	size_t len = strlen(walk->next);

	if (len + walk->done_len + 1 > SBX_MAX_PATH ||
	    !is_normal(walk->next, len))
		return false;
	walk->done[walk->done_len] = '/';
	memcpy(walk->done + walk->done_len + 1, walk->next, len + 1);
	found->fd = openat2(AT_FDCWD, walk->done, &how);
	found->error = found->fd < 0 ? errno : 0;
	if (needs_walk(found->error)) {
		walk->done[walk->done_len] = '\0';
		return false;
	}
	walk->done_len += 1 + (uint32_t)len;
	return true;
}

/* Goes on component by component, until no more links are on the way. */
static void
walk_path(struct walk *walk, struct resolved *found, link_visitor *visit,
    void *context)
{
	char *component;
	size_t len;
	int links;

	while ((len = walk_component(walk, &component)) > 0) {
		links = walk->links;
		if (len != 1 || component[0] != '.')
			walk_step(walk, component, len, visit, context);
		walk->next += strspn(walk->next, "/");
		if (walk->links > links && walk->error == 0 &&
		    walk_rest(walk, found))
			return;
	}
	found->error = walk->error;
	if (found->error == 0) {
		found->fd = resolve_reopen(
		    (struct sbx_place){ walk->done, walk->done_len });
		found->error = found->fd < 0 ? errno : 0;
	}
}

static struct resolved
resolve_slowly(struct arena *arena, struct sbx_place path, link_visitor *visit,
    void *context)
{
	struct resolved found = { .fd = -1 };
	struct walk walk;

	walk.next = walk.rest;
	walk.done[0] = '\0';
	walk.done_len = 0;
	walk.links = walk.error = 0;
	memcpy(walk.rest, path.path, path.len + 1);
	walk_path(&walk, &found, visit, context);
	found.linked = walk.links > 0;
	found.at = arena_join(arena,
	    (struct sbx_place){ walk.done, walk.done_len }, nothing);
	return found;
}

struct resolved
resolve(struct arena *arena, struct sbx_place path, link_visitor *visit,
    void *context)
{
	struct resolved found = { .at = path };

	found.fd = openat2(AT_FDCWD, path.len == 0 ? "/" : path.path, &how);
	found.error = found.fd < 0 ? errno : 0;
	if (needs_walk(found.error))
		return resolve_slowly(arena, path, visit, context);
	return found;
}

struct resolved
resolve_place(struct arena *arena, const struct listings *listings,
    struct sbx_place parent, struct sbx_place path, link_visitor *visit,
    void *context)
{
	struct resolved found = { .at = path, .fd = -1 };
	uint32_t known = parent.len;
	char target;

	/* path[0, known) has no links, so readlink(2), at half the price of
	 * an open, tells enough about the component behind it. */
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
	found = resolve(arena, path, visit, context);
	if (found.fd >= 0)
		close(found.fd);
	found.fd = -1;
	return found;
}

struct resolved
resolve_given(struct arena *arena, const char *given)
{
	char cwd[SBX_MAX_PATH + 1] = "";
	struct sbx_place path = { given,
		(uint32_t)strnlen(given, SBX_MAX_PATH + 1) };

	if (given[0] != '/') {
		if (current_path(cwd, sizeof cwd) < 0)
			return (struct resolved){ .fd = -1, .error = errno };
		path = arena_join(arena,
		    arena_join(arena, place_of(cwd), slash), path);
	} else {
		path = arena_join(arena, path, nothing);
	}
	if (is_normal(path.path + 1, path.len - 1))
		return resolve(arena, path, NULL, NULL);
	return resolve_slowly(arena, path, NULL, NULL);
}
