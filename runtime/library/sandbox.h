/*
 * A sandbox that was opened.  It does not change until it is closed, so that
 * threads need no lock.
 */
#ifndef SBX_RUNTIME_LIBRARY_SANDBOX_H
#define SBX_RUNTIME_LIBRARY_SANDBOX_H

#include "runtime/apply/environment.h"
#include "runtime/library/error.h"
#include "runtime/library/words.h"
#include "runtime/session/offer.h"

struct sbx_sandbox {
	pid_t owner;     /* who opened it */
	bool nameless;   /* it ends when it is closed */
	bool joined;     /* else each command has a sandbox of its own */
	bool supervised; /* the policy wants what only a supervisor does */
	int socket;      /* to the keeper, or -1 */
	int asking;      /* threads that wait for an answer there */
	int keeper;      /* a pidfd of it, or -1 */
	int policy;      /* the bytes that were given, or -1 */
	struct offer offer;
	struct environment_rules rules; /* of the offer */
	struct sbx_place anchors[SBX_MAX_ANCHORS];
	bool bound[SBX_MAX_ANCHORS];
	char level[16];
	char *warnings;
	char *sbxrun;       /* its path */
	struct words words; /* its options and the policy */
};

/* Whether the sandbox has ended. */
bool sandbox_ended(const struct sbx_sandbox *sandbox);

#endif
