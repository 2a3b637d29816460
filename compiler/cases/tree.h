/*
 * The tree in which cases are tried, and what runs in it:
 *
 *	TOP/		of mkdtemp(3), ours alone
 *	  root/		stands for "/": root/home/user, root/home/user/work ...
 *	  policy.bin, trials, output
 *
 * It is removed at the end, also when a signal ends sbxc: from test_tree_make()
 * to test_tree_remove() signals are only taken where something is waited for.
 */
#ifndef SBX_TEST_TREE_H
#define SBX_TEST_TREE_H

#include "compiler/base/arena.h"

#include <signal.h>
#include <stdbool.h>

struct test_tree {
	struct arena *arena;
	const char *top, *root;
	sigset_t taken, before; /* signals that wait; the mask from before */
	int signal;             /* that is to end sbxc, or 0 */
};

/* False, with errno set, if it cannot be made. */
bool test_tree_make(struct test_tree *tree, struct arena *arena);

/* Removes it; ends sbxc if a signal was to. */
void test_tree_remove(struct test_tree *tree);

/* Removes a directory with all that is in it. */
void test_tree_clear(const char *directory);

/* Each false with errno set.  Parents are made; what is there stays. */
bool test_tree_directory(const struct test_tree *tree, const char *path);
bool test_tree_file(const struct test_tree *tree, const char *path);
bool test_tree_copy(const struct test_tree *tree, const char *from,
    const char *path);
bool test_tree_write(const char *path, const void *bytes, size_t size);

/*
 * Runs a program with `input` as standard input, open for reading and writing,
 * and its output in TOP/output.  Returns what waitpid(2) says, or -1 with errno
 * set: EINTR for a signal that is to end sbxc.
 */
int test_tree_run(struct test_tree *tree, const char *const *arguments,
    const char *const *environment, const char *input);

/* What the last program printed; a text in the arena. */
const char *test_tree_output(const struct test_tree *tree);

#endif
