/*
 * `sbxc why POLICY --from FILE`: which of the failures that a command has
 * printed are the policy's doing.
 */
#ifndef SBX_FROM_H
#define SBX_FROM_H

#include "compiler/query/verdict.h"

#include <stdio.h>

struct from {
	const struct subject *subject; /* which has asked the machine */
	const char *name;              /* of the text, for people */
	bool json;
};

/* Reads a descriptor to its end and prints what it found; how many that are, or
 * -1 with errno. */
int from_answer(const struct from *from, int fd, FILE *stream);

#endif
