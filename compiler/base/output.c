/*
 * Files that appear whole or not at all.
 */
#include "compiler/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUTS_MAX = 2 };

/* A file on its way: the bytes are in `temporary`, meant for `target`. */
struct pending {
	char target[PATH_MAX];
	char temporary[PATH_MAX + 8]; /* "": nothing to rename */
};

bool
write_whole(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t done = write(fd, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		bytes += done;
		size -= (size_t)done;
	}
	return true;
}

/* A network file system may report a full disk only at close(2).  The new bytes
 * must be on the disk before they replace a file. */
static bool
write_and_close(int fd, const struct output *output)
{
	bool good = write_whole(fd, output->bytes, output->size) &&
	    (output->like == NULL || fsync(fd) == 0);
	int error = errno;

	if (close(fd) != 0 && good)
		return false;
	errno = error;
	return good;
}

static mode_t
mode_wanted(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0644 & ~mask;
}

__attribute__((format(printf, 3, 4))) static bool
format_path(char *path, size_t size, const char *format, ...)
{
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(path, size, format, arguments);
	va_end(arguments);
	if (len >= 0 && (size_t)len < size)
		return true;
	path[0] = '\0';
	errno = ENAMETOOLONG;
	return false;
}

/* What was read through a link is replaced where it is.  Otherwise only a link
 * of the system, such as /dev/stdout, is followed. */
static bool
follows(const struct output *output)
{
	return (output->like != NULL && !output->stays) ||
	    strncmp(output->path, "/dev/", 5) == 0 ||
	    strncmp(output->path, "/proc/", 6) == 0;
}

static bool
find_target(const struct output *output, struct pending *pending)
{
	if (follows(output) && realpath(output->path, pending->target) != NULL)
		return true;
	return (!follows(output) || errno == ENOENT) &&
	    format_path(pending->target, sizeof pending->target, "%s",
		output->path);
}

/* What is there and is neither a file nor a link, which are replaced. */
static bool
is_special(const struct output *output, const char *target)
{
	struct stat status;
	int found = follows(output) ? stat(target, &status) :
				      lstat(target, &status);

	return found == 0 && !S_ISREG(status.st_mode) &&
	    !S_ISLNK(status.st_mode);
}

/* Opens without waiting for somebody to read a pipe. */
static int
open_special(const char *target)
{
	int fd = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return fd;
}

/* Writing to a device or a pipe may block, so signals are let through. */
static bool
write_in_place(const struct output *output, const char *target)
{
	sigset_t none, blocked;
	bool good;
	int fd;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &blocked);
	fd = open_special(target);
	good = fd >= 0 && write_and_close(fd, output);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return good;
}

/* A change of owner clears bits of the mode, so the mode is set last. */
static bool
set_status(int fd, const struct stat *like)
{
	struct stat now;

	if (like == NULL)
		return fchmod(fd, mode_wanted()) == 0;
	if (fstat(fd, &now) != 0)
		return false;
	if ((now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
	    fchown(fd, like->st_uid, like->st_gid) != 0)
		return false;
	return fchmod(fd, like->st_mode & 07777) == 0;
}

/* Of the part of a path up to its last slash. */
static size_t
directory_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}

static bool
write_pending(const struct output *output, struct pending *pending)
{
	int fd;

	if (!find_target(output, pending))
		return false;
	if (is_special(output, pending->target))
		return write_in_place(output, pending->target);
	/* Beside the target, under a name that is never too long. */
	if (!format_path(pending->temporary, sizeof pending->temporary,
		"%.*s.sbxc-XXXXXX", (int)directory_len(pending->target),
		pending->target))
		return false;
	fd = mkostemp(pending->temporary, O_CLOEXEC);
	if (fd < 0) {
		pending->temporary[0] = '\0';
		return false;
	}
	if (!set_status(fd, output->like)) {
		close(fd);
		return false;
	}
	return write_and_close(fd, output);
}

static void
discard(struct pending *pending, size_t count)
{
	int error = errno;

	for (size_t i = 0; i < count; i++) {
		if (pending[i].temporary[0] != '\0')
			unlink(pending[i].temporary);
	}
	errno = error;
}

static bool
write_all(const struct output *outputs, size_t count, struct pending *pending,
    const char **failed)
{
	for (size_t i = 0; i < count; i++) {
		*failed = outputs[i].path;
		if (!write_pending(&outputs[i], &pending[i]))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		*failed = outputs[i].path;
		if (pending[i].temporary[0] == '\0')
			continue;
		if (rename(pending[i].temporary, pending[i].target) != 0)
			return false;
		pending[i].temporary[0] = '\0';
	}
	return true;
}

bool
outputs_write(const struct output *outputs, size_t count, const char **failed)
{
	struct pending pending[OUTPUTS_MAX] = { 0 };
	sigset_t all, before;
	bool good;

	/* An interrupted sbxc must not leave a temporary file. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	good = write_all(outputs, count, pending, failed);
	if (!good)
		discard(pending, count);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return good;
}

/* --- in memory ------------------------------------------------------------ */

void
memory_open(struct memory *memory)
{
	*memory = (struct memory){ .stream = NULL };
	memory->stream = open_memstream(&memory->bytes, &memory->size);
	if (memory->stream == NULL)
		arena_exhausted();
}

char *
memory_close(struct memory *memory, struct arena *arena)
{
	char *text;

	if (fclose(memory->stream) != 0)
		arena_exhausted();
	text = arena_strndup(arena, memory->bytes, memory->size);
	free(memory->bytes);
	return text;
}
