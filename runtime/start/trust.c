/*
 * Who may write the policy decides what it says; and so does who may replace
 * it, a directory above it, or a link that leads to it.  For a path without
 * links and dots it is enough to look at the directories above the file.  Every
 * other path is walked here once more, component by component, as the kernel
 * has walked it: each directory and each link on the way must belong to the
 * user or to root, and the file at the end must be the one that was opened.
 *
 * In a user namespace that has no number for root, root's files look like those
 * of any other user whom it does not have.  An installed profile, @NAME, lies
 * where only the system's administrator installs; there, such an owner is taken
 * for root.  Anywhere else it may be anybody.
 */
#include "runtime/start/start.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* as in the kernel's path walk */

static const char unknown_place[] =
    "it cannot be told where this policy lies, and so not who may replace it";

/* A walk to the policy; the path so far is place->path. */
struct way {
	const char *name;
	struct policy_place *place;
	uid_t self;
	uint32_t len;    /* of the path; 0 is the root directory */
	uint32_t turned; /* bytes of place->hops */
	uint32_t links;
	char *rest, *next;
	struct stat last; /* what the path names */
};

/* Where a user namespace hides owners, they all look like the overflow user; and
 * so does whoever has no number in it. */
static bool
is_hidden(uid_t owner)
{
	return owner == OVERFLOW_UID && machine_hides_owners();
}

static bool
is_trusted(const struct way *way, uid_t owner)
{
	if (is_hidden(owner))
		return way->name[0] == '@';
	return owner == way->self || owner == 0;
}

/*
 * Whether somebody else may change this file, or replace an entry of this
 * directory: its owner, unless that is the user or root; its group, unless it
 * is the user's own, which some systems make for each user; or everybody,
 * unless a sticky bit lets them replace only their own entries.
 */
static bool
others_may_write(const struct way *way, const struct stat *status)
{
	if (!is_trusted(way, status->st_uid))
		return true;
	if (S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX))
		return false;
	return (status->st_mode & S_IWOTH) != 0 ||
	    ((status->st_mode & S_IWGRP) != 0 && status->st_gid != 0 &&
		(status->st_gid != getegid() || status->st_gid != way->self));
}

static void
check_file(const struct way *way, const struct stat *status)
{
	if (others_may_write(way, status))
		refuse(way->name,
		    "others may write this policy: make it yours, chmod go-w",
		    0);
}

static void
check_directory(const struct way *way, const char *path,
    const struct stat *status)
{
	if (is_hidden(status->st_uid) && !is_trusted(way, status->st_uid))
		refuse(path,
		    "others may own this directory, which this user namespace "
		    "hides: give the policy through a pipe, as /dev/stdin",
		    0);
	if (others_may_write(way, status))
		refuse(path,
		    "others may replace the policy in this directory: keep it "
		    "where only you can write",
		    0);
}

static void
look_at_directory(const struct way *way, const char *path)
{
	struct stat status;

	if (path[0] == '\0')
		path = "/";
	if (stat(path, &status) != 0)
		refuse(path,
		    "cannot look at this directory, which the policy lies in",
		    errno);
	check_directory(way, path, &status);
}

static void
check_parents(const struct way *way, const char *path)
{
	char parent[SBX_MAX_PATH + 1];

	strcpy(parent, path);
	for (char *slash; (slash = strrchr(parent, '/')) != NULL;) {
		*slash = '\0';
		look_at_directory(way, parent);
	}
}

/* --- a way with links and dots -------------------------------------------- */

/* Records a link, or a directory that ".." leaves: who may replace it leads the
 * walk to another place. */
static void
note_hop(struct way *way)
{
	struct policy_place *place = way->place;

	/* An empty path ends the list. */
	if (sizeof place->hops - way->turned < way->len + 2)
		refuse(way->name, "too many links lead to the policy", ELOOP);
	memcpy(place->hops + way->turned, place->path, way->len + 1);
	way->turned += way->len + 1;
	place->hops[way->turned] = '\0';
}

static void
leave_directory(struct way *way)
{
	char *path = way->place->path;

	while (way->len > 0 && path[--way->len] != '/')
		;
	path[way->len] = '\0';
}

static void
follow_link(struct way *way)
{
	char target[SBX_MAX_PATH + 1];
	size_t left = strlen(way->next);
	ssize_t len;

	if (!is_trusted(way, way->last.st_uid))
		refuse(way->place->path,
		    "somebody else's link leads to the policy: name the file "
		    "itself",
		    0);
	len = readlink(way->place->path, target, sizeof target);
	if (len < 0)
		refuse(way->name, unknown_place, errno);
	if ((size_t)len + left > SBX_MAX_PATH || ++way->links > MAX_LINKS)
		refuse(way->name, unknown_place, ELOOP);
	note_hop(way);
	memmove(way->rest + len, way->next, left + 1);
	memcpy(way->rest, target, (size_t)len);
	way->next = way->rest;
	if (target[0] == '/')
		way->place->path[way->len = 0] = '\0';
	else
		leave_directory(way);
}

