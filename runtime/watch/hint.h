/*
 * A line at a terminal, after a command that failed: that --explain exists.  It
 * is said only where it is known without looking at the command that the policy
 * had a part in it; else people would read it after each test that fails.
 */
#ifndef SBX_HINT_H
#define SBX_HINT_H

#include "runtime/watch/supervise.h"

/* Whether a command that could not be started is there outside, where no rule
 * lets it be run. */
bool hint_is_hidden(const struct supervision *supervision, int status);

/* `hidden`: that. */
void hint_tell(const struct supervision *supervision, int status, bool hidden);

#endif
