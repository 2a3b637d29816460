/*
 * What a caller names in the file system, and whether the policy lets it write
 * there.  It is opened first and judged by where it really is, so that no link
 * and no other thread can put something else in its place in between.
 */
#ifndef SBX_LISTEN_PLACE_H
#define SBX_LISTEN_PLACE_H

#include "runtime/listen/caller.h"

/*
 * An O_PATH descriptor of what the caller names: `directory` is a descriptor of
 * the caller or AT_FDCWD, `flags` may have AT_SYMLINK_NOFOLLOW.  A negative
 * errno if there is none, or if the way leads through a process in /proc.
 */
int place_open(const struct caller *caller, int directory, const char *path,
    int flags);

/* Whether the policy lets the command write, or read, what is open here.  What
 * has no place in the file system, such as a pipe, it does not. */
bool place_is_writable(const struct caller *caller, int fd);
bool place_is_readable(const struct caller *caller, int fd);

#endif
