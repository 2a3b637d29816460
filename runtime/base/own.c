/*
 * Where sbx keeps what is the user's: policies and settings, which a person
 * writes, and state, which sbx writes.  Both lie in the home of the password
 * entry; no variable chooses another one.
 */
#include "runtime/base/files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The home directory in a line of /etc/passwd, if the line is the user's:
 * name:password:uid:gid:comment:home:shell. */
static const char *
home_in_line(char *line, unsigned long uid)
{
	enum { UID = 2, HOME = 5 };
	char *fields[HOME + 1], *end;

	for (size_t i = 0; i <= HOME; i++)
		fields[i] = strsep(&line, ":");
	if (fields[HOME] == NULL || strtoul(fields[UID], &end, 10) != uid ||
	    end == fields[UID] || *end != '\0')
		return NULL;
	return fields[HOME];
}

const char *
passwd_home(char *buffer, size_t size)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	unsigned long uid = getuid();
	const char *home = NULL;
	bool torn = false; /* the line was too long; its beginning is gone */
	size_t used = 0;
	ssize_t len;

	while (fd >= 0 && home == NULL &&
	    (len = read(fd, buffer + used, size - 1 - used)) > 0) {
		char *line = buffer, *end;

		used += (size_t)len;
		buffer[used] = '\0';
		while (home == NULL && (end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			home = torn ? NULL : home_in_line(line, uid);
			torn = false;
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		if (home == NULL)
			memmove(buffer, line, used);
		if (used == size - 1) {
			torn = true;
			used = 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return home;
}
