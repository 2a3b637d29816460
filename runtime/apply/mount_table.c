/*
 * What the mount tree consists of.  It is a table that is sorted by place, so
 * that a mount comes after those around it and is made inside them.
 * mount_tree.c decides what goes in, mount.c mounts it.
 */
#include "runtime/apply/mounts.h"

#include <string.h>

/* Where a place goes into the table, or is in it already. */
static uint32_t
position_of(const struct mount_tree *tree, struct sbx_place at)
{
	uint32_t low = 0, high = tree->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sbx_place_compare(tree->mounts[middle].at, at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mounting *
mounts_find(const struct mount_tree *tree, struct sbx_place at)
{
	uint32_t index = position_of(tree, at);

	return index < tree->count &&
		sbx_place_compare(tree->mounts[index].at, at) == 0 ?
	    &tree->mounts[index] :
	    NULL;
}

const struct mounting *
mounts_around(const struct mount_tree *tree, struct sbx_place at)
{
	for (uint32_t i = position_of(tree, at); i-- > 0;) {
		if (sbx_covers(tree->mounts[i].at, at))
			return &tree->mounts[i];
	}
	return NULL;
}

struct mounting *
mounts_append(struct mount_tree *tree, struct sbx_place at)
{
	if (tree->count == MOUNTS_MAX)
		refuse_place(at, "the view needs more mounts than the bound",
		    0);
	return &tree->mounts[tree->count++];
}

struct mounting *
mounts_add(struct mount_tree *tree, struct sbx_place at, struct sbx_place from)
{
	struct mounting *mounting = mounts_find(tree, at);
	uint32_t index;

	if (mounting != NULL)
		return mounting;
	index = position_of(tree, at);
	mounting = &tree->mounts[index];
	memmove(mounting + 1, mounting,
	    (size_t)(mounts_append(tree, at) - mounting) * sizeof *mounting);
	*mounting = (struct mounting){ .at = at, .from = from, .fd = -1 };
	return mounting;
}

/* --- pins ----------------------------------------------------------------- */

/* Whether whoever may write in there can rename directories, and with them
 * what is mounted below. */
static bool
holds_names(const struct mounting *around)
{
	return around->kind == MOUNT_BIND || around->kind == MOUNT_PIN ||
	    around->kind == MOUNT_TMP;
}

static void
pin_one(struct mount_tree *tree, const struct mounting *around,
    struct sbx_place at)
{
	uint64_t attributes = around->attributes;
	struct mounting *pin;

	if (mounts_find(tree, at) != NULL)
		return;
	pin = mounts_add(tree, arena_copy(tree->arena, at),
	    bind_move(tree->arena, at, around->at, around->from));
	pin->kind = MOUNT_PIN;
	pin->attributes = attributes;
}

/*
 * Every directory between a place that has to stay where it is and the
 * outermost mount around it, where it can be renamed.
 */
static void
pin_ancestors(struct mount_tree *tree, struct sbx_place at)
{
	while (at.len > 0) {
		const struct mounting *around;

		at = place_parent(at);
		around = mounts_around(tree, at);
		if (at.len == 0 || around == NULL || !holds_names(around))
			return;
		if ((around->attributes & MOUNT_ATTR_RDONLY) == 0)
			pin_one(tree, around, at);
	}
}

/* A pin needs none itself: it was made together with those above it. */
void
mounts_pin(struct mount_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		struct mounting mounting = tree->mounts[i];
		uint32_t before = tree->count;

		if (mounting.kind == MOUNT_MASK || mounting.kind == MOUNT_BIND)
			pin_ancestors(tree, mounting.at);
		i += tree->count - before;
	}
}
