/*
 * The level of a run.
 */
#ifndef SBX_LEVEL_H
#define SBX_LEVEL_H

#include "runtime/base/machine.h"
#include "runtime/base/options.h"

/*
 * The best level of the machine, or the one that was asked for.  Refuses (125)
 * one that the machine does not give, one that is below the policy's floor, and
 * a policy that allows everything and was not allowed to.
 */
enum sbx_level level_choose(const struct options *options,
    const struct sbx_blob *blob, const struct machine *machine);

#endif
