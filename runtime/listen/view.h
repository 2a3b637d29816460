/*
 * What a caller at level full names in the file system.  It sees the mounts of
 * the view, and these are read-only where the policy lets it write nothing.
 */
#ifndef SBX_LISTEN_VIEW_H
#define SBX_LISTEN_VIEW_H

#include "runtime/listen/caller.h"

/* As place_open() and place_is_writable() of place.h, which come here at that level.
 * No link leads out of the view. */
int view_open(const struct caller *caller, int directory, const char *path,
    int flags);
bool view_is_writable(int fd);

#endif
