/*
 * Rules as they are written, for diagnostics: one function for each kind.
 * Texts lie in the policy's arena.
 */
#ifndef SBX_TEXTS_H
#define SBX_TEXTS_H

#include "compiler/policy.h"

/* "deny read ~/.config except ~/.config/git"; `more`, if any, is one more
 * hole, for a text that shows how to cut something out. */
const char *path_rule_text(const struct policy *policy,
    const struct path_rule *rule, const struct target *more);

const char *port_rule_text(const struct policy *policy,
    const struct port_rule *rule);
const char *syscall_rule_text(const struct policy *policy,
    const struct syscall_rule *rule);
const char *env_rule_text(const struct policy *policy,
    const struct env_rule *rule);
const char *freedom_rule_text(const struct policy *policy,
    const struct freedom_rule *rule);

#endif
