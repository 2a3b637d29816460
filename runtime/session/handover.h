/*
 * From process 1 of a session to its keeper: what was decided inside.
 */
#ifndef SBX_HANDOVER_H
#define SBX_HANDOVER_H

#include "runtime/inspect/plan.h"
#include "runtime/listen/listen.h"
#include "runtime/session/offer.h"

struct handover {
	struct arena *arena;
	const struct plan *plan;
	const char *name; /* of the session, or "" */
	const void *policy;
	size_t policy_size;
	uint32_t held; /* see confine_resources() */
	int ruleset;
	int group; /* the directory of the control group, or -1 */
	const struct listening *listening;
	int namespaces[OFFER_END];
};

/* Opens the namespaces of the calling process, while there is a /proc.  `user`:
 * it has a user namespace of its own. */
void handover_namespaces(struct handover *handover, bool user);

/* Sends it; refuses (125) what cannot be sent. */
void handover_send(const struct handover *handover, int socket);

#endif
