/*
 * The entries of a directory, read with getdents64(2) into a small buffer.
 */
#ifndef SBX_DIRECTORY_H
#define SBX_DIRECTORY_H

#include "runtime/base/kernel.h"

struct directory {
	int fd;       /* open for reading; stays the caller's */
	long len, at; /* of the entries in the buffer; len < 0: an error */
	_Alignas(struct entry) char buffer[4096];
};

void directory_begin(struct directory *directory, int fd);

/* The next entry but "." and ".."; NULL at the end, and after an error, with
 * len < 0 and errno. */
const struct entry *directory_next(struct directory *directory);

#endif