static void
enter(struct way *way, const char *component, size_t len)
{
	char *path = way->place->path;

	if (way->len + 1 + len > SBX_MAX_PATH)
		refuse(way->name, unknown_place, ENAMETOOLONG);
	path[way->len++] = '/';
	memcpy(path + way->len, component, len);
	way->len += (uint32_t)len;
	path[way->len] = '\0';
	if (lstat(path, &way->last) != 0)
		refuse(way->name, unknown_place, errno);
	if (S_ISLNK(way->last.st_mode))
		follow_link(way);
	else if (S_ISDIR(way->last.st_mode))
		check_directory(way, path, &way->last);
}

static void
take_step(struct way *way, const char *component, size_t len)
{
	if (len == 1 && component[0] == '.')
		return;
	if (len != 2 || memcmp(component, "..", 2) != 0) {
		enter(way, component, len);
	} else if (way->len > 0) {
		note_hop(way);
		leave_directory(way);
	}
}

/* Begins at the root, or in the current directory, and checks what is above. */
static void
begin_way(struct way *way, const char *file)
{
	char *path = way->place->path;
	long size;

	path[0] = '\0';
	if (file[0] != '/') {
		size = current_path(path, SBX_MAX_PATH);
		if (size < 1 || path[0] != '/')
			refuse(way->name, unknown_place, size < 0 ? errno : 0);
		way->len = size == 2 ? 0 : (uint32_t)size - 1;
		path[way->len] = '\0';
		check_parents(way, path);
	}
	look_at_directory(way, path);
}

static void
walk(struct way *way, const char *file)
{
	char rest[2 * SBX_MAX_PATH + 2];
	size_t len = strnlen(file, SBX_MAX_PATH + 1);

	if (len > SBX_MAX_PATH)
		refuse(way->name, unknown_place, ENAMETOOLONG);
	way->rest = way->next = rest;
	memcpy(rest, file, len + 1);
	begin_way(way, file);
	for (;;) {
		const char *component;

		way->next += strspn(way->next, "/");
		component = way->next;
		len = strcspn(component, "/");
		if (len == 0)
			break;
		way->next += len;
		take_step(way, component, len);
	}
}

/* --- a descriptor --------------------------------------------------------- */

/* Whether this names an open descriptor of the caller. */
static bool
is_descriptor(const char *file)
{
	static const char *const directories[] = { "/dev/fd/",
		"/proc/self/fd/" };

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(directories[i]);

		if (strncmp(file, directories[i], len) == 0 &&
		    file[len] != '\0' &&
		    file[len + strspn(file + len, "0123456789")] == '\0')
			return true;
	}
	return strcmp(file, "/dev/stdin") == 0;
}

/* The kernel's name for what is open. */
static void
ask_path(int fd, char path[SBX_MAX_PATH + 1])
{
	char link[DESCRIPTOR_PATH_SIZE];
	ssize_t len;

	descriptor_path(link, fd);
	len = readlink(link, path, SBX_MAX_PATH);
	path[len > 0 ? len : 0] = '\0';
}

/*
 * The caller is trusted with a pipe, and with a file that has no name any more.
 * For another file the kernel gives the path that it has now.
 */
static void
trust_descriptor(struct way *way, int fd, const struct stat *status)
{
	char *path = way->place->path;

	if (!S_ISREG(status->st_mode))
		return;
	check_file(way, status);
	if (status->st_nlink == 0)
		return;
	ask_path(fd, path);
	if (path[0] != '/' || stat(path, &way->last) != 0)
		refuse(way->name, unknown_place, 0);
	check_parents(way, path);
}

void
trust_policy(const char *name, const char *file, int fd,
    struct policy_place *place)
{
	struct way way = { .name = name, .place = place, .self = geteuid() };
	struct stat status;

	if (fstat(fd, &status) != 0)
		refuse(name, "cannot look at the policy", errno);
	/* To read it will fail, with a better message. */
	if (S_ISDIR(status.st_mode))
		return;
	way.last = status;
	if (place->path[0] == '\0' && is_descriptor(file)) {
		trust_descriptor(&way, fd, &status);
	} else {
		if (!S_ISREG(status.st_mode))
			refuse(name,
			    "it is no regular file; a pipe is to be named "
			    "/dev/stdin or /dev/fd/N",
			    0);
		check_file(&way, &status);
		if (place->path[0] != '\0')
			check_parents(&way, place->path);
		else
			walk(&way, file);
	}
	if (way.last.st_dev != status.st_dev ||
	    way.last.st_ino != status.st_ino)
		refuse(name, unknown_place, 0);
}
