/*
 * Paths as the file system has them: symbolic links followed, so that the
 * overlap of two rules is judged on what they name.
 */
#ifndef SBX_RESOLVE_H
#define SBX_RESOLVE_H

#include "runtime/base/arena.h"
#include "runtime/bind/listing.h"

struct sbx_place place_of(const char *path);

struct resolved {
	struct sbx_place at; /* without links; textual where nothing exists */
	int fd;              /* O_PATH, close-on-exec; -1 if there is none */
	int error;           /* why not: ENOENT, ENOTDIR, EACCES ... */
	bool linked;         /* at differs from the path by a link */
};

/* Called with the location of every symbolic link on the way; may be NULL. */
typedef void link_visitor(void *context, struct sbx_place link);

/*
 * Resolves an absolute, normal, NUL-terminated path.  Never fails: what cannot
 * be opened has an error.  The caller closes the descriptor.
 */
struct resolved resolve(struct arena *arena, struct sbx_place path,
    link_visitor *visit, void *context);

/*
 * The same without a descriptor, for a place that is only compared: `parent`
 * is resolved already, and `path` begins with it.
 */
struct resolved resolve_place(struct arena *arena,
    const struct listings *listings, struct sbx_place parent,
    struct sbx_place path, link_visitor *visit, void *context);

/* resolve() for a path as people type it: relative, with "." and "..". */
struct resolved resolve_given(struct arena *arena, const char *path);

/* Opens a path that resolve() returned, which has no links; -1 and errno. */
int resolve_reopen(struct sbx_place at);

/* Opens a directory for reading if there is no link on the way; -1 if not. */
int resolve_directory(struct sbx_place at);

#endif
