/*
 * The descriptors of a command: which it gets, under which numbers, and which
 * are not handed over.
 */
#include "runtime/library/library.h"

#include "runtime/session/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

enum { CLOSE_ON_EXEC = 4 /* CLOSE_RANGE_CLOEXEC */ };

int
own_descriptor(int fd)
{
	int own, error;

	if (fd < 0)
		return -1;
	own = fcntl(fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);
	error = errno;
	close(fd);
	errno = error;
	return own;
}

static bool
is_kept(const struct placing *placing, int fd)
{
	return (placing->kept[fd / 64] >> fd % 64 & 1) != 0;
}

bool
placing_prepare(struct placing *placing, const struct sbx_descriptor *wanted,
    size_t count, struct sbx_error *error)
{
	const char *wrong = NULL;

	*placing = (struct placing){ .wanted = wanted, .count = count };
	if (count > SBX_MAX_DESCRIPTORS || (count > 0 && wanted == NULL))
		wrong = "there are too many of them, or none";
	for (size_t i = 0; wrong == NULL && i < count; i++) {
		int to = wanted[i].to;

		if (to < 0 || to >= OWN_DESCRIPTORS)
			wrong = "the command's number is not between 0 and 255";
		else if (fcntl(wanted[i].from, F_GETFD) < 0)
			wrong = "this descriptor is not open";
		else if (is_kept(placing, to))
			wrong = "two descriptors get one number";
		else
			placing->kept[to / 64] |= UINT64_C(1) << to % 64;
	}
	if (wrong != NULL)
		error_set(error, SBX_ERROR_ARGUMENT, "descriptors", wrong, 0);
	return wrong == NULL;
}

/* --- in the second process ------------------------------------------------ */

/* In two rounds: a number may be that of a descriptor which is still needed. */
static const char *
move(const struct placing *placing, int *which)
{
	int moved[SBX_MAX_DESCRIPTORS];

	for (size_t i = 0; i < placing->count; i++) {
		*which = placing->wanted[i].from;
		moved[i] = fcntl(*which, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);
		if (moved[i] < 0)
			return "cannot duplicate it";
	}
	for (size_t i = 0; i < placing->count; i++) {
		*which = placing->wanted[i].to;
		if (dup2(moved[i], *which) < 0)
			return "cannot duplicate it";
	}
	return NULL;
}

static bool
close_at_exec(unsigned first, unsigned last)
{
	return syscall(SYS_close_range, first, last, CLOSE_ON_EXEC) == 0;
}

const char *
placing_apply(const struct placing *placing, int *which)
{
	unsigned first = STREAM_COUNT;
	const char *fault = move(placing, which);

	if (fault != NULL)
		return fault;
	*which = -1;
	for (int fd = STREAM_COUNT; fd < OWN_DESCRIPTORS; fd++) {
		if (!is_kept(placing, fd))
			continue;
		if ((unsigned)fd > first &&
		    !close_at_exec(first, (unsigned)fd - 1))
			return "cannot close descriptors";
		first = (unsigned)fd + 1;
	}
	return close_at_exec(first, ~0U) ? NULL : "cannot close descriptors";
}

/* Its directories may be shut to this user, if somebody else opened it. */
static bool
may_change(int fd, const struct stat *status)
{
	return status->st_nlink > 0 &&
	    (status->st_uid == geteuid() ||
		syscall(SYS_faccessat2, fd, "", W_OK,
		    AT_EMPTY_PATH | AT_EACCESS) == 0);
}

static const char *
check(int fd, int *own_flags, struct stat *own_status)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat status;

	*own_flags = flags;
	/* One of the standard streams is closed, and stays that. */
	if (flags < 0)
		return NULL;
	if (fstat(fd, &status) != 0)
		return "cannot look at it";
	*own_status = status;
	errno = 0;
	if (S_ISDIR(status.st_mode))
		return "a directory, by which the command would reach what is "
		       "below it";
	if (flags & O_PATH)
		return "opened with O_PATH, to be reached and not to be read";
	if (fd >= STREAM_COUNT && S_ISREG(status.st_mode) &&
	    (flags & O_ACCMODE) == O_RDONLY && may_change(fd, &status))
		return "a file that is open for reading alone, which the "
		       "command could open again for writing; standard input "
		       "or a pipe will do";
	return NULL;
}

const char *
placing_check(const struct placing *placing, int *which)
{
	const char *fault;
	struct stat status;
	int flags;

	for (int fd = STREAM_COUNT; fd < OWN_DESCRIPTORS; fd++) {
		if (!is_kept(placing, fd))
			continue;
		*which = fd;
		fault = check(fd, &flags, &status);
		if (fault != NULL)
			return fault;
	}
	*which = -1;
	return NULL;
}

/* --- the standard streams ------------------------------------------------- */

/* Standard input is for reading, even if it could be written to. */
static bool
is_read(int fd, int flags, const struct stat *status)
{
	int mode = flags & O_ACCMODE;

	return S_ISREG(status->st_mode) &&
	    (mode == O_RDONLY || (mode == O_RDWR && fd == STDIN_FILENO));
}

static const char *
find_path(int fd, char *path)
{
	char link[] = "/proc/self/fd/N";
	ssize_t len;

	link[sizeof link - 2] = (char)('0' + fd);
	len = readlink(link, path, STREAM_PATH - 1);
	if (len < 0)
		return "cannot find the file by its path, to have it open for "
		       "reading alone; a pipe will do";
	path[len] = '\0';
	return NULL;
}

const char *
streams_find(struct streams *streams, int *which)
{
	const char *fault = NULL;
	struct stat status;

	for (int fd = 0; fd < STREAM_COUNT && fault == NULL; fd++) {
		int flags;

		streams->reopened[fd] = false;
		*which = fd;
		fault = check(fd, &flags, &status);
		if (fault != NULL || flags < 0)
			continue;
		if (S_ISCHR(status.st_mode) &&
		    status.st_rdev == makedev(1, 3) &&
		    status.st_uid == geteuid()) {
			strcpy(streams->path[fd], "/dev/null");
			streams->reopened[fd] = true;
		} else if (is_read(fd, flags, &status) &&
		    may_change(fd, &status)) {
			fault = find_path(fd, streams->path[fd]);
			streams->reopened[fd] = true;
		}
	}
	return fault;
}

const char *
streams_enter(const struct streams *streams, int *which)
{
	const char *fault = NULL;

	for (int fd = 0; fd < STREAM_COUNT && fault == NULL; fd++) {
		*which = fd;
		if (streams->reopened[fd])
			fault = enter_stream(fd, streams->path[fd]);
	}
	return fault;
}
