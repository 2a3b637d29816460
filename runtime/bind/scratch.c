#include "runtime/bind/scratch.h"

#include "runtime/base/out.h"
#include "runtime/base/path.h"
#include "runtime/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LEN = 16 }; /* hexadecimal digits of the workspace's digest */

/*
 * Opens one directory on the way, making it if wanted.  It must be ours and
 * closed to everybody else: anybody may write in /tmp, and the name may have
 * been taken by somebody who waits for us.  Returns -1 only for ENOENT.
 */
static int
open_private(int parent, const char *name, const char *shown, bool make)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(parent, name, flags);
	struct stat status;

	if (fd < 0 && errno == ENOENT) {
		if (!make)
			return -1;
		if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
			refuse(shown, "cannot make the scratch directory",
			    errno);
		fd = openat(parent, name, flags);
	}
	if (fd < 0)
		refuse(shown, "cannot open the scratch directory", errno);
	if (fstat(fd, &status) != 0)
		refuse(shown, "cannot look at the scratch directory", errno);
	if (status.st_uid != geteuid() || (status.st_mode & 077) != 0)
		refuse(shown,
		    "the scratch directory is not yours alone: remove it", 0);
	return fd;
}

/* Its descriptor, or -1 if it is missing and was not made. */
static int
find_scratch(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace,
    bool make)
{
	char digest[SHA256_HEX + 1];
	struct out out;
	int top, own;

	out_into(&out, path, SCRATCH_PATH_SIZE);
	out_print(&out, "/tmp/sbx-%u", geteuid());
	top = open_private(AT_FDCWD, path, path, make);
	sha256_hex(workspace.path, workspace.len, digest);
	digest[NAME_LEN] = '\0';
	out_print(&out, "/%s", digest);
	if (top < 0)
		return -1;
	own = open_private(top, digest, path, make);
	close(top);
	return own;
}

bool
scratch_holds(struct sbx_place directory)
{
	char path[SCRATCH_PATH_SIZE];
	struct out out;

	out_into(&out, path, sizeof path);
	out_print(&out, "/tmp/sbx-%u", geteuid());
	return sbx_covers(place_of(path), directory);
}

bool
scratch_path(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace,
    bool make)
{
	int fd = find_scratch(path, workspace, make);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int
scratch_open(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace)
{
	return find_scratch(path, workspace, false);
}
