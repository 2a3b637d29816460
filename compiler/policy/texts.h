/*
 * Path rules as they are written, for diagnostics; those of all kinds have
 * rule_text() (kind.h).  Texts lie in the policy's arena.
 */
#ifndef SBX_TEXTS_H
#define SBX_TEXTS_H

#include "compiler/policy/policy.h"

/* "deny read ~/.config except ~/.config/git"; `more`, if any, is one more
 * exclusion, for a text that shows how to cut something out. */
const char *path_rule_text(const struct policy *policy,
    const struct path_rule *rule, const struct target *more);

/* Its object alone: "~/.cache", or "glob "~/.cache/x*"". */
const char *path_rule_object(const struct policy *policy,
    const struct path_rule *rule);

/*
 * The rules [index, end) of one object, as it is written where it stands for
 * several paths, and without its exclusions.
 */
const char *path_object_text(const struct policy *policy, size_t index,
    size_t end);

/* The end of the object that begins at `index`. */
size_t path_object_end(const struct policy *policy, size_t index);

#endif
