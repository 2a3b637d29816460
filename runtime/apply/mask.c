/* See mask.h. */
#include "runtime/apply/mask.h"

#include "runtime/apply/detached.h"
#include "runtime/apply/mount_table.h"

#include <fcntl.h>

int
mask_new(bool directory, bool closed)
{
	static const struct mount_attributes all = { .set = MOUNT_ATTR_RDONLY |
		    MOUNT_ALWAYS | MOUNT_ATTR_NOEXEC };
	int mount;

	if (directory)
		return new_mount("tmpfs", "mode", "0111",
		    MOUNT_ALWAYS | (closed ? MOUNT_ATTR_RDONLY : 0));
	mount = copy_mount(AT_FDCWD, "/dev/null", MOUNT_TREE);
	if (mount >= 0 && set_mount(mount, "", AT_EMPTY_PATH, &all) != 0)
		mount = -1;
	return mount;
}
