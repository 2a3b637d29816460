/*
 * Whether other users could have made a link.
 *
 * In a user namespace of its own a process cannot tell: the kernel shows every
 * owner but its own as the same overflow id, root as well.  So at level full
 * the supervisor, which stays outside, answers while the first process of the
 * sandbox binds the policy.
 */
#ifndef SBX_OWNERS_H
#define SBX_OWNERS_H

#include "runtime/base/path.h"

/* The two ends of the line to the supervisor; -1: there is none. */
struct owners {
	int ask, answer;
};

/* No line; a line, or refuses; no line any more. */
void owners_none(struct owners *owners);
void owners_open(struct owners *owners);
void owners_close(struct owners *owners);

/* In the process that asks: closes the other end. */
void owners_use(struct owners *owners);

/* In the supervisor: answers until the other process has closed its end. */
void owners_serve(struct owners *owners);

/*
 * Whether only root and the user could have made the link: it belongs to one of
 * them, nobody else may write the directory that holds it, and nobody else may
 * replace a directory above.  These are looked at up to `trusted`, a directory
 * of the user's.  `owners` may have no line; then we see for ourselves.
 */
bool owners_trust(const struct owners *owners, struct sbx_place link,
    struct sbx_place trusted);

#endif
