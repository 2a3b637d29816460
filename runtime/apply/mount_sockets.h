/*
 * What rules about sockets add to the mount tree.
 */
#ifndef SBX_MOUNT_SOCKETS_H
#define SBX_MOUNT_SOCKETS_H

#include "runtime/apply/mount_table.h"

/* When the table has what the rules about paths say. */
void mount_sockets(struct mount_tree *tree);

#endif
