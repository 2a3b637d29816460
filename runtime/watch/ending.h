/*
 * What whoever waits for a command does when it ends.
 */
#ifndef SBX_ENDING_H
#define SBX_ENDING_H

#include "runtime/watch/cgroup.h"

#include <time.h>

/* Ends as the command did, by a signal too, but without a core file. */
void ending_repeat(int status) __attribute__((noreturn));

/*
 * A stopped process cannot check its own deadline.  A timer sends SIGCONT at
 * the deadline, and each second after it, because the process may be stopped
 * again.  libc's timer_create(3) brings threads with it.  Without a timer the
 * end of the command is only reported later.
 */
void ending_continue_at(const struct timespec *deadline);

/* Says which limits the command has reached, as far as the kernel tells; not on
 * a stderr that is full, for nobody may read it any more.  `late`: its time is
 * over. */
void ending_tell(const struct sbx_blob *blob, int status, bool late,
    const struct cgroup_usage *usage);

/* How the command ended, and after what time: the last line of -v. */
void ending_say(const char *command, int status, const struct timespec *begin,
    const struct timespec *end);

#endif
