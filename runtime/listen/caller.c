/*
 * The thread whose system call is answered: its memory and its descriptors.
 * Whatever is taken from there is the caller's word, and of a fixed size.  A
 * thread that we may not look into (prctl(2), PR_SET_DUMPABLE) gets EPERM.
 */
#include "runtime/listen/answers.h"

#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>

enum {
	PAGE = 4096,
	SHORT = 256, /* bytes of a text */
	NAME_SIZE = 64,
	TICK = 1000, /* microseconds */
};

/* ESRCH, EPERM and the like are about us, and not for the caller to see. */
static int
memory_error(void)
{
	return errno == EFAULT ? -EFAULT : -EPERM;
}

int
caller_read(const struct caller *caller, uint64_t address, void *bytes,
    size_t len)
{
	struct iovec here = { bytes, len };
	struct iovec there = { (void *)(uintptr_t)address, len };
	ssize_t got = process_vm_readv((pid_t)caller->call.thread, &here, 1,
	    &there, 1, 0);

	if (got < 0)
		return memory_error();
	return (size_t)got == len ? 0 : -EFAULT;
}

/* Nearly every text ends within the first bytes: a read of more pages costs more
 * than all that is done with it.  False: it does not, or cannot be read. */
static bool
read_short(const struct caller *caller, uint64_t address, char *text,
    size_t size)
{
	size_t left = PAGE - address % PAGE;
	struct iovec here = { text, size < SHORT ? size : SHORT }, there;
	ssize_t got;

	if (here.iov_len > left)
		here.iov_len = left;
	there = (struct iovec){ (void *)(uintptr_t)address, here.iov_len };
	got = process_vm_readv((pid_t)caller->call.thread, &here, 1, &there, 1,
	    0);
	return got > 0 && memchr(text, '\0', (size_t)got) != NULL;
}

/* The memory after the page that the text ends in need not be there: the kernel
 * then reads the first part alone. */
int
caller_text(const struct caller *caller, uint64_t address, char *text,
    size_t size)
{
	size_t first = PAGE - address % PAGE;
	struct iovec here = { text, size }, there[2];
	ssize_t got;

	if (read_short(caller, address, text, size))
		return 0;
	first = first < size ? first : size;
	there[0] = (struct iovec){ (void *)(uintptr_t)address, first };
	there[1] = (struct iovec){ (void *)(uintptr_t)(address + first),
		size - first };
	got = process_vm_readv((pid_t)caller->call.thread, &here, 1, there, 2,
	    0);
	if (got < 0)
		return memory_error();
	if (memchr(text, '\0', (size_t)got) != NULL)
		return 0;
	return (size_t)got == size ? -ENAMETOOLONG : -EFAULT;
}

static int
open_of_thread(const struct caller *caller, const char *name, int error)
{
	char path[NAME_SIZE];
	struct out out;
	int fd;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/%s", caller->call.thread, name);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -error : -EPERM;
}

int
caller_directory(const struct caller *caller)
{
	return open_of_thread(caller, "cwd", ENOENT);
}

int
caller_root(const struct caller *caller)
{
	return open_of_thread(caller, "root", ENOENT);
}

int
caller_descriptor(const struct caller *caller, int fd)
{
	char name[NAME_SIZE];
	struct out out;

	if (fd < 0)
		return -EBADF;
	out_into(&out, name, sizeof name);
	out_print(&out, "fd/%u", (unsigned)fd);
	return open_of_thread(caller, name, EBADF);
}

/* A number in a line of /proc/TID/status: "Name:\tsh\nUmask:\t0022\n...\n
 * Tgid:\t4711\n".  The kernel escapes the name. */
static bool
read_status(const struct caller *caller, const char *name, int column,
    uint32_t *number)
{
	char path[NAME_SIZE], text[1024];
	const char *at;
	struct out out;
	uint64_t value;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/status", caller->call.thread);
	if (!file_read(AT_FDCWD, path, text, sizeof text))
		return false;
	at = strstr(text, name);
	if (at == NULL)
		return false;
	for (at += strlen(name); column > 0; column--) {
		at = strchr(at, '\t');
		if (at++ == NULL)
			return false;
	}
	if (sbx_decimal_read(at, text + strlen(text), &value) == NULL ||
	    value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

static pid_t
process_of(const struct caller *caller)
{
	uint32_t process;

	return read_status(caller, "\nTgid:\t", 0, &process) &&
		process <= INT_MAX ?
	    (pid_t)process :
	    -1;
}

/* "Uid:" has the real one first, then the effective one.  Under no_new_privs
 * only a superuser becomes somebody else. */
bool
caller_user(const struct caller *caller, struct user *user)
{
	user->uid = geteuid();
	user->gid = getegid();
	return user->uid != 0 ||
	    (read_status(caller, "\nUid:\t", 1, &user->uid) &&
		read_status(caller, "\nGid:\t", 1, &user->gid));
}

/* Before Linux 6.9 a pidfd is that of a whole process. */
static int
open_thread(const struct caller *caller)
{
	int pidfd = (int)syscall(SYS_pidfd_open, caller->call.thread,
	    PIDFD_THREAD);

	if (pidfd >= 0 || errno != EINVAL)
		return pidfd;
	return (int)syscall(SYS_pidfd_open, process_of(caller), 0);
}

int
caller_copy(const struct caller *caller, int fd)
{
	int pidfd = open_thread(caller), copy, error;

	if (pidfd < 0)
		return -EPERM;
	copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	error = errno;
	close(pidfd);
	if (copy >= 0)
		return copy;
	return error == EBADF ? -EBADF : -EPERM;
}

bool
ticks(bool on)
{
	static const struct itimerval ticking = { { 0, TICK }, { 0, TICK } };
	static const struct itimerval none;

	return setitimer(ITIMER_REAL, on ? &ticking : &none, NULL) == 0;
}

/* The caller may have closed its own descriptor meanwhile, and the last one to
 * close a socket waits as long as its SO_LINGER says (socket(7)). */
void
caller_close(int copy)
{
	ticks(true);
	close(copy);
	ticks(false);
}

bool
caller_is_equal(const struct caller *caller)
{
	struct cap_header header = { LINUX_CAPABILITY_VERSION_3, 0 };
	struct cap_data ours[2], theirs[2];

	if (geteuid() != 0)
		return true;
	if (syscall(SYS_capget, &header, ours) != 0)
		return false;
	header.pid = (int32_t)caller->call.thread;
	return syscall(SYS_capget, &header, theirs) == 0 &&
	    theirs[0].effective == ours[0].effective &&
	    theirs[1].effective == ours[1].effective;
}

bool
caller_waits(const struct caller *caller)
{
	return ioctl(caller->listening->listener, SECCOMP_IOCTL_NOTIF_ID_VALID,
		   &caller->call.id) == 0;
}
