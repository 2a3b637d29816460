/*
 * The files by which programs look up names, in the view.
 *
 * Where names lead out of a network of the sandbox's own, its resolver listens
 * on 127.0.0.1.  Files of ours that fit this cover those of the machine:
 * /etc/resolv.conf, and /etc/hosts, in which only the lines about this machine
 * are left, since the addresses in the others lead nowhere inside.  On many
 * machines /etc/resolv.conf is a link into /run, which a view does not show:
 * then our file lies where the link leads.
 */
#ifndef SBX_NAME_FILES_H
#define SBX_NAME_FILES_H

#include "runtime/bind/follow.h"

enum { NAME_FILES = 2 };

/* Where they lie outside, and the links that lead there.  The descriptor is -1
 * until one is mounted; then it is that of its mount. */
struct name_files {
	struct followed of[NAME_FILES];
};

struct mount_tree;
struct mounting;

/* None yet. */
void name_files_none(struct name_files *files);

/* Adds their places to the table, if the policy has names and lets the files be
 * read; a file that is not there is not made. */
void name_files_add(struct mount_tree *tree);

/* The mount for such a place, or -1 and errno; and what to do when it is
 * there. */
int name_file_mount(struct mount_tree *tree, const struct mounting *mounting);
void name_file_mounted(struct mount_tree *tree, const struct mounting *mounting,
    int mount);

/* Lets the command read them: no rule may cover their places. */
void name_files_allow(const struct name_files *files, int ruleset);

#endif
