/* Watched places: how they were before the run and after it. */
#ifndef SBX_RUNTIME_WATCH_TRIPWIRE_H
#define SBX_RUNTIME_WATCH_TRIPWIRE_H

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/bind/bind.h"
#include "runtime/watch/receipt.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

/* --- look.c ------------------------------------------------------------ */

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

enum { LOOK_NAMES = 1024 };

/*
 * A directory in which many places lie.  They are looked at from there, since a
 * path from the root takes twice as long; and as long as the directory itself
 * has not changed, what was not in it is not in it now.
 *
 * A policy watches a hundred names there, and few of them exist.  So after a few
 * the directory is read, and each name that it has sets a bit: where the bit of a
 * name is not set, the kernel need not be asked.
 */
struct look_from {
	uint32_t len; /* of its path */
	int fd;       /* -1: from the root */
	int error;    /* why nothing can be below it, or 0 */
	bool opened;
	bool settled; /* it did not change just before; then: */
	uint64_t device, inode;
	struct timespec changed;
	uint32_t asked; /* names that were looked for */
	bool small;     /* it is worth reading */
	bool listed;    /* it was read; then: */
	uint64_t names[LOOK_NAMES / 64];
};

void look_begin(struct look_from *from, struct sbx_place directory);
void look_end(struct look_from *from);
/* Whether no name was made or removed in the directory between two looks. */
bool look_is_same(const struct look_from *before, const struct look_from *now);
/* What was read of it before holds for the second look if it is the same. */
void look_keep_names(const struct look_from *before, struct look_from *now);
/* Whether it was read and had no name that leads to the place. */
bool look_lacks(const struct look_from *from, struct sbx_place place);

/* What to look at: a form, enum sbx_watch_form or the above, at a place; or what
 * matches a pattern below it. */
struct look_at {
	uint8_t form;
	struct sbx_place at;
	const char *pattern;   /* "": none */
	uint64_t key;          /* of the sum, so that nobody can make one */
	struct timespec until; /* by the monotonic clock; 0: without end */
};

/* Whether that time has come. */
bool look_is_late(const struct timespec *until);

void look(struct arena *arena, const struct look_at *what,
    struct look_from *from, struct sight *sight);

/* The text of a settings file; NULL if it is none that can be read. */
const char *look_settings(struct arena *arena, const struct seen *seen);

/* What is there now, if that is a file; or -1. */
int look_open(const struct seen *seen, struct stat *status);

/* --- tripwire.c -------------------------------------------------------- */

/* A place, with what was there. */
struct wire {
	const struct sbx_watch *watch;
	struct look_at what;
	uint32_t from; /* an index below */
	struct sight before;
	const char *
	    *settings;      /* beside the names: the texts of some, or NULL */
	struct sight early; /* what was told when sbxrun was asked to end */
};

struct tripwire {
	struct arena *arena;
	const struct sbx_blob *blob;
	const struct binding *binding; /* of anchors */
	uint32_t count;
	struct wire *wires;
	/* The directories of the anchors, the other home and the repository of the
	 * workspace, then and now. */
	struct look_from *before, *now;
	struct unfinished unfinished; /* this run, on disk */
	bool early;                   /* it was told once before the end */
	uint64_t key;
	uint32_t leads;            /* wires that others led to */
	struct git_former *former; /* what git writes all the time */
	uint32_t former_count;
	time_t since;          /* when it was looked at */
	struct timespec until; /* a look takes no longer; 0: it may */
	bool late;             /* one was cut */
	bool left; /* on disk it is what a command left, at its end */
	/* While it tells: */
	const char *who;
	struct receipt *receipt, *log;
	bool told;      /* a line said it before */
	bool quiet;     /* nobody reads stderr */
	bool lost;      /* a record of the receipt could not be written */
	uint32_t lines; /* that were printed, of all and of the present rule */
	uint32_t lines_each;
	uint32_t unsaid; /* changes without a line */
};

/* Looks; NULL if the policy watches nothing here.  Of the binding the anchors
 * are enough. */
struct tripwire *tripwire_set(struct arena *arena,
    const struct binding *binding);

/* The command has left something that goes on: what is there now stays on disk, and
 * the next run tells what has changed since.  Before tripwire_tell(), so that
 * nothing happens between the two looks. */
void tripwire_leave(struct tripwire *tripwire);

/* Writes what it watches to the file "watched" of a stage, for who applies that;
 * NULL watches nothing.  Refuses (125) if that cannot be done. */
void tripwire_list(const struct tripwire *tripwire, struct arena *arena,
    int stage);

/* From where a place is looked at, in one of the two looks; and their end. */
struct look_from *tripwire_from(const struct tripwire *tripwire,
    struct look_from *from, uint32_t index);
void tripwire_end_looks(const struct tripwire *tripwire,
    struct look_from *from);

/* --- told.c ------------------------------------------------------------ */

/* sbxrun was asked to end: looks and tells, once. */
void tripwire_tell_early(struct tripwire *tripwire);

/* Looks again and tells; the receipt, and the one with the log, may be NULL. */
void tripwire_tell(struct tripwire *tripwire, struct receipt *receipt,
    struct receipt *log);

/* What changed at one place; and how much is not said. */
void tripwire_tell_wire(struct tripwire *tripwire, struct wire *wire,
    bool early);
void tripwire_say_rest(const struct tripwire *tripwire);

/* Whether the present look has had its time. */
bool tripwire_is_late(struct tripwire *tripwire);

/* --- git_blind.c ------------------------------------------------------- */

/* An index, or packed references, as they were at the first look. */
struct git_former {
	struct git_former *next;
	const struct seen *seen;
	int fd;
	bool known;                  /* if nobody writes into it: */
	uint8_t tail[SHA256_SIZE];   /* of an index, with its checksum */
	char digest[SHA256_HEX + 1]; /* where there is none */
	uint32_t refs;               /* that are replaced */
};

/* What one keeps from being shown that was shown before. */
struct git_blind {
	uint32_t news;
	const char *what; /* the first of the news is, and: */
	char first[SBX_MAX_PATH + 1];
};

/* Opens those of the first look. */
void git_blind_open(struct tripwire *tripwire);

/* Reads what must be read of them, beside the command; what that has changed by
 * now is not known. */
void git_blind_begin(struct tripwire *tripwire);

/* What one hides now and did not at the first look; `before` may be NULL. */
void git_blind_again(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *before, const struct seen *now, struct git_blind *blind);

/* --- killed.c ---------------------------------------------------------- */

/* Writes the first look to disk.  In the supervisor, once the other process runs:
 * beside it this takes no time. */
void tripwire_keep(struct tripwire *tripwire);

/* Tells of runs that were killed; and forgets them, if it could and another run
 * comes next. */
void tripwire_tell_killed(struct arena *arena, struct unfinished *next);

#endif
