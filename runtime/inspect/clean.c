/*
 * Sandboxes may have left anything: directories that nobody may enter, trees
 * deeper than a path can be long, links to anywhere, and a command that changes
 * all this meanwhile.  So no link is followed, every step starts from an open
 * directory, and there is no recursion: a directory that is not empty is moved
 * to the top and is emptied there.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Each pass removes a level of the tree.  A command that goes on making them
 * meanwhile is not waited for. */
enum { PASSES = 1 << 20 };

struct clean {
	int top;
	uint64_t moved; /* the next free name at the top */
	struct out *failed;
};

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

/* Opens a directory below; a mount there is no part of the scratch
 * directory. */
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
		int error;

		if (remove_entry(clean, fd, entry->name))
			continue;
		error = errno;
		if (clean->failed->used == 0)
			out_print(clean->failed, "/%s", entry->name);
		errno = error;
		return false;
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
			    "its name cannot be found; name the workspace with "
			    "-w and a path from the root",
			    len < 0 ? errno : 0);
	}
	found = follow_given(arena, given != NULL ? given : ".");
	if (found.at.path == NULL || found.error == ENAMETOOLONG ||
	    found.error == ELOOP)
		refuse(given, "no such workspace", found.error);
	return found.at;
}

bool
clean_directory(const char *path, int place, struct out *failed)
{
	struct clean clean = { .top = open_up(place), .failed = failed };

	if (clean.top < 0)
		return false;
	for (int pass = 0; pass < PASSES; pass++) {
		if (unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			return true;
		if ((errno != ENOTEMPTY && errno != EEXIST) ||
		    lseek(clean.top, 0, SEEK_SET) != 0 ||
		    !clear(&clean, clean.top))
			break;
	}
	return false;
}

__attribute__((noreturn)) void
clean_scratch(struct arena *arena, const char *given)
{
	struct sbx_place workspace = find_workspace(arena, given);
	char path[SCRATCH_PATH_SIZE];
	int place = scratch_open(path, workspace), error;
	struct out failed, name;

	if (place < 0)
		_exit(0);
	out_init(&failed, -1);
	if (clean_directory(path, place, &failed))
		_exit(0);
	error = errno;
	out_init(&name, -1);
	out_print(&name, "%s%s", path, failed.text);
	refuse(name.text, "cannot remove it", error);
}
