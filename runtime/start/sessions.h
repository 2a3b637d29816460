/*
 * Sessions on the command line: --session, --keep, --join, --sessions.
 */
#ifndef SBX_SESSIONS_H
#define SBX_SESSIONS_H

#include "runtime/start/sandbox.h"

/* --session=auto: the session of the process that has started this one, in this
 * workspace. */
void sessions_name(struct sandbox *sandbox);

/*
 * Runs the command in the session that the options name, after it has made that
 * if it is missing, or keeps one.  Returns only where a session is no gain,
 * below level full: then the command runs as without one.
 */
void sessions_run(struct sandbox *sandbox, char **environment);

#endif
