/*
 * What a caller at level full names in the file system.  It sees the mounts of
 * the view, and these are read-only where the policy lets it write nothing.
 */
#include "runtime/listen/answers.h"

#include "runtime/base/files.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

/* The path of a directory of the caller, in the view.  If the directory is moved
 * at this moment, it leads elsewhere in the view, where it is judged as
 * well. */
static int
name_directory(const struct caller *caller, int fd, struct path *path)
{
	int directory = fd == AT_FDCWD ? caller_directory(caller) :
					 caller_descriptor(caller, fd);
	char link[DESCRIPTOR_PATH_SIZE];
	ssize_t len;

	if (directory < 0)
		return directory;
	descriptor_path(link, directory);
	len = readlink(link, path->text, sizeof path->text);
	close(directory);
	if (len < 0 || len >= (ssize_t)sizeof path->text)
		return -ENAMETOOLONG;
	path_cut(path, (uint32_t)len);
	return 0;
}

/* From the root, since an absolute link in a relative path leads there too. */
static int
name_place(const struct caller *caller, int directory, const char *name,
    struct path *path)
{
	int error;

	path_cut(path, 0);
	if (*name != '/') {
		error = name_directory(caller, directory, path);
		if (error != 0)
			return error;
	}
	return path_push(path, name, strlen(name)) ? 0 : -ENAMETOOLONG;
}

int
view_open(const struct caller *caller, int directory, const char *name,
    int flags)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC |
		    (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	struct path path;
	int root, fd, error = name_place(caller, directory, name, &path);

	if (error != 0)
		return error;
	root = caller_root(caller);
	if (root < 0)
		return root;
	fd = openat2(root, path.text, &how);
	error = errno;
	close(root);
	return fd < 0 ? -error : fd;
}

bool
view_is_writable(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 &&
	    ((unsigned long)status.f_flags & ST_RDONLY) == 0;
}
