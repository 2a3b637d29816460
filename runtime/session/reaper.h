/*
 * Process 1 of a session.  It starts nothing: it becomes the parent of what
 * commands leave behind, and when it ends the kernel kills everything inside.
 */
#ifndef SBX_REAPER_H
#define SBX_REAPER_H

#include "runtime/watch/cgroup.h"

/* Keeps what is inside from looking at this process, blocks all signals, and
 * gives a descriptor that says when a child has ended.  What fails here has to
 * fail before the keeper hears of the session. */
int reaper_watch(void);

/* Stays until the keeper, at the other end of the socket, is gone or sends a
 * byte: then everything inside gets SIGTERM, and it ends when nothing is
 * left. */
void reaper_stay(int children, int keeper, const struct cgroup *group)
    __attribute__((noreturn));

#endif
