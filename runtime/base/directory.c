/*
 * The entries of a directory, read with getdents64(2) into a small buffer.
 */
#include "runtime/base/files.h"

void
directory_begin(struct directory *directory, int fd)
{
	directory->fd = fd;
	directory->len = directory->at = 0;
}

static bool
is_dots(const char *name)
{
	return name[0] == '.' &&
	    (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

const struct entry *
directory_next(struct directory *directory)
{
	const struct entry *entry;

	do {
		if (directory->at >= directory->len) {
			directory->at = 0;
			directory->len = read_entries(directory->fd,
			    directory->buffer, sizeof directory->buffer);
			if (directory->len <= 0)
				return NULL;
		}
		entry = (const void *)(directory->buffer + directory->at);
		directory->at += entry->size;
	} while (is_dots(entry->name));
	return entry;
}
