/*
 * Whether a command line agrees with the session that it joins.
 */
#ifndef SBX_DIFFERENCES_H
#define SBX_DIFFERENCES_H

#include "runtime/session/offer.h"
#include "runtime/start/sandbox.h"

/* Refuses (125) a policy, workspace, parameter, level or limit other than that
 * of the session, and names both; limits on time and output may be others.
 * What the command line does not say is as in the session. */
void differences_refuse(struct sandbox *sandbox, const struct offer *offer);

/* What has become another one since an `auto` session was made, so that it is of no
 * use any more: the policy, or the directory of the workspace or of a parameter.
 * NULL: nothing. */
const char *differences_outdated(struct sandbox *sandbox,
    const struct offer *offer);

#endif
