/*
 * Programs by their names, as the command in a sandbox finds them.
 */
#ifndef SBX_COMPILER_QUERY_PROGRAM_H
#define SBX_COMPILER_QUERY_PROGRAM_H

#include "compiler/query/verdict.h"

/* The program of a name that would be started: the first in PATH that may be,
 * or, if none may, the first.  NULL if there is none. */
const char *program_find(const struct subject *subject, const char *name);

#endif
