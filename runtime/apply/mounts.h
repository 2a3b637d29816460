/* The view of the file system at level full. */
#ifndef SBX_RUNTIME_APPLY_MOUNTS_H
#define SBX_RUNTIME_APPLY_MOUNTS_H

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/bind/bind.h"

#include <stdbool.h>
#include <stdint.h>

/* --- name_files.c ------------------------------------------------------ */

enum { NAME_FILES = 4 };

/* Where they lie outside, and the links that lead there.  The descriptor is -1
 * until one is mounted; then it is that of its mount. */
struct name_files {
	struct followed of[NAME_FILES];
	/* What the machine believes, and outside what is shown in its place;
	 * or no path.  The caller's. */
	struct sbx_place roots, bundle;
};

struct mount_tree;
struct mounting;

/* None yet. */
void name_files_none(struct name_files *files);

/* Adds their places to the table, if the files are wanted and the policy lets them
 * be read; a file that is not there is not made. */
void name_files_add(struct mount_tree *tree);

/* The mount for such a place, or -1 and errno; and what to do when it is
 * there. */
int name_file_mount(struct mount_tree *tree, struct mounting *mounting);
void name_file_mounted(struct mount_tree *tree, const struct mounting *mounting,
    int mount);

/* Lets the command read them: no rule may cover their places. */
void name_files_allow(const struct name_files *files, int ruleset);

/*
 * What became of one rule when it was applied; beside the binding's rules.
 */

struct outcome {
	uint32_t grants; /* Landlock rules that it was given */
	int error;       /* of an allow that is absent: why */
	bool absent;     /* it leads nowhere now, or nothing can be masked */
	bool covered;    /* another rule already gives all of it */
	bool split;      /* given to the entries of a directory one by one */
};

/* What is to be said of a rule in the end. */
static inline enum rule_state
outcome_state(const struct binding *binding, const struct outcome *outcomes,
    uint32_t index)
{
	return outcomes[index].absent ?
	    RULE_ABSENT :
	    (enum rule_state)binding->sites[index].state;
}

/* --- mount_tree.c ------------------------------------------------------ */

/*
 * Replaces the root of the calling process, which is alone in its mount and
 * process namespaces and holds every capability over them.  Refuses (125) if
 * a place that exists cannot be shown as the policy says.  Returns the binding
 * as it is in there: the scratch directory is at /tmp.  Counts the masked files
 * that have other names.  `names` gets
 * what name_files_allow() wants.
 */
const struct binding *mount_tree_enter(struct arena *arena,
    const struct binding *binding, struct outcome *outcomes,
    uint32_t *hard_linked, struct name_files *names);

/* Whether the tree has a file system of its own at a place or around it, which
 * a descriptor from outside does not lead to. */
bool mount_tree_replaces(struct sbx_place at);

/* --- mount_table.c ----------------------------------------------------- */

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
	MOUNT_NAMES, /* files of ours: see name_files.c */
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
			      place_var_tmp = { "/var/tmp", 8 },
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

/* --- covered.c --------------------------------------------------------- */

/*
 * In the view: refuses (125) if a place that a mount hides or closes can be
 * reached beside that mount by a name in another spelling; of what is
 * preferably denied it warns.
 */
void covered_check(const struct mount_tree *tree);

/* --- detached.c -------------------------------------------------------- */

/* A new file system of a type, with one option or NULL, and MOUNT_ATTR_*. */
int new_mount(const char *type, const char *option, const char *value,
    uint64_t attributes);

/* A copy of the mount at a path; MOUNT_TREE: and of those below it. */
int copy_mount(int directory, const char *path, unsigned flags);

/* The same, with MOUNT_ATTR_* set on each mount of the copy. */
int copy_mount_as(int directory, const char *path, unsigned flags,
    uint64_t attributes);

/* --- elsewhere.c ------------------------------------------------------- */

/* Before the view is entered: where a search for the command ends outside, with
 * the caller's PATH; NULL: nowhere. */
const char *elsewhere_find(struct arena *arena, const char *name,
    char **variables);

/* In the sandbox, where it was not found: says so, and `place`, which may be
 * NULL. */
void elsewhere_say(const char *name, const char *fault, const char *place);

/* --- lower.c ----------------------------------------------------------- */

/* What the lowering is about, and what it needs. */
struct lowering {
	const struct binding *binding;
	const struct sbx_landlock *row;
	int ruleset;
	bool masked; /* the mount tree hides what is denied inside */
	struct outcome *outcomes; /* of the binding's rules; to be filled in */
};

/*
 * Adds the rules of every allow to the Landlock ruleset.  Refuses (125) when
 * a rule cannot be added or the bounds are passed, naming the policy's line.
 */
void lower_paths(struct arena *arena, const struct lowering *what);

/* Opens the places of rules about sockets, where Landlock holds them (ABI 9): all
 * of a place, or nothing of it if a denial lies below. */
void lower_sockets(struct arena *arena, const struct lowering *what);

/* Adds a rule for every TCP port that the policy allows, about those rights to
 * ports that the ruleset holds, `net`. */
void lower_ports(const struct sbx_blob *blob, const struct sbx_landlock *row,
    uint64_t net, int ruleset);

/* --- mask.c ------------------------------------------------------------ */

/* The mask of a directory or a file, detached; -1 and errno.  Inside of a
 * directory that is not closed other things are still mounted. */
int mask_new(bool directory, bool closed);

/* --- mount.c ----------------------------------------------------------- */

/* Puts a new /proc over the one outside, once; false where none can be made,
 * and then the tree has none either. */
bool mount_over_proc(struct mount_tree *tree);

/* Mounts everything and makes it the root of this process; refuses (125). */
void mount_all(struct mount_tree *tree);

/* Ends the program because of a place. */
void refuse_place(struct sbx_place at, const char *text, int error)
    __attribute__((noreturn));

/* --- mount_sockets.c --------------------------------------------------- */

/*
 * What rules about sockets add to the mount tree.
 */

/* When the table has what the rules about paths say. */
void mount_sockets(struct mount_tree *tree);

#endif
