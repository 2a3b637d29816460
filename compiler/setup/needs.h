/*
 * Programs that a profile has to let run, and the rules that are missing for that:
 * where somebody has installed them is no shipped profile's business.
 */
#ifndef SBX_COMPILER_SETUP_NEEDS_H
#define SBX_COMPILER_SETUP_NEEDS_H

#include "compiler/setup/init.h"

struct needs {
	struct init *init;
	struct sbx_blob blob; /* of the profile */
	struct subject subject;
	const char *rules; /* lines of a policy that extends it */
};

enum exit_status needs_bind(struct needs *needs, struct init *init,
    const char *profile);

/* Adds what a program wants, and node where it is a script of npm's. */
void needs_program(struct needs *needs, const char *path);

/* A path without links, or as it was. */
const char *needs_real(struct arena *arena, const char *path);

#endif
