/*
 * Who is at the other end of a session's socket.  A sandbox may hold a place in
 * which sockets lie, and must neither join a session nor pass for a keeper.
 */
#include "runtime/session/offer.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PIDFD_GET_MNT_NAMESPACE
#define PIDFD_GET_MNT_NAMESPACE _IO(0xFF, 3)
#define PIDFD_GET_USER_NAMESPACE _IO(0xFF, 9)
#define PIDFD_GET_UTS_NAMESPACE _IO(0xFF, 10)
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

enum { STATUS_SIZE = 4096, PATH_SIZE = 48 };

const char peer_unknown[] = "cannot read in /proc how this process is confined";

/* The lines "NoNewPrivs:", "Seccomp:" and "Seccomp_filters:". */
void
standing_read(struct standing *standing, const char *process)
{
	static const char first[] = "\nNoNewPrivs:",
			  last[] = "\nSeccomp_filters:";
	char path[PATH_SIZE], text[STATUS_SIZE];
	const char *begin, *end;
	struct out out;

	standing->text[0] = '\0';
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%s/status", process);
	if (!file_read(AT_FDCWD, path, text, sizeof text))
		return;
	begin = strstr(text, first);
	end = begin != NULL ? strstr(begin, last) : NULL;
	end = end != NULL ? strchr(end + 1, '\n') : NULL;
	if (end == NULL || (size_t)(end - begin) >= sizeof standing->text)
		return;
	memcpy(standing->text, begin, (size_t)(end - begin));
	standing->text[end - begin] = '\0';
}

/*
 * prctl(2) tells the same of a process that nothing confines.  To read its own
 * file, a new process has the kernel make its directory in /proc first, and
 * remove that when it ends: some 30 us.
 */
static bool
is_unconfined(const struct standing *theirs)
{
	return strcmp(theirs->text,
		   "\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0") == 0 &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 &&
	    prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0;
}

/* Of this process; `theirs` if that is the same. */
static const struct standing *
own_standing(const struct standing *theirs, struct standing *read)
{
	if (is_unconfined(theirs))
		return theirs;
	standing_read(read, "self");
	return read;
}

/* A namespace, by the request for a descriptor of it (pidfd_open(2), Linux
 * 6.11) and by its name in the directory of a process. */
struct name {
	unsigned request;
	const char *name;
};

/* As a file of nsfs; 0: it cannot be told. */
static uint64_t
number_of(int pidfd, const char *process, const struct name *name)
{
	int fd = ioctl(pidfd, name->request, 0);
	struct stat status = { .st_ino = 0 };
	char path[PATH_SIZE];
	struct out out;

	if (fd >= 0) {
		if (fstat(fd, &status) != 0)
			status.st_ino = 0;
		close(fd);
		return status.st_ino;
	}
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%s/%s", process, name->name);
	return tag_of(AT_FDCWD, path);
}

static bool
shares_namespaces(int pidfd, const char *process, int self)
{
	static const struct name names[] = {
		{ PIDFD_GET_USER_NAMESPACE, "ns/user" },
		{ PIDFD_GET_MNT_NAMESPACE, "ns/mnt" },
	};

	for (size_t i = 0; i < countof(names); i++) {
		uint64_t theirs = number_of(pidfd, process, &names[i]);

		if (theirs == 0 || theirs != number_of(self, "self", &names[i]))
			return false;
	}
	return true;
}

uint64_t
peer_own_tag(int self)
{
	static const struct name uts = { PIDFD_GET_UTS_NAMESPACE, "ns/uts" };

	return number_of(self, "self", &uts);
}

/* The process had its number when its files were read, if it is still alive
 * after that. */
static bool
is_alive(int pidfd)
{
	struct pollfd wait = { .fd = pidfd, .events = POLLIN };

	return poll(&wait, 1, 0) == 0;
}

const char *
peer_fault(int socket, const struct standing *own, int self)
{
	struct standing theirs, read;
	struct ucred who;
	socklen_t size = sizeof who;
	char process[16];
	const char *fault = NULL;
	struct out out;
	int pidfd;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
		return "cannot see who is there";
	errno = 0;
	if (who.uid != geteuid())
		return "another user is there";
	if (who.pid <= 0)
		return "a process of other namespaces is there";
	size = sizeof pidfd;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0)
		return "cannot see who is there";
	out_into(&out, process, sizeof process);
	out_number(&out, (uint64_t)who.pid);
	standing_read(&theirs, process);
	if (own == NULL)
		own = own_standing(&theirs, &read);
	if (own->text[0] == '\0')
		fault = peer_unknown;
	else if (strcmp(own->text, theirs.text) != 0)
		fault = "a process that is confined, or less confined, is "
			"there";
	else if (self >= 0 && !shares_namespaces(pidfd, process, self))
		fault = "a process of other namespaces is there";
	if (!is_alive(pidfd))
		fault = "the process that was there has ended";
	close(pidfd);
	errno = 0;
	return fault;
}

pid_t
peer_process(int socket)
{
	const int on = 1;
	struct ucred who;
	socklen_t size = sizeof who;

	/* Nobody has the number -1. */
	if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
	    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
		return -1;
	return who.pid;
}

bool
peer_is_gone(int socket)
{
	socklen_t size = sizeof(int);
	int pidfd;
	bool gone;

	/* Of a process that was reaped there is no pidfd. */
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0)
		return errno == ESRCH || errno == EINVAL || errno == ENODATA;
	gone = !is_alive(pidfd);
	close(pidfd);
	return gone;
}

bool
process_runs(pid_t process)
{
	char path[PATH_SIZE], text[64];
	struct out out;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%lu/statm", (uint64_t)process);
	return !file_read(AT_FDCWD, path, text, sizeof text) ||
	    strncmp(text, "0 ", 2) != 0;
}
