/*
 * Who else may choose the policy.
 */
#ifndef SBX_TRUST_H
#define SBX_TRUST_H

#include "runtime/start/load.h"

/*
 * Refuses (125) a policy that others may write or replace: the file, every
 * directory and every link on the way to it.  `file` was opened as `fd`, and
 * `name` is what people call it.  loaded->path is known already if `file` has
 * neither links nor dots; else it is found, and loaded->hops too.
 */
void trust_policy(const char *name, const char *file, int fd,
    struct policy_file *loaded);

#endif
