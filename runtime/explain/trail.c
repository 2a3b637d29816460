/*
 * Where a path leads outside, without opening anything: the links on the way
 * are read.  Those of /proc lead to what a process has, and would be this
 * process's; so the way ends where it enters /proc.
 */
#include "runtime/explain/explain.h"

#include "runtime/base/kernel.h"

#include <string.h>

enum { LINKS_MAX = 40 }; /* as in the kernel's walk */

struct trail {
	struct path *done;
	char rest[2 * SBX_MAX_PATH + 2];
	char *next;
	unsigned links;
};

bool
trail_is_proc(struct sbx_place at)
{
	static const struct sbx_place proc = { "/proc", 5 };

	return sbx_covers(proc, at);
}

bool
trail_push(struct path *path, const char *names)
{
	while (*names != '\0') {
		size_t len = strcspn(names, "/");

		if (len == 2 && memcmp(names, "..", 2) == 0)
			path_cut(path,
			    place_parent(
				(struct sbx_place){ path->text, path->len })
				.len);
		else if (len > 0 && !(len == 1 && *names == '.') &&
		    !path_push(path, names, len))
			return false;
		names += len;
		names += strspn(names, "/");
	}
	return true;
}

bool
trail_ends_in_dots(const char *text)
{
	size_t len = strlen(text);

	while (len > 1 && text[len - 1] == '/')
		len--;
	for (int dots = 0; dots < 2 && len > 0 && text[len - 1] == '.'; dots++)
		len--;
	return text[len] == '.' && (len == 0 || text[len - 1] == '/');
}

/* One call tells that there is no link on the way, as nearly always. */
static bool
has_links(const char *path, bool last)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (last ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	int fd = openat2(AT_FDCWD, path, &how);

	if (fd >= 0) {
		close(fd);
		return false;
	}
	return errno == ELOOP || errno == EPERM || errno == ENOSYS;
}

static void
up(struct path *path)
{
	path_cut(path,
	    place_parent((struct sbx_place){ path->text, path->len }).len);
}

/* Puts what a link leads to before the rest. */
static bool
turn(struct trail *trail, const char *target, size_t len)
{
	size_t left = strlen(trail->next);

	if (++trail->links > LINKS_MAX || len + 1 + left > SBX_MAX_PATH)
		return false;
	memmove(trail->rest + len + 1, trail->next, left + 1);
	memcpy(trail->rest, target, len);
	trail->rest[len] = '/';
	trail->next = trail->rest;
	if (target[0] == '/')
		path_cut(trail->done, 0);
	else
		up(trail->done);
	return true;
}

static bool
step(struct trail *trail, const char *name, size_t len, bool last)
{
	char target[SBX_MAX_PATH + 1];
	ssize_t got;

	if (len == 1 && *name == '.')
		return true;
	if (len == 2 && memcmp(name, "..", 2) == 0) {
		up(trail->done);
		return true;
	}
	if (!path_push(trail->done, name, len))
		return false;
	if (trail_is_proc(
		(struct sbx_place){ trail->done->text, trail->done->len }))
		return false;
	if (!last && *trail->next == '\0')
		return true;
	got = readlink(trail->done->text, target, sizeof target);
	return got < 0 || turn(trail, target, (size_t)got);
}

bool
trail_follow(struct path *path, bool last)
{
	struct trail trail;

	if (!has_links(path->len == 0 ? "/" : path->text, last))
		return true;
	memcpy(trail.rest, path->text, path->len + 1);
	trail.next = trail.rest;
	trail.links = 0;
	trail.done = path;
	path_cut(path, 0);
	for (;;) {
		char *name;
		size_t len;

		trail.next += strspn(trail.next, "/");
		name = trail.next;
		len = strcspn(name, "/");
		if (len == 0)
			return true;
		trail.next += len;
		trail.next += strspn(trail.next, "/");
		if (!step(&trail, name, len, last))
			return false;
	}
}
