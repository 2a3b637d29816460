/*
 * What a caller names in the file system, and whether the policy lets it write
 * there.  It is opened first and judged by where it really is, so that no link
 * and no other thread can put something else in its place in between.
 */
#include "runtime/listen/answers.h"

#include "format/text.h"
#include "runtime/base/files.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The number of "/dev/fd/N" or "/proc/self/fd/N", by which libc changes what a
 * descriptor without rights of its own leads to; -1 for any other path.
 */
static int
named_descriptor(const char *path)
{
	static const char *const names[] = {
		"/proc/self/fd/",
		"/proc/thread-self/fd/",
		"/dev/fd/",
	};
	uint64_t number;

	for (size_t i = 0; i < countof(names); i++) {
		size_t len = strlen(names[i]);
		const char *end = path + strlen(path);

		if (strncmp(path, names[i], len) == 0 &&
		    sbx_decimal_read(path + len, end, &number) == end &&
		    number <= INT_MAX)
			return (int)number;
	}
	return -1;
}

/*
 * The links in /proc that lead to what a process has would be those of this
 * process, so they are not followed.  A command in a root directory of its own,
 * which a policy must have allowed, gets what the path names here.
 */
static int
open_below(int directory, const char *path, int flags)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC |
		    (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_NO_MAGICLINKS,
	};
	int fd = openat2(directory, path, &how);

	return fd < 0 ? -errno : fd;
}

int
place_open(const struct caller *caller, int directory, const char *path,
    int flags)
{
	int number = named_descriptor(path), base, fd;

	if (number >= 0 && (flags & AT_SYMLINK_NOFOLLOW) == 0)
		return caller_descriptor(caller, number);
	if (caller->listening->view)
		return view_open(caller, directory, path, flags);
	if (*path == '/')
		return open_below(AT_FDCWD, path, flags);
	base = directory == AT_FDCWD ? caller_directory(caller) :
				       caller_descriptor(caller, directory);
	if (base < 0)
		return base;
	fd = open_below(base, path, flags);
	close(base);
	return fd;
}

/* --- judging -------------------------------------------------------------- */

static const char deleted[] = " (deleted)";

static bool
is_same(int fd, const char *path)
{
	struct stat open, named;

	return fstat(fd, &open) == 0 &&
	    fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

static bool
is_allowed(const struct caller *caller, const char *path, uint8_t right)
{
	const struct binding *binding = caller->listening->binding;

	/* At level full, where no call comes here, there is none. */
	return binding != NULL &&
	    rule_index_allows(binding->index, right, place_of(path));
}

/*
 * The kernel names what is open by its present path.  If that leads somewhere
 * else, the file has no name any more, or it is on a mount that we do not see;
 * the former ends in " (deleted)", as a name can, too.
 */
static bool
place_allows(const struct caller *caller, int fd, uint8_t right)
{
	char link[DESCRIPTOR_PATH_SIZE], path[SBX_MAX_PATH + 1];
	size_t tail = sizeof deleted - 1, len;
	ssize_t got;

	descriptor_path(link, fd);
	got = readlink(link, path, sizeof path);
	if (got <= 0 || (size_t)got >= sizeof path || *path != '/')
		return false;
	len = (size_t)got;
	path[len] = '\0';
	if (!is_allowed(caller, path, right))
		return false;
	if (is_same(fd, path))
		return true;
	if (len <= tail || strcmp(path + len - tail, deleted) != 0)
		return false;
	path[len - tail] = '\0';
	return is_allowed(caller, path, right);
}

bool
place_is_writable(const struct caller *caller, int fd)
{
	return caller->listening->view ? view_is_writable(fd) :
					 place_allows(caller, fd, SBX_WRITE);
}

bool
place_is_readable(const struct caller *caller, int fd)
{
	return place_allows(caller, fd, SBX_READ);
}
