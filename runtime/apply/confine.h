/*
 * The steps that take rights away for good, in the order in which
 * start/main.c takes them.  A step that fails ends the program with status 125.
 *
 * Some are there a second time, for a process that has its caller's memory
 * (session/enter.h) and must neither end nor write by itself: these give NULL,
 * or a text that says what they could not do, with errno.
 */
#ifndef SBX_CONFINE_H
#define SBX_CONFINE_H

#include "format/select.h"
#include "runtime/base/kernel.h"
#include "runtime/base/machine.h"
#include "runtime/base/options.h"

/* Closes every descriptor above 2: through an open directory, socket or
 * terminal of the caller the command could get round all other steps.  That of
 * --status-fd and the socket, unless they are negative, stay open for us alone,
 * and pipes of --pass-fd for the command. */
void confine_descriptors(const struct options *options, int socket);

/* Closes those pipes in a process that outlives the command. */
void confine_passed(const struct options *options);

/* Sets no_new_privs and drops the capabilities of a privileged caller.  A
 * superuser keeps those that handle files, except at level full, where they
 * would reach under the masks. */
void confine_privileges(enum sbx_level level);
const char *give_up_privileges(enum sbx_level level);

/* Only the capabilities; programs that it executes may get new ones. */
const char *give_up_capabilities(enum sbx_level level);

/* The same, but the set that bounds what execve(2) gives stays as it is: to
 * empty it takes a call for each capability, and under no_new_privs execve(2)
 * gives nothing that was not permitted before (capabilities(7)).  For a
 * supervisor, and for a command that joins a session, where it would be a tenth
 * of the cost. */
void confine_supervisor(enum sbx_level level);
const char *give_up_permitted(enum sbx_level level);

/* Sets the resource limits, except those that something better holds: `held`
 * has a bit for each kind.  `tasks`: as many as the user has now at most; 0 if
 * that is not known. */
void confine_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks);
const char *limit_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks);

/* All tasks of the machine, or 0. */
uint64_t tasks_on_machine(void);

/* The filter for this machine and the circumstances that are filled in: the
 * level, the network, the listener.  Refuses a blob that has none. */
const struct sbx_program *program_for(const struct sbx_blob *blob,
    const struct machine *machine, struct sbx_circumstances here);

/* A ruleset for the row's rights to files, and those of its rights to ports that
 * `net` has: once it is applied, they are given only by its rules. */
int confine_ruleset(const struct sbx_landlock *row, uint64_t net,
    uint64_t scoped);
void confine_landlock(const struct sbx_landlock *row, int ruleset);
const char *restrict_files(uint32_t flags, int ruleset);

/* Installs the filter as it is in the blob.  After that only execve(2),
 * write(2) and exit_group(2) are called, and sendmsg(2) for the listener, which
 * is returned; -1: the filter hands no call to anybody. */
int confine_syscalls(const struct sbx_blob *blob,
    const struct sbx_program *program);
const char *filter_calls(const struct sbx_insn *bpf,
    const struct sbx_program *program, int *listener);

#endif
