/*
 * Whether the view covers what it is meant to cover, by every spelling.
 */
#ifndef SBX_COVERED_H
#define SBX_COVERED_H

#include "runtime/apply/mount_table.h"

/*
 * In the view: refuses (125) if a place that a mount hides or closes can be
 * reached beside that mount by a name in another spelling; of what is
 * preferably denied it warns.
 */
void covered_check(const struct mount_tree *tree);

#endif
