/*
 * Carries out what view.c has decided: makes the root of the view, mounts each
 * place into it in path order, and enters it.
 */
#ifndef SBX_MOUNT_H
#define SBX_MOUNT_H

#include "runtime/apply/view.h"
#include "runtime/base/kernel.h"

enum mount_kind {
	MOUNT_NONE, /* what is around it shows it as it is to be */
	MOUNT_BIND,
	MOUNT_PROC, /* new ones of the sandbox's own */
	MOUNT_PTS,
	MOUNT_SHM,
	MOUNT_TMP,  /* the scratch directory */
	MOUNT_WAY,  /* an empty directory, for what is allowed below /tmp */
	MOUNT_PIN,  /* a bind of a directory on itself, so that it keeps its
	             * name and what is masked below stays below it */
	MOUNT_MASK, /* an empty directory or file that nobody may open */
};

/* A place, and what is mounted there. */
struct mounting {
	struct sbx_place at;   /* in the view */
	struct sbx_place from; /* outside; differs in the scratch directory */
	uint64_t attributes;   /* MOUNT_ATTR_* to set */
	int fd;                /* of what is outside, or of a mask, or -1 */
	uint8_t kind;
	bool directory; /* of a mask: it covers one */
};

/* The table is sorted by place, so that a mount comes after those around it
 * and is made inside them. */
struct mounts {
	struct binding *binding;
	struct view_report *report;
	struct mounting *table;
	uint32_t count, max;
	int root;              /* of the tmpfs */
	int masks[2];          /* one of files, one of directories, or -1 */
	bool outer_proc;       /* no other one can be made */
	struct sbx_place made; /* the last one whose parents were made */
};

enum {
	/* Never lifted: set-user-ID is without force here anyway, and device
	 * files are bound one by one. */
	MOUNT_ALWAYS = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
};

static const struct sbx_place place_dev = { "/dev", 4 },
			      place_dev_pts = { "/dev/pts", 8 },
			      place_dev_ptmx = { "/dev/ptmx", 9 },
			      place_dev_shm = { "/dev/shm", 8 };

/* Where a place goes into the table, or stands in it already. */
uint32_t mounts_find(const struct mounts *mounts, struct sbx_place at);

/* The innermost mount around a place, not at it, or NULL. */
const struct mounting *mounts_around(const struct mounts *mounts,
    struct sbx_place at);

/* Refuses (125) if nothing more fits in. */
void mounts_refuse_full(const struct mounts *mounts, struct sbx_place at);

/* The entry for a place, which stays the caller's; a new one is of kind
 * MOUNT_NONE.  Those that come after it move. */
struct mounting *mounts_add(struct mounts *mounts, struct sbx_place at,
    struct sbx_place from);

/* Adds a pin for each directory in which a mount could be carried away. */
void mounts_pin(struct mounts *mounts);

/* Puts a new /proc over the one outside; false where none can be made, and then
 * the view has none either. */
bool mounts_cover_proc(struct mounts *mounts);

/* Mounts everything and makes it the root of this process; refuses (125). */
void mounts_enter(struct mounts *mounts);

/* Ends the program because of a place. */
void refuse_place(struct sbx_place at, const char *text, int error)
    __attribute__((noreturn));

/* A place as the path that a system call takes. */
const char *path_of(struct sbx_place at);

#endif
