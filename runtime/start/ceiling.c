/*
 * The ceiling: a policy of the machine's owner, which no other goes beyond.  It is
 * root's, in a directory of root's, and nobody else may write either.  Whatever is
 * wrong with it ends every run.
 *
 * Where a user namespace has no number for root, the owner cannot be seen; there it is
 * enough that this process could not have written it.  Inside a sandbox of ours that
 * keeps the file from us the sandbox outside holds, which was made under it.
 */
#include "runtime/start/start.h"

#include "format/cut.h"
#include "format/protocol.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 1 << 18 }; /* beside the bytes of both, for pairs and filters */

static bool
is_inside(void)
{
	return syscall(SYS_ioprio_set, SBX_INSIDE_WHICH, 0, 0) != 0 &&
	    errno == SBX_INSIDE_ERRNO;
}

/* The directory or the file: a descriptor, or -1, if there is none. */
static int
open_ceiling(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno == ENOENT || (errno == EACCES && is_inside()))
		return fd;
	refuse(directory < 0 ? name : SBX_CEILING,
	    "the ceiling of this machine cannot be read", errno);
}

static int
open_directory(void)
{
	return open_ceiling(AT_FDCWD, SBX_CEILING_DIRECTORY,
	    O_PATH | O_DIRECTORY);
}

static void
check_owner(const char *path, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		refuse(path, "the ceiling of this machine cannot be read",
		    errno);
	if (status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return;
	if (status.st_uid == OVERFLOW_UID &&
	    (machine_hides_root() || machine_hides_owners()) &&
	    (status.st_mode & S_IWOTH) == 0 &&
	    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		return;
	refuse(path,
	    "it is the ceiling of this machine, so it has to be root's, and "
	    "nobody else's to write",
	    0);
}

bool
ceiling_is_there(void)
{
	int directory = open_directory();
	int fd = directory < 0 ?
	    -1 :
	    open_ceiling(directory, SBX_CEILING_NAME, O_PATH);

	if (directory >= 0)
		close(directory);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
read_ceiling(struct arena *arena, int fd, struct sbx_blob *ceiling)
{
	struct stat status;
	enum sbx_blob_error error = SBX_BLOB_SIZE;
	uint8_t *bytes;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		refuse(SBX_CEILING,
		    "the ceiling of this machine is no regular file", 0);
	if (status.st_size > 0 && status.st_size <= SBX_MAX_SIZE) {
		bytes = arena_take(arena, (size_t)status.st_size, 1);
		if (read(fd, bytes, (size_t)status.st_size) != status.st_size)
			refuse(SBX_CEILING,
			    "the ceiling of this machine cannot be read",
			    errno);
		error = sbx_verify(bytes, (size_t)status.st_size, ceiling);
		if (error == SBX_BLOB_OK &&
		    (ceiling->meta->flags & SBX_CUT) != 0)
			error = SBX_BLOB_META;
	}
	if (error != SBX_BLOB_OK)
		refuse(SBX_CEILING, sbx_blob_strerror(error), 0);
}

static void
cut(struct arena *arena, const struct sbx_blob *ceiling,
    struct policy_file *loaded, struct sbx_blob *blob)
{
	struct machine machine;
	struct sbx_cut_fault fault;
	size_t size = (size_t)blob->size + ceiling->size + ROOM, used;
	const struct sbx_blob policy = *blob;
	uint32_t before;
	uint8_t *room;

	if (size > SBX_MAX_SIZE)
		size = SBX_MAX_SIZE;
	room = arena_take(arena, size, 1);
	before = arena->used;
	machine_probe(&machine);
	used = sbx_cut(
	    &(struct sbx_cut_request){
		.policy = &policy,
		.ceiling = ceiling,
		.directory = SBX_CEILING_DIRECTORY "/",
		.arch = KERNEL_ARCH,
		.landlock_abi = (uint32_t)machine.landlock_abi,
		.platform = KERNEL_WHERE,
	    },
	    room, size, &fault);
	if (used == 0 && fault.source < policy.source_count)
		refuse_at(&policy, fault.source, fault.text, 0);
	if (used == 0 && fault.source != SBX_NO_SOURCE)
		refuse_at(ceiling, fault.source - policy.source_count,
		    fault.text, 0);
	if (used == 0)
		refuse(SBX_CEILING, fault.text, 0);
	/* What was not written to is as it was. */
	arena->used = before - (uint32_t)(size - used);
	if (sbx_verify(room, used, blob) != SBX_BLOB_OK)
		refuse(SBX_CEILING,
		    "what it leaves of the policy is more than a sandbox can "
		    "have: too many rules or ways out of the network",
		    0);
	loaded->applied = room;
	loaded->size = used;
}

void
ceiling_apply(struct arena *arena, struct policy_file *loaded,
    struct sbx_blob *blob)
{
	int directory = open_directory(), fd;
	struct sbx_blob ceiling;

	if (directory < 0)
		return;
	fd = open_ceiling(directory, SBX_CEILING_NAME,
	    O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		check_owner(SBX_CEILING_DIRECTORY, directory);
		check_owner(SBX_CEILING, fd);
		read_ceiling(arena, fd, &ceiling);
		close(fd);
		cut(arena, &ceiling, loaded, blob);
	}
	close(directory);
}
