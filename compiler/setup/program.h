/*
 * Other programs, run to their end: sbxrun above all.
 */
#ifndef SBX_COMPILER_SETUP_PROGRAM_H
#define SBX_COMPILER_SETUP_PROGRAM_H

#include "compiler/base/arena.h"

#include <stdbool.h>

struct ran {
	int status;            /* of the program; -1: it could not be run */
	const char *out, *err; /* what it printed, up to a bound */
};

/* Runs a program, by its path, with the environment of sbxc and without input,
 * in a directory (NULL: this one).  `policy` is handed on with its number if it
 * is not negative. */
struct ran program_run(struct arena *arena, const char *const *words,
    const char *directory, int policy);

/* The file of a name in $PATH that can be executed, as it is written there;
 * NULL if there is none.  A name with a slash is a path. */
const char *program_in_path(struct arena *arena, const char *name);

/* Bytes in a file without a name; -1 with errno. */
int program_memory(const void *bytes, size_t size);

#endif
