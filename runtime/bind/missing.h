/*
 * What is said about a policy that cannot be opened, and about a parameter
 * that it has not got: with what there is instead.
 */
#ifndef SBX_MISSING_H
#define SBX_MISSING_H

#include "runtime/base/options.h"

/* `name` as on the command line; `directory` has the profiles. */
void refuse_policy(const char *name, const char *directory, int error)
    __attribute__((noreturn));

void refuse_definition(const struct definition *definition,
    const struct sbx_blob *blob) __attribute__((noreturn));

#endif
