/*
 * Sandboxes may have left anything: directories that nobody may enter, trees
 * deeper than a path can be long, links to anywhere, and a command that changes
 * all this meanwhile.  So no link is followed, every step starts from an open
 * directory, and there is no recursion: a directory that is not empty is moved
 * to the top and is emptied there.
 */
#include "runtime/inspect/clean.h"

#include "runtime/base/directory.h"
#include "runtime/base/file.h"
#include "runtime/base/out.h"
#include "runtime/bind/follow.h"
#include "runtime/bind/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Each pass removes a level of the tree.  A command that goes on making them
 * meanwhile is not waited for. */
enum { PASSES = 1 << 20 };

struct clean {
	const char *path; /* of the workspace's scratch directories */
	int top;
	uint64_t moved; /* the next free name at the top */
};

__attribute__((noreturn)) static void
refuse_entry(const struct clean *clean, const char *name)
{
	int error = errno;
	struct out path;

	out_init(&path, -1);
	out_print(&path, "%s/%s", clean->path, name);
	refuse(path.text, "cannot remove it", error);
}

/* Opens a directory for reading, from an O_PATH descriptor, and lets its owner
 * change it.  By its name in /proc, since fchmod(2) takes no such descriptor.
 * -1 and errno. */
static int
open_up(int place)
{
	char link[DESCRIPTOR_PATH_SIZE];
	int fd;

	descriptor_path(link, place);
	chmod(link, 0700);
	fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(place);
	return fd;
}

/* Opens a directory below; a mount there is no part of the scratch directory. */
static int
enter(int parent, const char *name)
{
	static const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};
	int place = openat2(parent, name, &how);

	return place < 0 ? -1 : open_up(place);
}

/* Moves an entry to the top.  The new name need not be free: rename(2) replaces
 * an empty directory and no other one. */
static bool
move_up(struct clean *clean, int from, const char *name)
{
	struct out number;

	do {
		out_init(&number, -1);
		out_number(&number, clean->moved++);
		if (syscall(SYS_renameat2, from, name, clean->top, number.text,
			0) == 0)
			return true;
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
	return false;
}

static bool clear(struct clean *clean, int directory);

/*
 * Removes one entry.  A directory at the top is emptied, which moves its own
 * directories to the top; one elsewhere is moved to the top.
 */
static bool
remove_entry(struct clean *clean, int directory, const char *name)
{
	int fd;
	bool done;

	if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
		return true;
	if (unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return true;
	if (errno != ENOTEMPTY && errno != EACCES && errno != EEXIST)
		return false;
	fd = enter(directory, name);
	if (fd < 0)
		return errno == ENOENT;
	done = directory != clean->top ? move_up(clean, directory, name) :
					 clear(clean, fd) &&
		(unlinkat(directory, name, AT_REMOVEDIR) == 0 ||
		    errno == ENOTEMPTY || errno == ENOENT);
	close(fd);
	return done;
}

/* Removes what an open directory holds; false if it cannot be read. */
static bool
clear(struct clean *clean, int fd)
{
	struct directory directory;
	const struct entry *entry;

	directory_begin(&directory, fd);
	while ((entry = directory_next(&directory)) != NULL) {
		if (!remove_entry(clean, fd, entry->name))
			refuse_entry(clean, entry->name);
	}
	return directory.len == 0;
}

/*
 * The path of a workspace that may be gone.  A current directory that is gone
 * has no path, and part of one would name another directory.
 */
static struct sbx_place
find_workspace(struct arena *arena, const char *given)
{
	char cwd[SBX_MAX_PATH + 1] = "";
	struct followed found;
	long len;

	if (given == NULL || given[0] != '/') {
		len = current_path(cwd, sizeof cwd);
		if (len < 0 || cwd[0] != '/')
			refuse("the current directory",
			    "its name cannot be "
			    "found; name the workspace with -w and a path "
			    "from the root",
			    len < 0 ? errno : 0);
	}
	found = follow_given(arena, given != NULL ? given : ".");
	if (found.at.path == NULL || found.error == ENAMETOOLONG ||
	    found.error == ELOOP)
		refuse(given, "no such workspace", found.error);
	return found.at;
}

__attribute__((noreturn)) void
clean_scratch(struct arena *arena, const char *given)
{
	struct sbx_place workspace = find_workspace(arena, given);
	char path[SCRATCH_PATH_SIZE];
	struct clean clean = { .path = path };
	int place = scratch_open(path, workspace);

	if (place < 0)
		_exit(0);
	clean.top = open_up(place);
	if (clean.top < 0)
		refuse(path, "cannot open the scratch directory", errno);
	for (int pass = 0; pass < PASSES; pass++) {
		if (unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			_exit(0);
		if (errno != ENOTEMPTY && errno != EEXIST)
			break;
		if (lseek(clean.top, 0, SEEK_SET) != 0 ||
		    !clear(&clean, clean.top))
			break;
	}
	refuse(path, "cannot remove it", errno);
}
