/* See detached.h. */
#include "runtime/apply/detached.h"

#include "runtime/base/kernel.h"

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
		syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, option,
		    value, 0) == 0) &&
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL,
		0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
		    attributes);
	close(context);
	return mount;
}

int
copy_mount(int directory, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, directory, path,
	    OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW |
		flags);
}
