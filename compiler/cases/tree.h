/*
 * The directory tree in which cases are tried, and the programs that run there:
 *
 *	TOP/		made by mkdtemp(3)
 *	  root/		stands for "/": root/home/user, root/home/user/work ...
 *	  policy.bin
 *
 * The tree is removed at the end, also when a signal ends sbxc: between
 * tree_make() and tree_remove() such a signal is blocked, and is only accepted
 * while sbxc waits for a program.
 */
#ifndef SBX_CASES_TREE_H
#define SBX_CASES_TREE_H

#include "compiler/base/arena.h"

#include <signal.h>
#include <stdbool.h>

struct tree {
	struct arena *arena;
	const char *top, *root;
	int output;               /* a file in memory: what programs print */
	sigset_t blocked, before; /* blocked signals; the mask from before */
	int signal;               /* the signal that is to end sbxc, or 0 */
};

/* False, with errno set, if it cannot be made. */
bool tree_make(struct tree *tree, struct arena *arena);

/* Removes it; ends sbxc if a signal was to. */
void tree_remove(struct tree *tree);

/* Removes a directory with all that is in it. */
void directory_clear(const char *path);

/* Makes a directory, or a file that may be executed.  Parents are made too;
 * what is there already is kept.  False with errno set. */
bool tree_directory(const struct tree *tree, const char *path);
bool tree_file(const struct tree *tree, const char *path, const void *bytes,
    size_t size);

/*
 * Runs a program; `input` is its standard input, and -1 stands for /dev/null.
 * Returns what waitpid(2) says, or -1 with errno set: EINTR for a signal that
 * is to end sbxc.
 */
int tree_run(struct tree *tree, const char *const *arguments,
    const char *const *environment, int input);

/* What the last program printed; a text in the arena. */
const char *tree_output(const struct tree *tree);

#endif
