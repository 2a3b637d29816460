/*
 * The filter of a command that is explained.
 */
#ifndef SBX_TRACED_H
#define SBX_TRACED_H

#include "runtime/base/arena.h"
#include "runtime/explain/explain.h"

/*
 * Of which calls that only look at a place it hears.  realpath(3) makes one for
 * each directory of a path, and a compiler calls that for each header: most of
 * all calls of a build, which tell less than what is opened afterwards.
 */
enum traced_looks {
	TRACED_NONE, /* below full, where nothing denies them */
	TRACED_MOST, /* not those of realpath(3) */
	TRACED_ALL,
};
enum traced_looks traced_looks(const struct explaining *explaining, bool view);

/*
 * Installs the policy's filter so that the supervisor hears of the calls of
 * format/observed.def and of those that the filter refuses; nothing opens that
 * the policy closes.  Returns the listener; refuses (125) where that cannot be.
 */
int traced_install(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_program *program, enum traced_looks looks);

#endif
