/*
 * The kernel's list of the children of a process, as
 * /proc/PID/task/TID/children has it: numbers with blanks between them.
 */
#ifndef SBX_CHILDREN_H
#define SBX_CHILDREN_H

#include <sys/types.h>

/*
 * The first number of a text, into *pid; returns what follows it.  NULL at the
 * end of the text.  A number that ends where the text ends may be cut, and is
 * left for the next time.  What is no number of a process is passed over: to
 * kill(2), 0 and what is negative are groups.
 */
const char *child_next(const char *text, const char *stop, pid_t *pid);

#endif
