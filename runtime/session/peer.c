/* See peer.h. */
#include "runtime/session/peer.h"

#include "runtime/base/file.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static bool
is_same_namespace(const char *process, const char *name)
{
	char theirs[64], ours[64], path[PATH_SIZE];
	ssize_t their_size, our_size;
	struct out out;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%s/ns/%s", process, name);
	their_size = readlink(path, theirs, sizeof theirs);
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/self/ns/%s", name);
	our_size = readlink(path, ours, sizeof ours);
	return their_size > 0 && their_size == our_size &&
	    memcmp(theirs, ours, (size_t)our_size) == 0;
}

static bool
shares_namespaces(const char *process)
{
	static const char *const names[] = { "user", "mnt" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!is_same_namespace(process, names[i]))
			return false;
	}
	return true;
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
peer_fault(int socket, const struct standing *own, bool keeper)
{
	struct standing theirs;
	struct ucred who;
	socklen_t size = sizeof who;
	char process[16];
	const char *fault = NULL;
	struct out out;
	int pidfd;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
		return "cannot see who is there";
	errno = 0;
	if (own->text[0] == '\0')
		return peer_unknown;
	if (who.uid != geteuid() || who.pid <= 0)
		return "another user is there";
	size = sizeof pidfd;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0)
		return "cannot see who is there";
	out_into(&out, process, sizeof process);
	out_number(&out, (uint64_t)who.pid);
	standing_read(&theirs, process);
	if (strcmp(own->text, theirs.text) != 0)
		fault = "a process that is confined, or less confined, is "
			"there";
	else if (keeper && !shares_namespaces(process))
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
