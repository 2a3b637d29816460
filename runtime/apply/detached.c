/*
 * Mounts that are attached nowhere yet.  Each function gives the descriptor of
 * one, or -1 and errno.
 */
#include "runtime/apply/mounts.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
new_mount(const char *type, const char *option, const char *value,
    uint64_t attributes)
{
	int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	int mount = -1;

	if (context < 0)
		return -1;
	if ((option == NULL ||
		syscall(SYS_fsconfig, context, FS_SET_STRING, option, value,
		    0) == 0) &&
	    syscall(SYS_fsconfig, context, FS_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
		    attributes);
	close(context);
	return mount;
}

enum {
	COPY = OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH |
	    AT_SYMLINK_NOFOLLOW,
};

int
copy_mount(int directory, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, directory, path, COPY | flags);
}

int
copy_mount_as(int directory, const char *path, unsigned flags,
    uint64_t attributes)
{
	const struct mount_attributes all = { .set = attributes };
	int mount = (int)syscall(SYS_open_tree_attr, directory, path,
	    COPY | flags, &all, sizeof all);
	int error;

	/* Before Linux 6.15, and in containers with an older filter. */
	if (mount >= 0 || (errno != ENOSYS && errno != EPERM))
		return mount;
	mount = copy_mount(directory, path, flags);
	if (mount < 0 || set_mount(mount, "", AT_EMPTY_PATH | flags, &all) == 0)
		return mount;
	error = errno;
	close(mount);
	errno = error;
	return -1;
}
