/*
 * Paths as the file system has them: symbolic links followed, so that the
 * overlap of two rules is judged on what they name.
 */
#ifndef SBX_RESOLVE_H
#define SBX_RESOLVE_H

#include "runtime/listing.h"

/*
 * The bytes of bound paths: a fixed area that is filled from the front.  Only
 * pages that are written to cost anything.
 */
enum { TEXT_SIZE = 8 << 20 };

struct text {
	uint32_t used;
	char bytes[TEXT_SIZE];
};

/* A NUL-terminated copy of a and b joined; refuses when the area is full or
 * the path is longer than SBX_MAX_PATH. */
struct sbx_place text_join(struct text *text, struct sbx_place a,
    struct sbx_place b);

struct sbx_place place_of(const char *path);

struct resolved {
	struct sbx_place at; /* without links; textual where nothing exists */
	int fd;              /* O_PATH, close-on-exec; -1 if there is none */
	int error;           /* why not: ENOENT, ENOTDIR, EACCES ... */
	bool linked;         /* at differs from the path by a link */
};

/*
 * Resolves an absolute, normal, NUL-terminated path.  Never fails: what cannot
 * be opened has an error.  The caller closes the descriptor.
 */
struct resolved resolve(struct text *text, struct sbx_place path);

/*
 * The same without a descriptor, for a place that is only compared: `parent`
 * is resolved already, and `path` begins with it.
 */
struct resolved resolve_place(struct text *text, const struct listing *listing,
    struct sbx_place parent, struct sbx_place path);

/* resolve() for a path as people type it: relative, with "." and "..". */
struct resolved resolve_given(struct text *text, const char *path);

/* Calls visit for the location of every symbolic link on the way. */
typedef void link_visitor(void *context, struct sbx_place link);
void resolve_visit_links(struct sbx_place path, link_visitor *visit,
    void *context);

/* Opens a path that resolve() returned, which has no links; -1 and errno. */
int resolve_reopen(struct sbx_place at);

#endif
