/*
 * The scratch directory, ${tmp}: /tmp/sbx-UID/HASH, one for each user and
 * workspace, kept between runs.
 */
#ifndef SBX_SCRATCH_H
#define SBX_SCRATCH_H

#include "format/model.h"

enum { SCRATCH_PATH_SIZE = 64 };

/*
 * Puts the path of the workspace's scratch directory into `path`.  If it is
 * missing, it is made if `make` is set, and else false is returned.  Refuses a
 * directory that is not the user's own, or that others may enter.
 */
bool scratch_path(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace,
    bool make);

/* Whether a directory is one of the user's scratch directories, or lies in one. */
bool scratch_holds(struct sbx_place directory);

/* The same, as an O_PATH descriptor; -1 where there is none. */
int scratch_open(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace);

#endif
