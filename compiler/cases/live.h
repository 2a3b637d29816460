/*
 * Cases tried in the kernel: sbxrun applies the policy in a tree that is made
 * for it, and sbx-trial tries what the cases say.  What the kernel says must be
 * what the model says.
 */
#ifndef SBX_LIVE_H
#define SBX_LIVE_H

#include "compiler/cases/machine.h"

/*
 * Tries each result that passed; one that the kernel contradicts fails.
 * EXIT_CLEAN, or EXIT_TROUBLE after complaining about what could not be done.
 */
enum exit_status test_try(struct test_results *results,
    const struct machine *machine);

#endif
