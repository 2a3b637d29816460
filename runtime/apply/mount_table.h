/*
 * What the mount tree consists of.  It is a table that is sorted by place, so
 * that a mount comes after those around it and is made inside them.
 * mount_tree.c decides what goes in, mount.c mounts it.
 */
#ifndef SBX_MOUNT_TABLE_H
#define SBX_MOUNT_TABLE_H

#include "runtime/apply/mount_tree.h"
#include "runtime/apply/name_files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/path.h"

enum mount_kind {
	MOUNT_NONE, /* what is around it shows it as it should be */
	MOUNT_BIND,
	MOUNT_PROC, /* new ones of the sandbox's own */
	MOUNT_PTS,
	MOUNT_SHM,
	MOUNT_TMP,   /* the scratch directory */
	MOUNT_WAY,   /* an empty directory, for what is allowed below /tmp */
	MOUNT_PIN,   /* a bind of a directory on itself: it keeps its name, and
	             * what is masked below it stays below it */
	MOUNT_NAMES, /* a file of ours: see name_files.h */
	MOUNT_MASK,  /* an empty directory or file that nobody may open */
};

/* A place, and what is mounted there. */
struct mounting {
	struct sbx_place at;   /* in the tree */
	struct sbx_place from; /* outside; differs in the scratch directory */
	uint64_t attributes;   /* MOUNT_ATTR_* to set */
	int fd;                /* of what is outside, or of a mask, or -1 */
	uint8_t kind;
	bool directory; /* it covers one; but for a mask, known when mounted */
};

enum {
	MOUNTS_MAX = 8192,
	/* Set everywhere: set-user-ID has no effect in here anyway, and device
	 * files are bound one by one. */
	MOUNT_ALWAYS = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
};

struct mount_tree {
	struct arena *arena;
	const struct binding *binding; /* outside */
	const struct binding *seen;    /* from inside: the scratch is /tmp */
	struct outcome *outcomes;
	uint32_t *hard_linked;    /* masked files that have other names */
	struct sbx_place scratch; /* what is seen as /tmp; of no length: none */
	struct mounting *mounts;
	uint32_t count;
	int root;     /* of the tmpfs */
	int masks[2]; /* one of files, one of directories, or -1 */
	bool proc_tried, proc_covered; /* the outer /proc, by our own */
	struct sbx_place made; /* the last one whose parents were made */
	struct name_files name_files;
};

static const struct sbx_place place_tmp = { "/tmp", 4 },
			      place_proc = { "/proc", 5 },
			      place_dev = { "/dev", 4 },
			      place_dev_pts = { "/dev/pts", 8 },
			      place_dev_ptmx = { "/dev/ptmx", 9 },
			      place_dev_shm = { "/dev/shm", 8 };

/* The entry for a place, or NULL. */
struct mounting *mounts_find(const struct mount_tree *tree,
    struct sbx_place at);

/* The innermost mount around a place, not at it, or NULL. */
const struct mounting *mounts_around(const struct mount_tree *tree,
    struct sbx_place at);

/* The entry for a place that comes after all in the table.  Refuses (125) if
 * that is full. */
struct mounting *mounts_append(struct mount_tree *tree, struct sbx_place at);

/* The entry for a place, which stays the caller's; a new one is of kind
 * MOUNT_NONE.  Entries that come after it move.  Refuses as well. */
struct mounting *mounts_add(struct mount_tree *tree, struct sbx_place at,
    struct sbx_place from);

/* Adds a pin for each directory in which a mount could be carried away. */
void mounts_pin(struct mount_tree *tree);

#endif
