/*
 * Starts sbxrun: the keeper of a sandbox, and the supervisor of a command.
 */
#ifndef SBX_LIBRARY_START_H
#define SBX_LIBRARY_START_H

#include "runtime/library/error.h"

#include <stdbool.h>

struct start {
	const char *sbxrun;
	char **words; /* argv */
	char *const *environment;
	const char *directory; /* NULL: the current one */
	const struct sbx_descriptor *descriptors;
	size_t descriptor_count;
	unsigned flags; /* enum sbx_command_flag */
	bool detached;  /* it is not to be a child of the caller */

	/* Filled in, if it is a child. */
	pid_t pid;
	int pidfd;
};

/* False and *error if it was not started. */
bool start_sbxrun(struct start *start, struct sbx_error *error);

/* The steps that every process of ours does: its process group or session and
 * its terminal, as the flags say. */
const char *start_group(unsigned flags);

#endif
