/*
 * A random tree, and the paths and names that policies and attempts about it
 * use.  What cannot be done ends the test.
 */
#ifndef SBX_TEST_WORLD_H
#define SBX_TEST_WORLD_H

#include "tests/lib/chance.h"

#include <sys/types.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { PATH_SIZE = 512, MAX_NODES = 26, MAX_MENTIONED = 16 };

__attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format,
    ...);

__attribute__((format(printf, 2, 3))) void print_path(char path[PATH_SIZE],
    const char *format, ...);

/* Names that are prefixes of each other; '-' and '.' sort before '/', and '0'
 * just after it. */
const char *chance_name(struct chance *chance);

enum kind { DIRECTORY, REGULAR, SYMLINK };

struct node {
	char path[PATH_SIZE];
	enum kind kind;
};

struct world {
	struct chance chance;
	char base[PATH_SIZE];    /* holds the tree and what runs it */
	char outside[PATH_SIZE]; /* a file beside the tree */
	uid_t uid;
	const char *level;
	struct node nodes[MAX_NODES]; /* parents first */
	size_t node_count;
	/* Paths that a link or a rule speaks of: others are to speak of them,
	 * too, for what is interesting is where two meet. */
	char mentioned[MAX_MENTIONED][PATH_SIZE];
	size_t mentioned_count;
	/* Where the anchors lead; as given, by way of links. */
	char workspace[PATH_SIZE], home[PATH_SIZE], parameter[PATH_SIZE];
};

bool is_full(const struct world *world);

bool exists(const char *path);

bool is_directory(const char *path);

const struct node *world_pick(struct world *world);

void world_mention(struct world *world, const char *path);

/* A path that may be there, and may lie below something that is not. */
void world_path(struct world *world, char path[PATH_SIZE]);

void world_make(struct world *world);

void world_remove(struct world *world);

bool is_file(const char *path);

void parent_of(const char *path, char parent[PATH_SIZE]);

#endif
