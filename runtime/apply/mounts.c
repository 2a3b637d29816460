#include "runtime/apply/mount.h"

#include <string.h>

/*
 * The table of mounts: looked up, added to, and completed by the pins.
 */

uint32_t
mounts_find(const struct mounts *mounts, struct sbx_place at)
{
	uint32_t low = 0, high = mounts->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sbx_place_compare(mounts->table[middle].at, at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
mounts_has(const struct mounts *mounts, struct sbx_place at)
{
	uint32_t index = mounts_find(mounts, at);

	return index < mounts->count &&
	    sbx_place_compare(mounts->table[index].at, at) == 0;
}

const struct mounting *
mounts_around(const struct mounts *mounts, struct sbx_place at)
{
	for (uint32_t i = mounts_find(mounts, at); i-- > 0;) {
		const struct mounting *mounting = &mounts->table[i];

		if (sbx_covers(mounting->at, at))
			return mounting;
	}
	return NULL;
}

void
mounts_refuse_full(const struct mounts *mounts, struct sbx_place at)
{
	if (mounts->count == mounts->max)
		refuse_place(at, "the view needs more mounts than the bound",
		    0);
}

struct mounting *
mounts_add(struct mounts *mounts, struct sbx_place at, struct sbx_place from)
{
	struct mounting *mounting = &mounts->table[mounts_find(mounts, at)];

	if (mounts_has(mounts, at))
		return mounting;
	mounts_refuse_full(mounts, at);
	memmove(mounting + 1, mounting,
	    (size_t)(mounts->table + mounts->count - mounting) *
		sizeof *mounting);
	*mounting = (struct mounting){ .at = at, .from = from, .fd = -1 };
	mounts->count++;
	return mounting;
}

/* --- pins ----------------------------------------------------------------- */

/* Whether directories in there can be renamed, by somebody who may write, and
 * with them what is mounted below. */
static bool
holds_names(const struct mounting *around)
{
	return around->kind == MOUNT_BIND || around->kind == MOUNT_PIN ||
	    around->kind == MOUNT_TMP;
}

/* What is outside where a mount shows this place. */
static struct sbx_place
shown_at(struct arena *arena, const struct mounting *around,
    struct sbx_place at)
{
	return arena_join(arena, around->from,
	    (struct sbx_place){ at.path + around->at.len,
		at.len - around->at.len });
}

static void
pin_one(struct mounts *mounts, const struct mounting *around,
    struct sbx_place at)
{
	static const struct sbx_place nothing = { "", 0 };
	struct arena *arena = &mounts->binding->arena;
	uint64_t attributes = around->attributes;
	struct mounting *pin;

	if (mounts_has(mounts, at))
		return;
	pin = mounts_add(mounts, arena_join(arena, at, nothing),
	    shown_at(arena, around, at));
	pin->kind = MOUNT_PIN;
	pin->attributes = attributes;
}

/*
 * Every directory between a place that is to stay where it is and the outermost
 * mount around it, where it can be renamed.
 */
static void
pin_ancestors(struct mounts *mounts, struct sbx_place at)
{
	while (at.len > 0) {
		const struct mounting *around;

		do {
			at.len--;
		} while (at.len > 0 && at.path[at.len] != '/');
		around = mounts_around(mounts, at);
		if (at.len == 0 || around == NULL || !holds_names(around))
			return;
		if ((around->attributes & MOUNT_ATTR_RDONLY) == 0)
			pin_one(mounts, around, at);
	}
}

/* A pin needs none itself: it was made together with those above it. */
void
mounts_pin(struct mounts *mounts)
{
	for (uint32_t i = 0; i < mounts->count; i++) {
		struct mounting mounting = mounts->table[i];
		uint32_t before = mounts->count;

		if (mounting.kind == MOUNT_MASK || mounting.kind == MOUNT_BIND)
			pin_ancestors(mounts, mounting.at);
		i += mounts->count - before;
	}
}
