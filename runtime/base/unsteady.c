/*
 * File systems in which the kernel forgets a name when looking it up again fails,
 * for whatever reason, a shortage of the server's among them.  What is mounted
 * there then goes as well, in all namespaces, and shows what it hid.
 */
#include "runtime/base/files.h"

#include <errno.h>
#include <string.h>
#include <sys/vfs.h>

/* Those whose d_revalidate takes each error for the end of the name.  NFS, SMB
 * and 9p tell them apart. */
static bool
forgets(unsigned long kind)
{
	return kind == 0x65735546 /* FUSE, virtiofs */ ||
	    kind == 0x786f4256 /* vboxsf */ || kind == 0x00c36400 /* ceph */;
}

bool
unsteady_place(struct sbx_place at)
{
	char path[SBX_MAX_PATH + 1];
	struct statfs status;

	while (at.len > 0 && at.path[at.len - 1] != '/')
		at.len--;
	if (at.len == 0)
		return false;
	memcpy(path, at.path, at.len);
	path[at.len] = '\0';
	if (statfs(path, &status) == 0)
		return forgets((unsigned long)status.f_type);
	/* A server answers this call, and need not. */
	return errno != ENOENT && errno != ENOTDIR && errno != EACCES;
}
