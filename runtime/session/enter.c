/*
 * From outside into a session, step by step.  Each step gives NULL, or a text
 * that says what it could not do, with errno or 0.  None of them writes, ends
 * the program, allocates, or takes a lock, so that they also work in the child
 * of a vfork(2) that has the memory of a program with threads.
 *
 * The order:
 *
 *	enter_process()    user namespace, the PID namespace of children, the tag
 *	clone(2)           the child is in the PID namespace
 *	enter_place()      mounts, IPC, network; the directory
 *	enter_restricted() limits, capabilities, Landlock, the filter
 *	execute_try()
 *
 * A process that others share their memory or their fs with cannot enter a user
 * namespace (setns(2)): a program with threads does the first step in a vfork
 * child of its own, which then clones with CLONE_PARENT.
 *
 * From clone(2) to enter_restricted() the child is in the sight of the
 * session's commands, without restrictions and with all capabilities over the
 * namespaces.  They can stop or kill it, or lower its limits, and nothing else:
 * Landlock lets nobody trace a process that is not in the same domain or in one
 * below.
 */
#include "runtime/session/offer.h"

#include "format/text.h"
#include "runtime/apply/apply.h"
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool
enter_one(const struct offer *offer, enum offer_descriptor which, int type)
{
	int fd = offer->descriptors[which];

	return fd < 0 || setns(fd, type) == 0;
}

/* The directory and a name below it, in a buffer that is large enough. */
static void
join(char *path, const char *name, const char *below)
{
	size_t len = strlen(name);

	memcpy(path, name, len);
	memcpy(path + len, below, strlen(below) + 1);
}

uint64_t
tag_of(int directory, const char *path)
{
	char text[64];
	const char *digits;
	uint64_t tag;
	ssize_t len;

	len = readlinkat(directory, path, text, sizeof text - 1);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	/* "uts:[4026531838]" */
	digits = strchr(text, '[');
	if (digits == NULL ||
	    sbx_decimal_read(digits + 1, text + len, &tag) == NULL)
		return 0;
	return tag;
}

const char *
enter_process(const struct offer *offer, bool marked)
{
	if (!enter_one(offer, OFFER_USER, CLONE_NEWUSER))
		return "cannot enter the session's user namespace";
	if (!enter_one(offer, OFFER_PID, CLONE_NEWPID))
		return "cannot enter the session's process namespace";
	if (marked && unshare(CLONE_NEWUTS) != 0)
		return "cannot make the mark by which the command's "
		       "processes are known";
	return NULL;
}

const char *
enter_place(const struct offer *offer, const char *directory)
{
	if (!enter_one(offer, OFFER_IPC, CLONE_NEWIPC) ||
	    !enter_one(offer, OFFER_NETWORK, CLONE_NEWNET) ||
	    !enter_one(offer, OFFER_MOUNT, CLONE_NEWNS))
		return "cannot enter the session's namespaces";
	if (directory != NULL && chdir(directory) != 0)
		return "the session's view does not have this directory";
	return NULL;
}

bool
enter_directory(const struct offer *offer, const char *outside, char *inside,
    size_t size)
{
	static const char tmp[] = "/tmp";
	struct offer_text scratch = offer->head->scratch;
	size_t len = strlen(outside);

	if (scratch.len > 0 && len >= scratch.len &&
	    memcmp(outside, offer_text(offer, scratch), scratch.len) == 0 &&
	    (outside[scratch.len] == '/' || outside[scratch.len] == '\0')) {
		if (sizeof tmp + len - scratch.len > size)
			return false;
		join(inside, tmp, outside + scratch.len);
		return true;
	}
	if (len >= size)
		return false;
	memcpy(inside, outside, len + 1);
	return true;
}

/* Where the view has something of its own, nobody takes it for what is outside. */
static bool
is_own_place(const char *directory, const struct stat *now)
{
	static const char *const own[] = { "/tmp", "/dev", "/proc", "/sys" };
	struct stat root;

	for (size_t i = 0; i < countof(own); i++) {
		size_t len = strlen(own[i]);

		if (strncmp(directory, own[i], len) == 0 &&
		    (directory[len] == '/' || directory[len] == '\0'))
			return true;
	}
	return stat("/", &root) == 0 && root.st_dev == now->st_dev;
}

static bool
is_staged(const struct offer *offer, const char *directory)
{
	struct offer_text at = offer->head->anchors[SBX_ANCHOR_WORKSPACE];

	return offer->head->stage.len > 0 &&
	    strncmp(directory, offer_text(offer, at), at.len) == 0 &&
	    (directory[at.len] == '/' || directory[at.len] == '\0');
}

const char *
enter_fault(const struct offer *offer, const char *directory,
    const struct stat *outside)
{
	struct stat now;

	errno = 0;
	if (stat(".", &now) != 0)
		return "cannot look at it";
	if ((now.st_dev == outside->st_dev && now.st_ino == outside->st_ino) ||
	    is_own_place(directory, &now) || is_staged(offer, directory))
		return NULL;
	return "another directory is there than when the session was made";
}

static bool
is_null_device(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 3);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return is_null_device(a) ?
	    is_null_device(b) :
	    a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

const char *
enter_stream(int fd, const char *path)
{
	int flags = fcntl(fd, F_GETFL), kept, again;
	off_t position = lseek(fd, 0, SEEK_CUR);
	struct stat before, now;

	if (flags < 0 || fstat(fd, &before) != 0)
		return "cannot look at it";
	kept = flags & (O_APPEND | O_DIRECT | O_NONBLOCK);
	again = open(path,
	    (is_null_device(&before) ? flags & O_ACCMODE : O_RDONLY) | kept |
		O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again < 0 || fstat(again, &now) != 0 || !is_same(&before, &now)) {
		int error = again < 0 ? errno : ENOENT;

		close(again);
		errno = error;
		return "the sandbox does not have this file, so that it cannot "
		       "be opened for reading alone; a pipe will do";
	}
	if (fcntl(again, F_SETFL, kept) != 0 ||
	    (position > 0 && lseek(again, position, SEEK_SET) < 0) ||
	    dup2(again, fd) < 0)
		return "cannot open the file for reading alone";
	close(again);
	return NULL;
}

const char *
enter_confined(const struct offer *offer)
{
	const struct offer_head *head = offer->head;
	const char *fault;

	fault = limit_resources(&offer->blob, SBX_LEVEL_FULL, head->held, 0);
	if (fault == NULL)
		fault = give_up_permitted(SBX_LEVEL_FULL);
	if (fault == NULL)
		fault = restrict_files(head->restrict_flags,
		    offer->descriptors[OFFER_RULESET]);
	return fault;
}

const struct sbx_program *
enter_filter(const struct offer *offer, bool guarded)
{
	return &offer->head->filters[guarded ? GUARD_GROUP : GUARD_TERMINAL];
}

const char *
enter_restricted(const struct offer *offer, int socket, bool guarded)
{
	int listener = -1;
	const char *fault = enter_confined(offer);

	if (fault == NULL)
		fault = filter_calls(offer->filters,
		    enter_filter(offer, guarded), &listener);
	if (fault == NULL && listener >= 0) {
		fault = session_ask(socket, SESSION_LISTENER, listener);
		/* Who has it could answer for the keeper; if a policy denies
		 * close(2), execve(2) closes it. */
		close(listener);
	}
	return fault;
}
