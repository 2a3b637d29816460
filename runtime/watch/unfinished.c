/*
 * What was there before a run, on disk for as long as the run lasts: a supervisor
 * that is killed tells nothing any more, and the next one does it for it; and so
 * where a command of a session has left something that goes on.
 *
 * A file for each run, in a directory of the user's where no command writes.  The
 * run holds a lock on it, which the kernel takes away when it ends, however.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many files stay in the directory for the next runs, since to make and
 * remove one takes longer than all that is written to it. */
enum { FREE_MAX = 4 };

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

/* Before there is anything in it: who finds it empty lets it be. */
static bool
make(struct unfinished *run)
{
	struct timespec now;
	struct out name;

	time_now(CLOCK_REALTIME, &now);
	out_into(&name, run->name, sizeof run->name);
	out_print(&name, "%u-%u", (unsigned)getpid(), (unsigned)now.tv_nsec);
	run->fd = openat(run->directory, run->name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (run->fd < 0)
		return false;
	run->fd = above_standard(run->fd);
	return lock(run->fd, F_SETLKW);
}

bool
unfinished_begin(struct unfinished *run, void *bytes, size_t len)
{
	ssize_t written;
	int error;

	run->bytes = bytes;
	run->len = len;
	if (run->directory < 0)
		return false;
	if (run->fd >= 0 || make(run)) {
		written = pwrite(run->fd, bytes, len, 0);
		if (written == (ssize_t)len)
			return true;
		errno = written >= 0 ? ENOSPC : errno;
	}
	error = errno;
	if (run->fd >= 0)
		unlinkat(run->directory, run->name, 0);
	forget(run);
	errno = error;
	return false;
}

/* Nothing of what was there stays. */
void
unfinished_end(struct unfinished *run)
{
	if (run->fd < 0)
		return;
	memset(run->bytes, 0, run->len);
	if (run->others >= FREE_MAX ||
	    pwrite(run->fd, run->bytes, run->len, 0) != (ssize_t)run->len)
		unlinkat(run->directory, run->name, 0);
	forget(run);
}

/* --- those that were killed ----------------------------------------------- */

void
unfinished_open(struct unfinished_list *list, int directory)
{
	list->run = list->free = (struct unfinished){ .directory = -1,
		.fd = -1 };
	if (directory >= 0) {
		list->run.directory = openat(directory, ".",
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(directory);
	}
	list->others = 0;
	directory_begin(&list->entries, list->run.directory);
}

enum found { BUSY, FREE, KILLED };

/* Which run it is of: one that goes on has a lock, and was there before the file
 * was removed; one that ended has nothing in it. */
static enum found
look_at(const struct unfinished *run, size_t *len)
{
	enum { A_WHILE = 60 };
	struct timespec now;
	struct stat status;
	uint32_t begin = 0;

	if (!lock(run->fd, F_SETLK) || fstat(run->fd, &status) != 0 ||
	    !S_ISREG(status.st_mode) || status.st_nlink == 0)
		return BUSY;
	*len = (size_t)status.st_size;
	time_now(CLOCK_REALTIME, &now);
	/* One that is empty may be just begun. */
	if (*len == 0)
		return now.tv_sec - status.st_mtim.tv_sec > A_WHILE ? FREE :
								      BUSY;
	return pread(run->fd, &begin, sizeof begin, 0) == sizeof begin &&
		begin == 0 ?
	    FREE :
	    KILLED;
}

bool
unfinished_next(struct unfinished_list *list, size_t *len)
{
	struct unfinished *run = &list->run;
	const struct entry *entry;
	enum found found;

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
		if (run->fd < 0)
			continue;
		found = look_at(run, len);
		if (found == KILLED)
			return true;
		list->others++;
		if (found == FREE && list->free.fd < 0)
			list->free = *run;
		else
			close(run->fd);
		run->fd = -1;
	}
	return false;
}

void
unfinished_close(struct unfinished_list *list, struct unfinished *next)
{
	if (list->run.fd >= 0)
		close(list->run.fd);
	list->run.fd = -1;
	if (next == NULL || list->run.directory < 0) {
		if (list->free.fd >= 0)
			close(list->free.fd);
		forget(&list->run);
		return;
	}
	*next = list->free;
	next->others = list->others;
	next->directory = above_standard(list->run.directory);
	if (next->fd >= 0)
		next->fd = above_standard(next->fd);
}
