/*
 * What sandboxes have left may be anything: directories that are shut, trees
 * deeper than a path can be long, links to anywhere, and a command that changes
 * it all meanwhile.  So nothing is followed, every step starts from an open
 * directory, and there is no recursion: what is not empty is moved to the top
 * and has its turn there.
 */
#include "runtime/inspect/clean.h"

#include "runtime/base/file.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/follow.h"
#include "runtime/bind/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ENTRIES_SIZE = 32768,
	/* Each takes a level of the tree away.  Who goes on making them while
	 * we work is given up. */
	PASSES = 1 << 20,
};

struct clean {
	const char *path; /* of the scratch directory */
	int top;
	uint64_t moved; /* the next free name at the top */
};

__attribute__((noreturn)) static void
refuse_entry(const struct clean *clean, const char *name)
{
	int error = errno;
	char shown[SCRATCH_PATH_SIZE + 256 + 2];

	strcpy(shown, clean->path);
	strcat(shown, "/");
	strncat(shown, name, 256);
	refuse(shown, "cannot remove it", error);
}

/* An open place as a directory that may be read and changed, by its name in
 * /proc: fchmod(2) takes no such descriptor.  -1 and errno. */
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

/* What is mounted there is not the scratch directory's. */
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

/* The names need not be free: a directory may take the place of an empty one,
 * and no other's. */
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
 * One entry.  At the top a directory is emptied, by which its own directories
 * come to the top; elsewhere it is moved there.
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

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether nothing is left of what an open directory held. */
static bool
clear(struct clean *clean, int directory)
{
	_Alignas(8) char entries[ENTRIES_SIZE];
	long len;

	while ((len = read_entries(directory, entries, sizeof entries)) > 0) {
		for (long at = 0; at < len;) {
			const struct entry *entry = (const void *)(entries +
			    at);

			if (!is_dots(entry->name) &&
			    !remove_entry(clean, directory, entry->name))
				refuse_entry(clean, entry->name);
			at += entry->size;
		}
	}
	return len == 0;
}

/*
 * The name of a workspace that may be gone.  A current directory that is gone
 * has none, and half a name would be another one's.
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
