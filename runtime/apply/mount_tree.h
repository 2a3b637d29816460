/*
 * The mount tree of level full: a root that holds what the policy allows and
 * nothing else.  What is not allowed is not there, what may not be written is
 * mounted read-only, and what is denied inside an allowed tree lies under a
 * mask; it, the links that lead to it and the directories above it keep their
 * names, in the scratch directory too, which the next run finds again.
 * Landlock and the filter go on top.
 *
 *	/            tmpfs, read-only when all is in place
 *	/usr ...     a bind for each allowed place, links as they are outside
 *	/proc        of the sandbox's own process namespace
 *	/dev/pts     own, and /dev/shm, where the policy allows these
 *	/tmp         the scratch directory
 *
 * No part of the outer /proc, /dev/pts or /dev/shm is shown in these.
 */
#ifndef SBX_MOUNT_TREE_H
#define SBX_MOUNT_TREE_H

#include "runtime/apply/name_files.h"
#include "runtime/apply/outcome.h"

/*
 * Replaces the root of the calling process, which is alone in its mount and
 * process namespaces and holds every capability over them.  Refuses (125) if
 * a place that exists cannot be shown as the policy says.  Returns the binding
 * as it is in there: the scratch directory is at /tmp.  Counts the masked files
 * that have other names.  `names` gets
 * what name_files_allow() wants.
 */
const struct binding *mount_tree_enter(struct arena *arena,
    const struct binding *binding, struct outcome *outcomes,
    uint32_t *hard_linked, struct name_files *names);

/* Whether the tree has a file system of its own at a place or around it, which
 * a descriptor from outside does not lead to. */
bool mount_tree_replaces(struct sbx_place at);

#endif
