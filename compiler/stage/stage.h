/*
 * A stage: what commands changed in a workspace while it stayed as it was.
 *
 * The changes are the upper layer of an overlay (format/protocol.h).  A command
 * wrote all of it but the marks of overlayfs, so it is walked by open directories
 * and through no link.
 */
#ifndef SBX_COMPILER_STAGE_STAGE_H
#define SBX_COMPILER_STAGE_STAGE_H

#include "compiler/base/base.h"
#include "format/protocol.h"

#include <dirent.h>
#include <sys/stat.h>

/* --- changes.c --------------------------------------------------------- */

struct stage_watch {
	char form;        /* enum sbx_stage_watch */
	const char *path; /* absolute */
	const char *pattern;
};

struct stage {
	struct arena *arena;
	const char *name;
	int directory, upper; /* open; upper: -1, nothing was changed */
	int workspace;        /* open; -1: it is gone */
	struct sbx_stage about;
	const char *path; /* of the workspace */
	VEC(struct stage_watch) watches;
};

/* Reads what lies in an open directory.  A workspace that is not the one of then is
 * taken as gone.  False after complaining. */
bool stage_load(struct stage *stage, struct arena *arena, const char *name,
    int directory, int workspace);

/* A file of the stage's own, with a NUL behind it; NULL with errno. */
char *stage_read_file(struct arena *arena, int directory, const char *name,
    size_t *size);

/* What is in a directory of an open one, through no link, but itself and the one
 * above it; NULL with errno. */
DIR *stage_list(int directory, const char *name);
const struct dirent *stage_next(DIR *stream);

/* Closes what is open. */
void stage_close(int fd);

/* Opens the directory that a path lies in, below an open one, through no link; -1
 * with errno. */
int stage_open_parent(int top, const char *path);

enum stage_change_kind {
	STAGE_DELETED, /* what is in the workspace; a directory with all in it */
	STAGE_ADDED,
	STAGE_CHANGED, /* its bytes, or where a link leads */
	STAGE_MODE,    /* its mode alone */
	STAGE_SAME,    /* nothing: it was only opened, or is gone by now */
	STAGE_UNFIT, /* a device, a FIFO or a socket, which is never applied */
};

/* An entry in which both layers differ.  The directories are open as long as the
 * visitor runs. */
struct stage_change {
	enum stage_change_kind kind;
	const char *path; /* below the workspace, with no slash in front */
	const char *name; /* its last component */
	int upper,
	    lower;     /* the directories that hold it; lower: -1, it is new */
	bool whiteout; /* what is deleted has a mark in `upper` */
	bool watched;  /* the policy watches it, or something in it */
	struct stat new, old; /* as far as there is one */
	uint64_t files;       /* in a directory that is deleted */
	const char *target;   /* of a link; NULL: it is none, or is deleted */
};

/*
 * What to do with each of them, in the order of names, a directory before what is
 * in it; and with a directory of the upper layer when all in it was visited.  Where
 * there is a `leave`, directories are made writable, and that has to restore them.
 */
struct stage_visitor {
	/* Before all else that is done with a directory: it may say what that was
	 * before an apply that was killed. */
	void (*meet)(void *context, struct stage_change *directory);
	/* Before what is in a directory that hides the lower one of its name: true
	 * if that is undone, and both are merged. */
	bool (*enter)(void *context, const char *path, int upper, int lower);
	void (*visit)(void *context, const struct stage_change *change);
	void (*leave)(void *context, const struct stage_change *directory);
	void *context;
};

/* Visits all changes; false after complaining if some could not be looked at. */
bool stage_walk(const struct stage *stage, const struct stage_visitor *visitor);

/* The watched place that covers a path below the workspace, or NULL. */
const struct stage_watch *stage_watched(const struct stage *stage,
    const char *path);

/* Whether two open files have the same bytes. */
bool stage_same_bytes(int a, int b);

/* --- apply.c ----------------------------------------------------------- */

struct stage_applied {
	uint64_t applied, left; /* changes */
};

/*
 * Moves changes into the workspace, each whole or not at all; what was applied is
 * taken out of the stage, so whoever was killed goes on where he was.  `paths` are
 * those that are wanted, below the workspace; none: all.  What stays is told, a
 * line each: what the policy watches and no path names, what changed in the
 * workspace since the stage began (`force`: that, too), and what is never applied.
 * False after complaining.
 */
bool stage_apply(const struct stage *stage, const char *const *paths,
    size_t count, bool force, struct stage_applied *applied);

/* Removes an entry of an open directory and all in it; false with errno. */
bool stage_remove(int directory, const char *name);

#endif
