/*
 * Files as input, and compiled policies among them.
 */
#ifndef SBX_INPUT_H
#define SBX_INPUT_H

#include "compiler/base/arena.h"
#include "format/blob.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Opens a regular file, or standard input for "-"; -1 with errno.  Another kind
 * of file is opened only by the name of a descriptor, so that nobody can make
 * sbxc wait for a pipe that they have put into a directory.
 */
int input_open(const char *path);

/* strerror(3) for what input_open() says. */
const char *input_strerror(int error);

/* Reads up to `size` bytes; less means the end, -1 an error. */
ssize_t input_read(int fd, void *bytes, size_t size);

/*
 * Reads and verifies a blob ("-" is standard input) into the arena.  False
 * after complaining; errno is EBADMSG if what was read is no blob.
 */
bool input_blob(struct arena *arena, const char *path, struct sbx_blob *blob);

/*
 * Whether the file begins like a blob.  It can still be read from its start: if
 * it is a pipe, a temporary file with the same contents replaces its
 * descriptor.
 */
bool input_is_blob(const char *path);

#endif
