/*
 * Standard input, output and error, which are the caller's.  What is opened
 * already is beyond rules about paths, and /proc/self/fd/N opens it again by
 * its own mount, not by that of the view.
 */
#include "runtime/apply/apply.h"

#include "runtime/apply/mounts.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *const names[] = {
	[STDIN_FILENO] = "standard input",
	[STDOUT_FILENO] = "standard output",
	[STDERR_FILENO] = "standard error",
};

enum { STREAMS = countof(names) };

struct stream {
	int fd;
	int flags; /* as F_GETFL gives them; negative: it is closed */
	struct stat status;
};

static bool
stream_look(struct stream *stream, int fd)
{
	stream->fd = fd;
	stream->flags = fcntl(fd, F_GETFL);
	if (stream->flags < 0)
		return false;
	if (fstat(fd, &stream->status) != 0)
		refuse(names[fd], "cannot look at it", errno);
	return true;
}

void
streams_check(void)
{
	struct stream stream;

	for (int fd = 0; fd < STREAMS; fd++) {
		if (!stream_look(&stream, fd))
			continue;
		if (S_ISDIR(stream.status.st_mode))
			refuse(names[fd],
			    "a directory, by which the command would reach "
			    "what is below it",
			    0);
		if (stream.flags & O_PATH)
			refuse(names[fd],
			    "opened with O_PATH, to be reached and not to be "
			    "read",
			    0);
	}
}

/* --- through a mount of their own ----------------------------------------- */

/* Standard input is for reading, even if it could be written to. */
static bool
is_read(const struct stream *stream)
{
	int mode = stream->flags & O_ACCMODE;

	return S_ISREG(stream->status.st_mode) &&
	    (mode == O_RDONLY ||
		(mode == O_RDWR && stream->fd == STDIN_FILENO));
}

/* To write to a device, its mount need not be writable. */
static bool
is_own_null(const struct stream *stream)
{
	return S_ISCHR(stream->status.st_mode) &&
	    stream->status.st_rdev == makedev(1, 3) &&
	    stream->status.st_uid == geteuid();
}

static void
name_descriptor(char *text, int fd)
{
	struct out out;

	out_into(&out, text, 32);
	out_print(&out, "/proc/self/fd/%u", (unsigned)fd);
}

/* The same file by its path, on a mount of this namespace: mounts of another
 * one cannot be copied. */
static int
find_by_path(const struct stream *stream)
{
	char link[32], path[SBX_MAX_PATH + 1];
	struct stat found;
	ssize_t len;
	int fd;

	name_descriptor(link, stream->fd);
	len = readlink(link, path, sizeof path - 1);
	if (len < 0)
		return -1;
	path[len] = '\0';
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &found) == 0 &&
	    found.st_dev == stream->status.st_dev &&
	    found.st_ino == stream->status.st_ino)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = ENOENT;
	return -1;
}

static int
open_through_copy(const struct stream *stream, int outside, int access)
{
	int mount = copy_mount_as(outside, "", 0,
	    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	int fd, error;
	char link[32];

	if (mount < 0)
		return -1;
	name_descriptor(link, mount);
	fd = open(link,
	    access | O_NOCTTY | O_CLOEXEC |
		(stream->flags & (O_APPEND | O_DIRECT | O_NONBLOCK)));
	error = errno;
	close(mount);
	errno = error;
	return fd;
}

/* Its directories may be shut to this user, if somebody else opened it. */
static bool
may_change(const struct stream *stream)
{
	return stream->status.st_uid == geteuid() ||
	    faccessat(stream->fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

/* False if it stays as it is: the user could not change it, or nobody can name
 * it any more, as the here-documents of some shells. */
static bool
reopen(const struct stream *stream, int access)
{
	int outside, fd;
	off_t position;

	if (stream->status.st_nlink == 0 || !may_change(stream))
		return false;
	outside = find_by_path(stream);
	if (outside < 0)
		refuse(names[stream->fd],
		    "cannot find the file by its path, to have it open for "
		    "reading alone; a pipe will do",
		    errno);
	position = lseek(stream->fd, 0, SEEK_CUR);
	fd = open_through_copy(stream, outside, access);
	if (fd < 0 || (position > 0 && lseek(fd, position, SEEK_SET) < 0) ||
	    dup2(fd, stream->fd) < 0)
		refuse(names[stream->fd],
		    "cannot open the file for reading alone", errno);
	close(fd);
	close(outside);
	return true;
}

unsigned
streams_read_files(unsigned *owned_null)
{
	struct stream stream;
	unsigned files = 0;

	*owned_null = 0;
	for (int fd = 0; fd < STREAMS; fd++) {
		if (!stream_look(&stream, fd))
			continue;
		if (is_own_null(&stream))
			*owned_null |= 1U << fd;
		if (is_read(&stream) && stream.status.st_nlink > 0 &&
		    may_change(&stream))
			files |= 1U << fd;
	}
	return files;
}

const char *
streams_renew_null(unsigned owned)
{
	for (int fd = 0; fd < STREAMS; fd++) {
		int flags, null;

		if ((owned >> fd & 1) == 0)
			continue;
		flags = fcntl(fd, F_GETFL);
		null = open("/dev/null",
		    (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK)) | O_NOCTTY |
			O_CLOEXEC);
		if (null < 0 || dup2(null, fd) < 0)
			return "cannot open the session's null device";
		close(null);
	}
	return NULL;
}

unsigned
streams_reopen(unsigned which)
{
	struct stream stream;
	unsigned reopened = 0;

	for (int fd = 0; fd < STREAMS; fd++) {
		if ((which >> fd & 1) == 0 || !stream_look(&stream, fd))
			continue;
		if (is_own_null(&stream))
			reopen(&stream, stream.flags & O_ACCMODE);
		else if (is_read(&stream) && reopen(&stream, O_RDONLY))
			reopened |= 1U << fd;
	}
	return reopened;
}

void
streams_allow(unsigned reopened, int ruleset)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = 1 << 2 /* LANDLOCK_ACCESS_FS_READ_FILE */,
	};

	for (int fd = 0; fd < STREAMS; fd++) {
		rule.parent_fd = fd;
		if ((reopened >> fd & 1) != 0 &&
		    landlock_add_rule(ruleset, LANDLOCK_RULE_PATH_BENEATH,
			&rule) != 0)
			refuse(names[fd], "cannot allow to read it", errno);
	}
}
