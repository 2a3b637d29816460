/*
 * Where sbx keeps what is the user's: policies and settings, which a person
 * writes, and state, which sbx writes.  Both lie in the home of the password
 * entry; no variable chooses another one.
 */
#include "runtime/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME, UID = 2, HOME = 5, FIELDS };

/* The fields of a line of /etc/passwd, if the line is the user's:
 * name:password:uid:gid:comment:home:shell. */
static bool
is_line_of(char *line, unsigned long uid, const char *fields[FIELDS])
{
	char *end;

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = strsep(&line, ":");
		if (i == UID &&
		    (fields[UID] == NULL ||
			strtoul(fields[UID], &end, 10) != uid ||
			end == fields[UID] || *end != '\0'))
			return false;
	}
	return fields[HOME] != NULL;
}

static bool
find_line(char *buffer, size_t size, const char *fields[FIELDS])
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	unsigned long uid = getuid();
	bool found = false;
	bool torn = false; /* the line was too long; its beginning is gone */
	size_t used = 0;
	ssize_t len;

	while (fd >= 0 && !found &&
	    (len = read(fd, buffer + used, size - 1 - used)) > 0) {
		char *line = buffer, *end;

		used += (size_t)len;
		buffer[used] = '\0';
		while (!found && (end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			found = !torn && is_line_of(line, uid, fields);
			torn = false;
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		if (!found)
			memmove(buffer, line, used);
		if (used == size - 1) {
			torn = true;
			used = 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

const char *
passwd_home(char *buffer, size_t size)
{
	const char *fields[FIELDS];

	return find_line(buffer, size, fields) ? fields[HOME] : NULL;
}

const char *
passwd_user(char *buffer, size_t size)
{
	const char *fields[FIELDS];

	return find_line(buffer, size, fields) ? fields[NAME] : NULL;
}

/* --- what is there -------------------------------------------------------- */

bool
own_is_private(const struct stat *status)
{
	bool group = status->st_gid == getegid() && status->st_gid == geteuid();

	return status->st_uid == geteuid() &&
	    (status->st_mode & (group ? S_IWOTH : S_IWOTH | S_IWGRP)) == 0;
}

int
own_enter(int at, const char *name)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);
	struct stat status;

	if (fd < 0 && errno == ENOENT && mkdirat(at, name, 0700) == 0)
		fd = openat(at, name, flags);
	close(at);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && own_is_private(&status))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int
own_state(const char *name)
{
	char buffer[PASSWD_LINE];
	const char *home = passwd_home(buffer, sizeof buffer);
	int fd = home == NULL || home[0] != '/' ?
	    -1 :
	    open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char names[] = SBX_OWN_STATE, *at = names + 1, *next;
	int moved;

	while (fd >= 0 && (next = strsep(&at, "/")) != NULL)
		fd = own_enter(fd, next);
	if (fd >= 0 && name != NULL)
		fd = own_enter(fd, name);
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return moved;
}
