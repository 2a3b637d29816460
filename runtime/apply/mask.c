/*
 * Masks: what is mounted over a denied file or directory, so that nobody can
 * open it.
 *
 * A device file on a mount that has no devices cannot be opened, whoever asks
 * and whatever its mode; a directory that may only be passed through cannot be
 * listed by anybody without capabilities.
 */
#include "runtime/apply/mounts.h"

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
