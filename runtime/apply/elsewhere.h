/*
 * A command that exists, and is not in the view of level full: to whoever typed
 * its name "command not found" alone would be a riddle.
 */
#ifndef SBX_ELSEWHERE_H
#define SBX_ELSEWHERE_H

#include "runtime/base/arena.h"

/* Before the view is entered: where a search for the command ends outside, with
 * the caller's PATH; NULL: nowhere. */
const char *elsewhere_find(struct arena *arena, const char *name,
    char **variables);

/* In the sandbox, where it was not found: says so, and `place`, which may be
 * NULL. */
void elsewhere_say(const char *name, const char *fault, const char *place);

#endif
