#include "tests/model/properties/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("Bail out! ");
	vprintf(format, args);
	printf(": %s\n", strerror(errno));
	va_end(args);
	exit(99);
}

void
print_path(char path[PATH_SIZE], const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, PATH_SIZE, format, args);
	va_end(args);
	if (len < 0 || len >= PATH_SIZE)
		give_up("a path of %d bytes", len);
}

const char *
chance_name(struct chance *chance)
{
	static const char *const names[] = {
		"a",
		"ab",
		"a.b",
		"a-b",
		"a0",
		"b",
		"ba",
	};

	return names[chance_below(chance, countof(names))];
}

bool
is_full(const struct world *world)
{
	return strcmp(world->level, "full") == 0;
}

bool
exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

bool
is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

const struct node *
world_pick(struct world *world)
{
	return &world->nodes[chance_below(&world->chance, world->node_count)];
}

void
world_mention(struct world *world, const char *path)
{
	if (world->mentioned_count < MAX_MENTIONED)
		print_path(world->mentioned[world->mentioned_count++], "%s",
		    path);
}

void
world_path(struct world *world, char path[PATH_SIZE])
{
	const struct node *node = world_pick(world);

	if (world->mentioned_count > 0 && chance_percent(&world->chance, 25))
		print_path(path, "%s",
		    world->mentioned[chance_below(&world->chance,
			world->mentioned_count)]);
	else if (chance_percent(&world->chance, 70))
		print_path(path, "%s", node->path);
	else
		print_path(path, "%s/%s%s", node->path,
		    chance_name(&world->chance),
		    chance_percent(&world->chance, 20) ? "/a" : "");
}

static void
file_make(const struct world *world, const char *path)
{
	/* Empty and executable: execve() says ENOEXEC if it may. */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);

	if (fd < 0 || fchown(fd, world->uid, world->uid) != 0)
		give_up("%s", path);
	close(fd);
}

/* False for links in a ring: a rule that leads there is refused. */
static bool
node_make(struct world *world, const struct node *node)
{
	char target[PATH_SIZE];
	struct stat status;

	switch (node->kind) {
	case DIRECTORY:
		if (mkdir(node->path, 0777) != 0)
			give_up("%s", node->path);
		break;
	case REGULAR:
		file_make(world, node->path);
		break;
	case SYMLINK:
		if (chance_percent(&world->chance, 25))
			print_path(target, "../%s",
			    chance_name(&world->chance));
		else if (chance_percent(&world->chance, 10))
			print_path(target, "%s", world->outside);
		else
			world_path(world, target);
		if (target[0] == '/')
			world_mention(world, target);
		world_mention(world, node->path);
		if (symlink(target, node->path) != 0)
			give_up("%s", node->path);
		if (stat(node->path, &status) != 0 && errno == ELOOP)
			return unlink(node->path) != 0;
		break;
	}
	if (lchown(node->path, world->uid, world->uid) != 0)
		give_up("%s", node->path);
	return true;
}

static void
world_add(struct world *world)
{
	struct node *node = &world->nodes[world->node_count];
	const struct node *parent = world_pick(world);
	size_t kind = chance_below(&world->chance, 100);

	if (parent->kind != DIRECTORY)
		return;
	print_path(node->path, "%s/%s", parent->path,
	    chance_name(&world->chance));
	if (exists(node->path))
		return;
	node->kind = kind < 45 ? DIRECTORY : kind < 85 ? REGULAR : SYMLINK;
	world->node_count += node_make(world, node);
}

/* A directory that an anchor can be bound to.  A link to one could be planted,
 * and then sbxrun refuses it. */
static void
world_anchor(struct world *world, char path[PATH_SIZE])
{
	char *place;
	struct stat status;
	const struct node *node;

	do {
		node = world_pick(world);
	} while (stat(node->path, &status) != 0 || !S_ISDIR(status.st_mode));
	place = realpath(node->path, NULL);
	if (place == NULL)
		give_up("%s", node->path);
	print_path(path, "%s", place);
	free(place);
}

void
world_make(struct world *world)
{
	size_t wanted = 4 + chance_below(&world->chance, MAX_NODES - 4);

	world->node_count = 1;
	world->mentioned_count = 0;
	world->nodes[0].kind = DIRECTORY;
	print_path(world->nodes[0].path, "%s/t", world->base);
	node_make(world, &world->nodes[0]);
	for (unsigned i = 0; i < 200 && world->node_count < wanted; i++)
		world_add(world);
	file_make(world, world->outside);
	world_anchor(world, world->workspace);
	/* Not in the tree: in a home sbxrun keeps files of its own, which no rule
	 * of the policy says. */
	print_path(world->home, "%s/home", world->base);
	if (mkdir(world->home, 0777) != 0 ||
	    chown(world->home, world->uid, world->uid) != 0)
		give_up("%s", world->home);
	world_anchor(world, world->parameter);
}

void
world_remove(struct world *world)
{
	static const char *const kept[] = { "/.config/sbx", "/.config",
		"/.local/state/sbx", "/.local/state", "/.local", "" };
	char path[PATH_SIZE];

	for (size_t i = 0; i < countof(kept); i++) {
		print_path(path, "%s%s", world->home, kept[i]);
		if (rmdir(path) != 0 && errno != ENOENT)
			give_up("%s", path);
	}
	if (unlink(world->outside) != 0)
		give_up("%s", world->outside);
	while (world->node_count > 0) {
		const struct node *node = &world->nodes[--world->node_count];

		if ((node->kind == DIRECTORY ? rmdir(node->path) :
					       unlink(node->path)) != 0)
			give_up("the tree is not as it was: %s", node->path);
	}
}

bool
is_file(const char *path)
{
	return exists(path) && !is_directory(path);
}

void
parent_of(const char *path, char parent[PATH_SIZE])
{
	print_path(parent, "%.*s", (int)(strrchr(path, '/') - path), path);
}
