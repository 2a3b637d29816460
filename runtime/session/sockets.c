/*
 * Where sessions are found: a directory of the user's own (scratch_sessions()),
 * in which each has a socket of its name.
 *
 * Who makes or removes one of these sockets holds a lock on the directory; who
 * joins needs none.  A socket whose keeper was killed refuses connections, and
 * the next one to make a session of that name removes it.
 */
#include "runtime/session/session.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING_MAX = 64 /* connections that were not accepted yet */ };

int
sockets_open(void)
{
	return scratch_sessions(false);
}

/* Whoever makes a session has the lock for milliseconds.  Nobody waits for ever
 * for one who was stopped meanwhile. */
static bool
lock(int fd)
{
	enum { TRIES = 2000, PAUSE = 5 /* milliseconds */ };

	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		poll(NULL, 0, PAUSE);
	}
	errno = EBUSY;
	return false;
}

static int
open_made(void)
{
	int path = scratch_sessions(true), fd, error;

	if (path < 0)
		return -1;
	fd = openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = errno;
	close(path);
	errno = error;
	return fd;
}

/* The last one to leave may remove the directory while this one waits. */
int
sockets_lock(void)
{
	for (int tries = 0; tries < 16; tries++) {
		int fd = open_made(), error;
		struct stat status;

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return -1;
		if (lock(fd) && fstat(fd, &status) == 0) {
			if (status.st_nlink > 0)
				return fd;
			errno = ENOENT;
		}
		error = errno;
		close(fd);
		errno = error;
		if (error != ENOENT)
			return -1;
	}
	return -1;
}

/* By the directory's descriptor: its path may be longer than an address. */
static struct sockaddr_un
address_of(int directory, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct out out;

	out_into(&out, address.sun_path, sizeof address.sun_path);
	out_print(&out, "/proc/self/fd/%u/%s", (unsigned)directory, name);
	return address;
}

static int
open_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/* A keeper that was stopped answers nobody, and connect(2) waits where as many
 * wait as may. */
static bool
set_patience(int fd)
{
	static const struct timeval patience = { .tv_sec = 10 };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof patience) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof patience) == 0;
}

/*
 * By the name alone, from within the directory.  A path of /proc/self takes
 * three times as long, since the kernel makes that directory for each new
 * process.
 */
static int
connect_from_within(int fd, int directory, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), result, error;
	size_t len = strlen(name);
	bool within = here >= 0 && len < sizeof address.sun_path &&
	    fchdir(directory) == 0;

	if (within)
		memcpy(address.sun_path, name, len);
	else
		address = address_of(directory, name);
	result = connect(fd, (struct sockaddr *)&address, sizeof address);
	error = errno;
	if (within && fchdir(here) != 0)
		refuse(NULL, "cannot return to the current directory", errno);
	if (here >= 0)
		close(here);
	errno = error;
	return result;
}

int
sockets_connect(int directory, const char *name)
{
	int fd = open_socket(), error;

	if (fd < 0 ||
	    (set_patience(fd) && connect_from_within(fd, directory, name) == 0))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
sockets_listen(int directory, const char *name)
{
	struct sockaddr_un address = address_of(directory, name);
	int fd = open_socket(), error;

	if (fd < 0)
		return -1;
	if ((unlinkat(directory, name, 0) == 0 || errno == ENOENT) &&
	    bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	    fchmodat(directory, name, 0600, 0) == 0 &&
	    listen(fd, WAITING_MAX) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

uint64_t
sockets_inode(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ?
	    status.st_ino :
	    0;
}

void
sockets_unlock(int directory)
{
	char link[DESCRIPTOR_PATH_SIZE], path[256];
	ssize_t len;

	descriptor_path(link, directory);
	len = readlink(link, path, sizeof path - 1);
	/* Succeeds if nothing is in it; others who wait for the lock see that. */
	if (len > 0) {
		path[len] = '\0';
		rmdir(path);
	}
	close(directory);
}

void
sockets_remove(const char *name, uint64_t inode)
{
	int directory = sockets_lock();

	if (directory < 0)
		return;
	if (sockets_inode(directory, name) == inode)
		unlinkat(directory, name, 0);
	sockets_unlock(directory);
}

/* A socket that is being made refuses connections, too, but not under the
 * lock. */
void
sockets_clean(const char *name)
{
	int directory = sockets_lock(), fd;

	if (directory < 0)
		return;
	fd = sockets_connect(directory, name);
	if (fd < 0 && errno == ECONNREFUSED)
		unlinkat(directory, name, 0);
	if (fd >= 0)
		close(fd);
	sockets_unlock(directory);
}
