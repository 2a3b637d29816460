/*
 * What --explain tells when the command has ended: one block on stderr, and for
 * programs a record of each denial.
 */
#ifndef SBX_EXPLAINED_H
#define SBX_EXPLAINED_H

#include "runtime/explain/explain.h"
#include "runtime/watch/receipt.h"

struct telling {
	const struct explaining *explaining;
	struct receipt *sinks[2]; /* of which each may be NULL */
	bool all;                 /* without a bound */
	bool agent;               /* in the form for agents */
	bool failed;              /* the command did */
};

void explained_tell(const struct telling *telling);

#endif
