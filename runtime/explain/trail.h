/*
 * Where a path leads outside, without opening anything: the links on the way
 * are read.  Those of /proc lead to what a process has, and would be this
 * process's; so the way ends where it enters /proc.
 */
#ifndef SBX_TRAIL_H
#define SBX_TRAIL_H

#include "runtime/base/path.h"

#include <stdbool.h>

/* Adds a path as text: "." and ".." are taken away, and links do not count,
 * which is so where nothing is followed by "..".  False if it is too long. */
bool trail_push(struct path *path, const char *names);

/* Whether the last name is "." or "..": nothing can be made or moved there. */
bool trail_ends_in_dots(const char *text);

/* Follows an absolute, normal path in place; `last`: also where its last name
 * is a link.  False if it comes into /proc or round in circles. */
bool trail_follow(struct path *path, bool last);

/* Whether a place is /proc, or in it. */
bool trail_is_proc(struct sbx_place at);

#endif
