/*
 * Mounts that are attached nowhere yet.  Each function gives the descriptor of
 * one, or -1 and errno.
 */
#ifndef SBX_DETACHED_H
#define SBX_DETACHED_H

#include <stdint.h>

/* A new file system of a type, with one option or NULL, and MOUNT_ATTR_*. */
int new_mount(const char *type, const char *option, const char *value,
    uint64_t attributes);

/* A copy of the mount at a path; MOUNT_TREE: and of those below it. */
int copy_mount(int directory, const char *path, unsigned flags);

/* The same, with MOUNT_ATTR_* set on each mount of the copy. */
int copy_mount_as(int directory, const char *path, unsigned flags,
    uint64_t attributes);

#endif
