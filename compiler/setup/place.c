/*
 * A file by its open directory, so that nobody can lead sbxc elsewhere.  A
 * confined command may change the project, and so what a path in it means, while
 * sbxc works: no symbolic link on the way is followed, except one in / itself
 * (such as /home), which is the system's.
 */
#include "compiler/setup/setup.h"

#include "compiler/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Linux says ENOTDIR for a link where a directory without links is wanted. */
static int
open_below(int directory, const char *name, bool make)
{
	static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC;
	struct stat status;
	int fd;

	if (make && mkdirat(directory, name, 0700) != 0 && errno != EEXIST)
		return -1;
	fd = openat(directory, name, flags);
	/* A directory that can be passed but not listed. */
	if (fd < 0 && errno == EACCES)
		fd = openat(directory, name, flags | O_PATH);
	if (fd < 0 && errno == ENOTDIR &&
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
	return fd;
}

/* The first part of a path may be a link in /. */
static int
open_first(const char *path, bool make)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && make && mkdir(path, 0700) == 0)
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

static int
step(int directory, const char *name, bool make)
{
	int fd = open_below(directory, name, make);
	int error = errno;

	close(directory);
	errno = error;
	return fd;
}

bool
place_open(struct settings_place *place, struct arena *arena, const char *path,
    bool make)
{
	const char *end = strrchr(path, '/'), *at = path;
	bool first = true;

	place->directory = -1;
	if (end == NULL || *path != '/') {
		errno = EINVAL;
		return false;
	}
	place->name = end + 1;
	place->directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (at < end && place->directory >= 0) {
		size_t len;
		const char *name;

		at += strspn(at, "/");
		len = strcspn(at, "/");
		if (at >= end)
			break;
		name = arena_strndup(arena, at, len);
		at += len;
		if (first) {
			close(place->directory);
			place->directory =
			    open_first(arena_printf(arena, "/%s", name), make);
		} else {
			place->directory = step(place->directory, name, make);
		}
		first = false;
	}
	return place->directory >= 0;
}

void
place_close(struct settings_place *place)
{
	int error = errno;

	if (place->directory >= 0)
		close(place->directory);
	place->directory = -1;
	errno = error;
}

const char *
place_path(const struct settings_place *place, struct arena *arena)
{
	char path[4096];
	ssize_t len = readlink(arena_printf(arena, "/proc/self/fd/%d",
				   place->directory),
	    path, sizeof path);

	if (len <= 0 || (size_t)len == sizeof path) {
		errno = len < 0 ? errno : ENAMETOOLONG;
		return NULL;
	}
	return arena_strndup(arena, path, (size_t)len);
}

int
place_read(const struct settings_place *place)
{
	return openat(place->directory, place->name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* A change of owner clears bits of the mode, so the mode is set last. */
static bool
fill(int fd, const struct written *written)
{
	const struct stat *like = written->like;
	struct stat now;

	if (fstat(fd, &now) != 0)
		return false;
	if ((now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
	    fchown(fd, like->st_uid, like->st_gid) != 0)
		return false;
	return fchmod(fd, like->st_mode & 07777) == 0 &&
	    write_whole(fd, written->bytes, written->size) && fsync(fd) == 0;
}

const char *
place_prepare(const struct settings_place *place, struct arena *arena,
    const struct written *written)
{
	const char *name = NULL;
	bool good;
	int fd = -1, error;

	for (int i = 0; i < 100 && fd < 0; i++) {
		name = arena_printf(arena, ".sbxc-%d-%d", (int)getpid(), i);
		fd = openat(place->directory, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return NULL;
	}
	if (fd < 0)
		return NULL;
	good = fill(fd, written);
	error = errno;
	if (close(fd) != 0 && good) {
		error = errno;
		good = false;
	}
	if (good)
		return name;
	unlinkat(place->directory, name, 0);
	errno = error;
	return NULL;
}

/* link(2) never replaces what somebody has just put there. */
bool
place_commit(const struct settings_place *place, const char *prepared,
    bool replace)
{
	int at = place->directory, error;
	bool good = replace ? renameat(at, prepared, at, place->name) == 0 :
			      linkat(at, prepared, at, place->name, 0) == 0;

	error = errno;
	if (!good || !replace)
		unlinkat(at, prepared, 0);
	errno = error;
	return good;
}
