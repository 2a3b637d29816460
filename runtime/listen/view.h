/*
 * What a caller at level full names in the file system.  It sees the mounts of
 * the view, and these are read-only where the policy lets it write nothing.
 */
#ifndef SBX_LISTEN_VIEW_H
#define SBX_LISTEN_VIEW_H

#include "runtime/listen/caller.h"

/*
 * An O_PATH descriptor of what the path leads to in the view, or a negative
 * errno.  No link leads out of it, nor through a process in /proc.
 */
int view_open(const struct caller *caller, const char *path);

bool view_is_writable(int fd);

#endif
