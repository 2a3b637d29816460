/*
 * Mounting what the table says, and making it the root.
 */
#ifndef SBX_MOUNT_H
#define SBX_MOUNT_H

#include "runtime/apply/mount_table.h"

/* Puts a new /proc over the one outside, once; false where none can be made,
 * and then the tree has none either. */
bool mount_over_proc(struct mount_tree *tree);

/* Mounts everything and makes it the root of this process; refuses (125). */
void mount_all(struct mount_tree *tree);

/* Ends the program because of a place. */
void refuse_place(struct sbx_place at, const char *text, int error)
    __attribute__((noreturn));

#endif
