/*
 * sbxrun --clean: removes a workspace's scratch directory.
 */
#ifndef SBX_RUNTIME_INSPECT_CLEAN_H
#define SBX_RUNTIME_INSPECT_CLEAN_H

#include "runtime/base/arena.h"
#include "runtime/base/out.h"

#include <stdbool.h>

/*
 * Removes a directory and what it holds.  `place` is an O_PATH descriptor of
 * it, and is closed.  False and errno if something is left; then `failed` may
 * get a part of the path of that.
 */
bool clean_directory(const char *path, int place, struct out *failed);

/*
 * For the workspace that `given` names, or, if it is NULL, the current
 * directory; one that is gone may be named.  Ends the program: with 0 when
 * nothing is left there.
 */
void clean_scratch(struct arena *arena, const char *given)
    __attribute__((noreturn));

#endif
