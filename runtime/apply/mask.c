/* See mask.h. */
#include "runtime/apply/mask.h"

#include "runtime/apply/detached.h"
#include "runtime/apply/mount_table.h"

#include <fcntl.h>

int
mask_new(bool directory, bool closed)
{
	if (directory)
		return new_mount("tmpfs", "mode", "0111",
		    MOUNT_ALWAYS | (closed ? MOUNT_ATTR_RDONLY : 0));
	return copy_mount_as(AT_FDCWD, "/dev/null", MOUNT_TREE,
	    MOUNT_ATTR_RDONLY | MOUNT_ALWAYS | MOUNT_ATTR_NOEXEC);
}
