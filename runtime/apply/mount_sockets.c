/*
 * Sockets in the mount tree: see mount_tree.c.  One that the policy opens is
 * bound there by itself, read-only, which does not keep anybody from
 * connecting; below a denied directory, too.  One that it shuts is masked where
 * it would be seen, since not every policy has somebody who looks at what is
 * connected to.
 */
#include "runtime/apply/mounts.h"

#include "runtime/bind/bind.h"

#include <fcntl.h>
#include <sys/stat.h>

static bool
is_open(const struct binding *binding, struct sbx_place at)
{
	return sbx_socket_verdict(binding->sockets, binding->socket_count, at)
		   .reason == SBX_BECAUSE_ALLOWED;
}

/* Whether what is outside at that place is seen in the tree. */
static bool
is_seen(const struct mount_tree *tree, struct sbx_place at,
    struct sbx_place from)
{
	const struct mounting *mounting = mounts_find(tree, at);

	if (mounting != NULL && mounting->kind != MOUNT_PIN)
		return mounting->kind == MOUNT_BIND;
	mounting = mounts_around(tree, at);
	if (mounting == NULL)
		return false;
	return mounting->kind == MOUNT_BIND || mounting->kind == MOUNT_PIN ||
	    (mounting->kind == MOUNT_TMP && sbx_covers(tree->scratch, from));
}

static void
show(struct mount_tree *tree, struct sbx_place at, struct sbx_place from,
    bool directory)
{
	struct mounting *mounting = mounts_add(tree, at, from);

	*mounting = (struct mounting){
		.at = at,
		.from = from,
		.attributes = MOUNT_ALWAYS | MOUNT_ATTR_RDONLY |
		    MOUNT_ATTR_NOEXEC,
		.fd = -1,
		.kind = MOUNT_BIND,
		.directory = directory,
	};
}

static void
mask(struct mount_tree *tree, struct sbx_place at, struct sbx_place from)
{
	struct mounting *mounting = mounts_add(tree, at, from);

	*mounting = (struct mounting){
		.at = at,
		.from = from,
		.fd = -1,
		.kind = MOUNT_MASK,
	};
}

void
mount_sockets(struct mount_tree *tree)
{
	const struct binding *binding = tree->binding;

	for (uint32_t i = 0; i < binding->socket_count; i++) {
		const struct sbx_rule *rule = &binding->sockets[i];
		struct sbx_place at = tree->scratch.len == 0 ?
		    rule->at :
		    bind_move(tree->arena, rule->at, tree->scratch, place_tmp);
		bool seen = is_seen(tree, at, rule->at),
		     open = is_open(binding, rule->at);
		struct stat status;

		if (fstatat(AT_FDCWD, path_of(rule->at), &status,
			AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (rule->effect == SBX_ALLOW && open && !seen &&
		    (S_ISSOCK(status.st_mode) || S_ISDIR(status.st_mode)))
			show(tree, at, rule->at, S_ISDIR(status.st_mode));
		else if (!open && seen && S_ISSOCK(status.st_mode))
			mask(tree, at, rule->at);
	}
}
