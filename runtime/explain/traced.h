/*
 * The filter of a command that is explained.
 */
#ifndef SBX_TRACED_H
#define SBX_TRACED_H

#include "format/blob.h"
#include "runtime/base/arena.h"

/*
 * Installs the policy's filter so that the supervisor hears of the calls of
 * format/observed.def and of those that the filter refuses; nothing opens that
 * the policy closes.  Returns the listener; refuses (125) where that cannot be.
 */
int traced_install(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_program *program, bool view);

#endif
