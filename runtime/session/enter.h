/*
 * From outside into a session, step by step.  Each step gives NULL, or a text
 * that says what it could not do, with errno or 0.  None of them writes, ends
 * the program, allocates, or takes a lock, so that they also work in the child
 * of a vfork(2) that has the memory of a program with threads.
 *
 * The order:
 *
 *	enter_process()    user namespace, the PID namespace of children, the tag
 *	clone(2)           the child is in the PID namespace
 *	enter_place()      mounts, IPC, network; the directory
 *	enter_restricted() limits, capabilities, Landlock, the filter
 *	execute_try()
 *
 * A process that others share their memory or their fs with cannot enter a user
 * namespace (setns(2)): a program with threads does the first step in a vfork
 * child of its own, which then clones with CLONE_PARENT.
 *
 * From clone(2) to enter_restricted() the child is in the sight of the
 * session's commands, without restrictions and with all capabilities over the
 * namespaces.  They can stop or kill it, or lower its limits, and nothing else:
 * Landlock lets nobody trace a process that is not in the same domain or in one
 * below.
 */
#ifndef SBX_ENTER_H
#define SBX_ENTER_H

#include "runtime/session/offer.h"

#include <sys/stat.h>

/* The process that starts a command.  `marked`: in a UTS namespace of its own,
 * which the command and all that it starts share: that is how they are told
 * from other processes. */
const char *enter_process(const struct offer *offer, bool marked);

/* The command's process.  `directory` is a path of the session's view; NULL:
 * its root. */
const char *enter_place(const struct offer *offer, const char *directory);

/* In the view's mounts: opens a standard stream again by its path there, a file
 * for reading alone.  A descriptor of outside leads past the mounts of the
 * view. */
const char *enter_stream(int fd, const char *path);

/*
 * Takes all rights away for good.  `socket` leads to the keeper: there goes the
 * seccomp listener, where the policy has calls to be answered.  `guarded`:
 * where the command stays in the process group of its caller, it gets EPERM for
 * kill(0, ...), which would reach processes outside.
 */
const char *enter_restricted(const struct offer *offer, int socket,
    bool guarded);

/* Its steps, for who installs another filter: all of it but the filter, and
 * that. */
const char *enter_confined(const struct offer *offer);
const struct sbx_program *enter_filter(const struct offer *offer, bool guarded);

/* Where a directory of outside is in the session's view: in the scratch
 * directory it is below /tmp.  False if there is no room. */
bool enter_directory(const struct offer *offer, const char *outside,
    char *inside, size_t size);

/* Why a command must not start in a directory that it has just entered in the
 * view, where `outside` is what its path leads to outside: what was replaced since
 * the session was made would be another one.  NULL: it may. */
const char *enter_fault(const char *directory, const struct stat *outside);

/* The tag that a link of /proc tells, "ns/uts" in the directory of a process;
 * 0: it cannot be read. */
uint64_t tag_of(int directory, const char *path);

#endif
