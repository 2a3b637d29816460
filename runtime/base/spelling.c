/*
 * File systems that take upper and lower case for the same: SMB, shares of a
 * virtual machine's host, Windows drives, many of FUSE.  Where the kernel does
 * not know of it, a name in another spelling is another entry to it, on which
 * no mount lies, and a name of a rule need not be one that the directory lists.
 */
#include "runtime/base/files.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool
spelling_swap(char *name, size_t len)
{
	bool swapped = false;

	for (size_t i = 0; i < len; i++) {
		if ((name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z') {
			name[i] ^= 0x20;
			swapped = true;
		}
	}
	return swapped;
}

/* A directory that cannot be listed lists nothing. */
static bool
is_listed(int directory, const char *name)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct entry *entry;
	struct directory entries;
	bool listed = false;

	if (fd < 0)
		return false;
	directory_begin(&entries, fd);
	while (!listed && (entry = directory_next(&entries)) != NULL)
		listed = strcmp(entry->name, name) == 0;
	close(fd);
	return listed;
}

bool
spelling_folds(int directory, const char *name, size_t len)
{
	char other[NAME_MAX + 1];
	struct stat status;

	if (len >= sizeof other)
		return false;
	memcpy(other, name, len);
	other[len] = '\0';
	return spelling_swap(other, len) &&
	    fstatat(directory, other, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !is_listed(directory, other);
}

bool
spelling_differs(const char *a, const char *b, size_t len)
{
	return memcmp(a, b, len) != 0 && strncasecmp(a, b, len) == 0;
}
