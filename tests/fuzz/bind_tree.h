/*
 * A small file system of its own for fuzz_bind: a tmpfs in a mount namespace,
 * which a process enters as its root and leaves again.  What an input says is
 * built in it: directories, files, links to anywhere in it, other people's.
 */
#ifndef SBX_TEST_BIND_TREE_H
#define SBX_TEST_BIND_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An input that is read from the front; zeros follow it. */
struct input {
	const uint8_t *at;
	size_t left;
};

uint8_t input_byte(struct input *input);
size_t input_below(struct input *input, size_t limit);

/* A path of some names, at most PATH_MAX bytes; `absolute`: from one of the tops
 * of the tree.  Some have ".." if `dots`. */
enum { TREE_PATH = 256 };
void input_path(struct input *input, char path[TREE_PATH], bool absolute,
    bool dots);

/* False, and why on stderr, where there are no mounts for us. */
bool tree_begin(void);

void tree_enter(void);
void tree_leave(void);

/* Fills the empty tree. */
void tree_make(struct input *input);
void tree_clear(void);

/* What is in the tree, by physical paths; those that are links have `link`. */
enum { NODES_MAX = 256 };
struct node {
	char path[TREE_PATH];
	bool link, directory;
};
struct nodes {
	size_t count;
	struct node of[NODES_MAX];
};
void tree_list(struct nodes *nodes);

#endif
