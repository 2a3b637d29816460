/*
 * What is there now at a place that a policy watches, name by name.
 *
 * Two looks are compared by type, inode, size, mode and time of change (ctime).
 * The kernel sets that time at each write, chmod, link and rename, and nobody
 * can set it back but by setting the clock of the machine, which takes
 * CAP_SYS_TIME.  So nothing has to be read, but for settings of git.
 */
#ifndef SBX_LOOK_H
#define SBX_LOOK_H

#include "format/watch.h"
#include "runtime/base/arena.h"

enum {
	LOOK_MAX_NAMES = 256, /* of one rule */
	LOOK_MAX_DEPTH = 8,
	LOOK_MAX_SETTINGS = 16 << 10, /* bytes of a file that is read */
};

/* A name, with what is there, or that nothing is. */
struct seen {
	struct seen *next;
	struct sbx_place at;
	uint64_t device, inode, size, changed; /* ctime in nanoseconds */
	uint32_t mode;
	int error;    /* why nothing is seen, mostly ENOENT; or why a directory
	               * cannot be read */
	uint8_t part; /* enum sbx_git_part */
	bool other;   /* in the git directory of a submodule or a work tree */
};

struct sight {
	struct seen *first, **end;
	uint32_t count;
	bool cut;  /* there is more than is looked at */
	bool shut; /* a directory cannot be read, as its name says */
};

void look(struct arena *arena, uint8_t form, struct sbx_place at,
    struct sight *sight);

/* The text of a settings file; NULL if it is none that can be read. */
const char *look_settings(struct arena *arena, const struct seen *seen);

#endif
