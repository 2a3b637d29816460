/*
 * Files that appear whole or not at all.
 */
#ifndef SBX_OUTPUT_H
#define SBX_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct stat;

struct output {
	const char *path;
	const void *bytes;
	size_t size;
	const struct stat
	    *like; /* what it replaces: owner and mode stay; or NULL */
};

/*
 * Writes each file under a temporary name beside its place, and renames all of
 * them when all are written.  On failure nothing is left, errno is set and
 * *failed is the path at fault.  What exists and is no regular file (/dev/null,
 * a pipe that is read) is written in place.  A symbolic link is replaced, since
 * anybody who may write the directory could have made it, unless its file was
 * read (`like`) or it is one of the system's.
 */
bool outputs_write(const struct output *outputs, size_t count,
    const char **failed);

/* Writes all of it, however many write(2) it takes; false and errno if it
 * cannot. */
bool write_whole(int fd, const char *bytes, size_t size);

#endif
