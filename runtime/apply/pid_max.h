/*
 * kernel.pid_max: from Linux 6.14 on each PID namespace has its own, and no
 * process or thread is made in it once all numbers below are in use.  It holds
 * the limit on processes at level full where nothing else does: rlimits do not
 * count for root.
 */
#ifndef SBX_PID_MAX_H
#define SBX_PID_MAX_H

#include <stdbool.h>
#include <stdint.h>

/* Before the namespace is made, and in it: a descriptor, or -1 where the
 * namespace has no such number of its own.  The first one is closed by the
 * second call. */
int pid_max_open(void);
int pid_max_open_own(int outer);

/* Whether no more than the limit can run; else it is up to 299 more. */
bool pid_max_is_exact(void);

/* Sets the limit, or refuses, and closes the descriptor. */
void pid_max_set(int fd, uint64_t processes);

#endif
