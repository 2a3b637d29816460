/*
 * Paths as the file system has them: symbolic links followed, so that the
 * overlap of two rules is judged on what they name.
 */
#ifndef SBX_FOLLOW_H
#define SBX_FOLLOW_H

#include "runtime/base/arena.h"
#include "runtime/base/path.h"
#include "runtime/bind/listing.h"

struct followed {
	struct sbx_place at; /* without links; as given where nothing exists */
	int fd;              /* O_PATH, close-on-exec; -1 if there is none */
	int error;           /* why not: ENOENT, ENOTDIR, EACCES ... */
	uint32_t link_count;
	const struct sbx_place *links; /* that were on the way, in this order */
};

/*
 * Follows an absolute, normal, NUL-terminated path.  Never fails: what cannot
 * be opened has an error.  The caller closes the descriptor.
 */
struct followed follow(struct arena *arena, struct sbx_place path);

/*
 * The same without a descriptor, for a place that is only compared: `path`
 * begins with `parent`, which has no links in it.
 */
struct followed follow_below(struct arena *arena,
    const struct listings *listings, struct sbx_place parent,
    struct sbx_place path);

/* follow() for a path as people type it: relative, with "." and "..". */
struct followed follow_given(struct arena *arena, const char *path);

/* Opens a place that follow() returned, which has no links; -1 and errno. */
int open_place(struct sbx_place at, int flags);

/* Opens a path that may have links on the way; ELOOP if it has. */
int open_unlinked(int directory, const char *path, int flags);

#endif
