#include "tests/model/properties/attempts.h"
#include "tests/model/properties/model.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXCHANGE_NAMES = 2 };

const struct operation_words operations[] = {
	[OPEN_READ] = { "open-read", "ok" },
	[LISTING] = { "list", "ok" },
	[OPEN_WRITE] = { "open-write", "ok" },
	[TRUNCATE] = { "truncate", "ok" },
	[EXEC] = { "exec", "ENOEXEC" },
	[CREATE] = { "create", "ok" },
	[MKDIR] = { "mkdir", "ok" },
	[MKNOD] = { "mknod", "ok" },
	[MAKE_LINK] = { "symlink", "ok" },
	[UNLINK] = { "unlink", "ok" },
	[RMDIR] = { "rmdir", "ENOTEMPTY" },
	[RENAME] = { "rename", "ok" },
	[LINK] = { "link", "ok" },
	[EXCHANGE] = { "exchange", "ok" },
};

void
attempt_add(struct attempts *attempts, enum operation operation, const char *a,
    const char *b)
{
	struct attempt *attempt = &attempts->list[attempts->count];

	if (attempts->count == MAX_ATTEMPTS)
		return;
	attempts->count++;
	attempt->operation = operation;
	print_path(attempt->a, "%s", a);
	print_path(attempt->b, "%s", b);
}

/* What is tried of a node depends on what it leads to. */
static void
attempts_at(struct attempts *attempts, const char *path, struct chance *chance)
{
	struct stat status;
	char fresh[PATH_SIZE];

	if (stat(path, &status) != 0)
		return;
	if (!S_ISDIR(status.st_mode)) {
		for (enum operation i = OPEN_READ; i <= EXEC; i++) {
			if (i != LISTING)
				attempt_add(attempts, i, path, "");
		}
		return;
	}
	attempt_add(attempts, LISTING, path, "");
	print_path(fresh, "%s/%s", path,
	    chance_percent(chance, 50) ? "new" : chance_name(chance));
	if (exists(fresh))
		return;
	attempt_add(attempts, CREATE, fresh, "");
	attempt_add(attempts, MKDIR, fresh, "");
	attempt_add(attempts, MKNOD, fresh, "");
	attempt_add(attempts, MAKE_LINK, "/", fresh);
}

/* Whether two names can change places, or one become the other: neither lies
 * inside the other, which the kernel refuses before it asks Landlock. */
static bool
are_apart(const char *a, const char *b)
{
	return strcmp(a, b) != 0 && !is_below(a, spot_of(b)) &&
	    !is_below(b, spot_of(a));
}

/* Everything that moves or links what is at a to b, if anything is there. */
static void
attempts_between(struct attempts *attempts, const char *a, const char *b)
{
	bool over = exists(b);

	if (!are_apart(a, b))
		return;
	if (!over || (is_file(a) && is_file(b)))
		attempt_add(attempts, RENAME, a, b);
	if (!over && is_file(a))
		attempt_add(attempts, LINK, a, b);
	if (over)
		attempt_add(attempts, EXCHANGE, a, b);
}

void
attempts_make(struct attempts *attempts, struct world *world)
{
	char parent[PATH_SIZE], fresh[PATH_SIZE];

	attempts->count = 0;
	for (size_t i = 0; i < world->node_count; i++) {
		const struct node *node = &world->nodes[i];

		attempts_at(attempts, node->path, &world->chance);
		if (i == 0)
			continue;
		attempt_add(attempts, node->kind == DIRECTORY ? RMDIR : UNLINK,
		    node->path, "");
		parent_of(node->path, parent);
		print_path(fresh, "%s/new", parent);
		attempts_between(attempts, node->path, fresh);
		for (unsigned j = 0; j < 3; j++) {
			const struct node *other = world_pick(world);

			if (other != world->nodes)
				attempts_between(attempts, node->path,
				    other->path);
			if (other->kind != DIRECTORY)
				continue;
			print_path(fresh, "%s/new", other->path);
			attempts_between(attempts, node->path, fresh);
		}
	}
}

/* Keeps the inode of what may go away under another name. */
static void
keep(const struct world *world, const char *path)
{
	char kept[PATH_SIZE];

	print_path(kept, "%s/kept", world->base);
	if (is_file(path) && linkat(AT_FDCWD, path, AT_FDCWD, kept, 0) != 0)
		give_up("%s", path);
}

static void
give_back(const struct world *world, const char *path)
{
	char kept[PATH_SIZE];

	print_path(kept, "%s/kept", world->base);
	if (!exists(kept))
		return;
	/* rename() between two names of one inode does nothing. */
	if ((!exists(path) && rename(kept, path) != 0) ||
	    (exists(kept) && unlink(kept) != 0))
		give_up("%s", path);
}

void
attempt_prepare(const struct world *world, const struct attempt *attempt)
{
	char inside[PATH_SIZE];

	if (attempt->operation == UNLINK)
		keep(world, attempt->a);
	if (attempt->operation == RENAME)
		keep(world, attempt->b);
	/* A directory that would be removed must not be. */
	print_path(inside, "%s/inside", attempt->a);
	if (attempt->operation == RMDIR && mkdir(inside, 0777) != 0)
		give_up("%s", inside);
}

void
attempt_undo(const struct world *world, const struct attempt *attempt, bool ok)
{
	char inside[PATH_SIZE];
	long undone = 0;

	switch (attempt->operation) {
	case OPEN_READ:
	case LISTING:
	case OPEN_WRITE:
	case TRUNCATE:
	case EXEC:
		break;
	case CREATE:
	case MKNOD:
		undone = ok ? unlink(attempt->a) : 0;
		break;
	case MKDIR:
		undone = ok ? rmdir(attempt->a) : 0;
		break;
	case MAKE_LINK:
	case LINK:
		undone = ok ? unlink(attempt->b) : 0;
		break;
	case UNLINK:
		give_back(world, attempt->a);
		break;
	case RMDIR:
		print_path(inside, "%s/inside", attempt->a);
		undone = rmdir(inside);
		break;
	case RENAME:
		undone = ok ? rename(attempt->b, attempt->a) : 0;
		give_back(world, attempt->b);
		break;
	case EXCHANGE:
		undone = ok ? syscall(SYS_renameat2, AT_FDCWD, attempt->b,
				  AT_FDCWD, attempt->a, EXCHANGE_NAMES) :
			      0;
		break;
	}
	if (undone != 0)
		give_up("putting back %s", attempt->a);
}
