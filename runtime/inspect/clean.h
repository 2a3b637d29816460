/*
 * sbxrun --clean: removes a workspace's scratch directory.
 */
#ifndef SBX_CLEAN_H
#define SBX_CLEAN_H

#include "runtime/base/arena.h"

/*
 * For the workspace that `given` names, or, if it is NULL, the current
 * directory; one that is gone may be named.  Ends the program: with 0 when
 * nothing is left there.
 */
void clean_scratch(struct arena *arena, const char *given)
    __attribute__((noreturn));

#endif
