/*
 * How one wish of one run is compared with a policy: what the files of needs
 * share.
 */
#ifndef SBX_LEARN_LOOKING_H
#define SBX_LEARN_LOOKING_H

#include "compiler/learn/needs.h"

/* The wish of the run that is looked at. */
struct looking {
	struct needs *needs;
	const struct subject *subject;
	const struct wish *wish;
	size_t run;
};

/* Adds a need of this kind, or counts it. */
void looking_add(const struct looking *looking, struct need need);

/* What the policy says of an access in words; *fault: it is none. */
struct verdict looking_ask(const struct looking *looking,
    const char *const *words, size_t count, const char **fault);

/* The rule that keeps it from the command, as the reason why none gives it; or
 * NULL. */
const char *looking_kept_by(const struct looking *looking,
    const struct verdict *verdict);

/* The wish for a port or a name. */
void looking_at_port(const struct looking *looking);
void looking_at_domain(const struct looking *looking);

#endif
