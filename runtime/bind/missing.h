/*
 * Messages about a policy that cannot be opened, and about a parameter that the
 * policy does not have.  They name what there is instead.
 */
#ifndef SBX_MISSING_H
#define SBX_MISSING_H

#include "runtime/base/options.h"

/* `name` is as on the command line; the profiles are in `directory`. */
void refuse_policy(const char *name, const char *directory, int error)
    __attribute__((noreturn));

void refuse_definition(const struct definition *definition,
    const struct sbx_blob *blob) __attribute__((noreturn));

#endif
