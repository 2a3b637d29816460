/*
 * `-w auto`, and without -w: where the project begins that the current directory is in.
 */
#ifndef SBX_PROJECT_H
#define SBX_PROJECT_H

#include "runtime/base/arena.h"
#include "runtime/base/options.h"

/*
 * Puts the top of the git working tree into options->workspace, and, if its
 * repository lies elsewhere, as for a linked working tree and a submodule, that
 * into options->git.  Where there is no repository of the user's, the workspace
 * is the current directory, which it then leaves to be found; with `auto` in
 * /tmp, where sbx keeps its own directory, none.  The home directory and what is
 * above it are never taken for a project that one is in.  Warns of a `.git` that
 * leads to a repository which does not lead back.
 */
void project_find(struct arena *arena, struct options *options);

#endif
