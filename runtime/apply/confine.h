/*
 * The steps that take rights away, each for good: in the order in which
 * main.c calls them.  A step that fails ends the program with status 125.
 */
#ifndef SBX_CONFINE_H
#define SBX_CONFINE_H

#include "runtime/base/kernel.h"
#include "runtime/base/machine.h"

/* Closes every descriptor above 2: an open directory, socket or terminal of
 * the caller would be a way round everything else.  *keep, unless it is
 * negative, stays open for us alone, under a new number. */
void confine_descriptors(int *keep);

/* PR_SET_NO_NEW_PRIVS, and for a privileged caller all capabilities but the
 * ordinary ones of a superuser who handles files; at level full, where they
 * would reach under the masks of the view, all of them. */
void confine_privileges(enum sbx_level level);

/* Resource limits, but for those that a control group holds: a bit for each
 * kind. */
void confine_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held);

/* The filter for this kernel, level and network; refuses a blob that has none.
 * `loopback`: a network namespace has been made, and lo is up in it. */
const struct sbx_program *program_for(const struct sbx_blob *blob,
    const struct machine *machine, enum sbx_level level, bool loopback);

/* A ruleset that handles what the row says; then no more is possible than its
 * rules allow.  In a network of its own, `loopback`, all ports are open. */
int confine_ruleset(const struct sbx_landlock *row, bool loopback);
void confine_landlock(const struct sbx_landlock *row, int ruleset);

/* The filter, straight from the blob; afterwards only execve(2), write(2) and
 * exit_group(2) are called. */
void confine_syscalls(const struct sbx_blob *blob,
    const struct sbx_program *program);

#endif
