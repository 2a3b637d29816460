/*
 * The calls of a command that is explained: what the policy's own filter says
 * to each is what happens, and what is denied is noted on the way.
 */
#ifndef SBX_OBSERVE_H
#define SBX_OBSERVE_H

#include "runtime/listen/caller.h"

/* In place of answer(), see answers.h. */
int64_t observe(const struct caller *caller);

#endif
