/*
 * What is there now at a place that a policy watches, name by name.
 *
 * Two looks are compared by type, inode, size, mode and time of change (ctime).
 * The kernel sets that time at each write, chmod, link and rename, and nobody
 * can set it back but by setting the clock of the machine, which takes
 * CAP_SYS_TIME.  So nothing has to be read, but for settings of git.
 *
 * Of the first names of a large tree each is kept; what the others are goes into
 * one number, so that a change among them is seen though not where it is.
 */
#ifndef SBX_LOOK_H
#define SBX_LOOK_H

#include "format/watch.h"
#include "runtime/base/arena.h"

#include <time.h>

enum {
	LOOK_MAX_NAMES = 256,      /* of one rule, that are kept */
	LOOK_MAX_BYTES = 32 << 10, /* of these, with their paths */
	LOOK_MAX_ALL = 16384,      /* that are looked at */
	LOOK_MAX_DEPTH = 16,
	LOOK_MAX_SETTINGS = 16 << 10, /* bytes of a file that is read */
};

/* Forms of looking beside enum sbx_watch_form: `watch git`, at the place of the
 * repository itself; and one file of settings. */
enum { LOOK_SETTINGS = 254, LOOK_GIT_DIRECTORY = 255 };

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
	uint32_t count, all; /* names that are kept, and that were met */
	uint32_t bytes;      /* of those that are kept */
	uint64_t sum;        /* of what all names are */
	bool more;           /* names that are not kept */
	bool cut;            /* names that were not looked at */
	bool shut;           /* a directory cannot be read, as its name says */
};

/*
 * A directory in which many places lie.  They are looked at from there, since a
 * path from the root takes twice as long; and as long as the directory itself
 * has not changed, what was not in it is not in it now.
 */
struct look_from {
	uint32_t len; /* of its path */
	int fd;       /* -1: from the root */
	int error;    /* why nothing can be below it, or 0 */
	bool opened;
	bool settled; /* it did not change just before; then: */
	uint64_t device, inode;
	struct timespec changed;
};

void look_begin(struct look_from *from, struct sbx_place directory);
void look_end(struct look_from *from);
/* Whether no name was made or removed in the directory between two looks. */
bool look_is_same(const struct look_from *before, const struct look_from *now);

/* What to look at: a form, enum sbx_watch_form or the above, at a place; or what
 * matches a pattern below it. */
struct look_at {
	uint8_t form;
	struct sbx_place at;
	const char *pattern; /* "": none */
	uint64_t key;        /* of the sum, so that nobody can make one */
};

void look(struct arena *arena, const struct look_at *what,
    const struct look_from *from, struct sight *sight);

/* The text of a settings file; NULL if it is none that can be read. */
const char *look_settings(struct arena *arena, const struct seen *seen);

#endif
