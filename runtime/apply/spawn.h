/*
 * `deny spawn`: one process, its threads, and no program but the command.
 *
 * The policy's filter lets execveat(2) through only as it is called here: with
 * a descriptor and no path.  A second filter lets only one number be that
 * descriptor, and this number is not below the limit on open files by the time
 * that the command runs.  So nothing can have it again: dup3(2), F_DUPFD,
 * SCM_RIGHTS, pidfd_getfd(2) and a seccomp listener all keep to that limit.  To
 * raise it takes CAP_SYS_RESOURCE, which the command has at no level.
 */
#ifndef SBX_SPAWN_H
#define SBX_SPAWN_H

#include "runtime/apply/environment.h"

/* Opens the command at such a number, sets the limit and installs that filter,
 * before the policy's.  The number; ends with 126 or 127 if there is no
 * command, refuses (125) what else fails. */
int spawn_prepare(char **argv, struct environment *environment);

/* Becomes the command. */
void spawn_execute(int program, char **argv, struct environment *environment)
    __attribute__((noreturn));

#endif
