/*
 * Files without a name in /tmp (open(2), O_TMPFILE), which is shut below level
 * full.  tmpfile(3) makes one there whatever TMPDIR says.  Nobody sees where a
 * file is that has no name, so the command gets one of the scratch directory.
 *
 * Any other file, and any other directory, is for the kernel to decide about:
 * such a call goes on as if nobody had looked, so it does not matter if another
 * thread changes the path meanwhile.
 */
#include "runtime/listen/answers.h"

#include <errno.h>
#include <string.h>

enum {
	KNOWN = O_ACCMODE | O_TMPFILE | O_EXCL | O_APPEND | O_NONBLOCK |
	    O_CLOEXEC | O_NOFOLLOW | 0100000 /* O_LARGEFILE */,
	KEPT = O_ACCMODE | O_TMPFILE | O_EXCL | O_APPEND | O_NONBLOCK,
	MODES = 0777,
};

static bool
is_in_tmp(const struct caller *caller, uint64_t address)
{
	char path[sizeof "/tmp/"];

	return caller_text(caller, address, path, sizeof path) == 0 &&
	    (strcmp(path, "/tmp") == 0 || strcmp(path, "/tmp/") == 0);
}

/* Where to make it, or -1: the policy opens /tmp itself, or has no scratch
 * directory. */
static int
open_scratch(const struct binding *binding)
{
	static const struct sbx_place tmp = { "/tmp", 4 };

	if (binding == NULL || binding->scratch.len == 0 ||
	    rule_index_allows(binding->index, SBX_WRITE, tmp) ||
	    !rule_index_allows(binding->index, SBX_WRITE, binding->scratch))
		return -1;
	return open(binding->scratch.path,
	    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int64_t
hand_over(const struct caller *caller, int fd, bool closed)
{
	struct seccomp_descriptor descriptor = {
		.id = caller->call.id,
		.ours = (uint32_t)fd,
		.its_flags = closed ? O_CLOEXEC : 0,
	};
	int number = ioctl(caller->listening->listener,
	    SECCOMP_IOCTL_NOTIF_ADDFD, &descriptor);

	return number < 0 ? -errno : number;
}

int64_t
answer_unnamed(const struct caller *caller)
{
	/* openat(2) has a directory before them. */
	const uint64_t *args = caller->call.args +
	    (caller->call.number == SYS_openat);
	int flags = (int)args[1], scratch, fd;
	int64_t result;

	if ((flags & ~KNOWN) != 0 || !is_in_tmp(caller, args[0]) ||
	    !caller_is_equal(caller))
		return ANSWER_GO_ON;
	scratch = open_scratch(caller->listening->binding);
	if (scratch < 0)
		return ANSWER_GO_ON;
	fd = openat(scratch, ".", (flags & KEPT) | O_CLOEXEC,
	    (mode_t)args[2] & MODES);
	result = fd < 0 ? -errno :
			  hand_over(caller, fd, (flags & O_CLOEXEC) != 0);
	if (fd >= 0)
		close(fd);
	close(scratch);
	return result;
}
