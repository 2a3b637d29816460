/*
 * What --learn writes when all has ended: JSON lines, added to the end of a
 * file that the command cannot reach.  sbxrun(1) describes the fields.  `sbxc
 * learn` reads them.
 */
#ifndef SBX_LEARNED_H
#define SBX_LEARNED_H

#include "runtime/explain/explain.h"
#include "runtime/watch/receipt.h"

/*
 * Opens the file, once the rules are bound and before anything runs.  Refuses
 * (125) if the policy lets the command write there, and if the file has
 * something else in it.
 */
void learned_open(struct receipt *receipt, const char *path,
    const struct binding *binding);

struct learned {
	const struct explaining *explaining;
	const struct decisions *decisions; /* of sbx-proxy */
	char *const *command;
	int status; /* of the command, as wait(2) gives it */
	bool late;
};

/* Writes all records; a failure is a warning. */
void learned_write(struct receipt *receipt, const struct learned *learned);

#endif
