/*
 * What was there before a run, on disk for as long as the run lasts: a supervisor
 * that is killed tells nothing any more, and the next one does it for it.
 *
 * A file for each run, in a directory of the user's where no command writes.  The
 * run holds a lock on it, which the kernel takes away when it ends, however.
 */
#include "runtime/watch/tripwire.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
forget(struct unfinished *run)
{
	if (run->fd >= 0)
		close(run->fd);
	if (run->directory >= 0)
		close(run->directory);
	run->fd = run->directory = -1;
}

/* Nobody's but of this process, so that no child keeps it. */
static bool
lock(int fd, int how)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, how, &all) == 0;
}

static bool
write_new(struct unfinished *run, const void *bytes, size_t len)
{
	ssize_t written;

	run->fd = openat(run->directory, run->name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (run->fd < 0)
		return false;
	run->fd = above_standard(run->fd);
	/* Before there is anything in it: who finds it empty lets it be. */
	if (!lock(run->fd, F_SETLKW))
		return false;
	written = write(run->fd, bytes, len);
	if (written >= 0 && (size_t)written != len)
		errno = ENOSPC;
	return written == (ssize_t)len;
}

/* In a sandbox the directory may lie where nothing can be written. */
static void
warn_unless_inside(int error)
{
	if (error != EACCES && error != EROFS && error != EPERM)
		warn_about("watch",
		    "if sbxrun is killed, the next run cannot say what changed",
		    error);
}

void
unfinished_begin(struct unfinished *run, const void *bytes, size_t len)
{
	struct timespec now;
	struct out name;
	int error;

	run->fd = -1;
	run->directory = scratch_runs(true);
	if (run->directory < 0) {
		warn_unless_inside(errno);
		return;
	}
	run->directory = above_standard(run->directory);
	time_now(CLOCK_REALTIME, &now);
	out_into(&name, run->name, sizeof run->name);
	out_print(&name, "%u-%u", (unsigned)getpid(), (unsigned)now.tv_nsec);
	if (write_new(run, bytes, len))
		return;
	error = errno;
	if (run->fd >= 0)
		unlinkat(run->directory, run->name, 0);
	forget(run);
	warn_unless_inside(error);
}

void
unfinished_end(struct unfinished *run)
{
	if (run->fd < 0)
		return;
	unlinkat(run->directory, run->name, 0);
	forget(run);
}

void
unfinished_open(struct unfinished_list *list)
{
	int directory = scratch_runs(false);

	list->run.fd = -1;
	list->run.directory = directory < 0 ?
	    -1 :
	    openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0)
		close(directory);
	directory_begin(&list->entries, list->run.directory);
}

/* Whether its run has ended: with a lock, and before the file was removed. */
static bool
is_left(const struct unfinished *run, size_t *len)
{
	enum { A_WHILE = 60 };
	struct timespec now;
	struct stat status;

	if (!lock(run->fd, F_SETLK) || fstat(run->fd, &status) != 0 ||
	    !S_ISREG(status.st_mode) || status.st_nlink == 0)
		return false;
	*len = (size_t)status.st_size;
	time_now(CLOCK_REALTIME, &now);
	/* One that is empty may be just begun. */
	return *len > 0 || now.tv_sec - status.st_mtim.tv_sec > A_WHILE;
}

bool
unfinished_next(struct unfinished_list *list, size_t *len)
{
	struct unfinished *run = &list->run;
	const struct entry *entry;

	if (run->fd >= 0)
		close(run->fd);
	run->fd = -1;
	while (run->directory >= 0 &&
	    (entry = directory_next(&list->entries)) != NULL) {
		if (strlen(entry->name) >= UNFINISHED_NAME)
			continue;
		strcpy(run->name, entry->name);
		run->fd = openat(run->directory, run->name,
		    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (run->fd >= 0 && is_left(run, len))
			return true;
		if (run->fd >= 0)
			close(run->fd);
		run->fd = -1;
	}
	return false;
}

void
unfinished_close(struct unfinished_list *list)
{
	forget(&list->run);
}
