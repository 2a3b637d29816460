/*
 * Comments that ask to ignore a warning, with a reason that everybody can read:
 *
 *	allow write ~/.bashrc  # sbx: ignore SBX0601 -- the installer's own job
 *
 * Behind a statement such a comment is about its line, on a line of its own
 * about the next one that is neither empty nor a comment.  It works on the
 * text, so that it is the same in every front end.
 */
#ifndef SBX_SUPPRESS_H
#define SBX_SUPPRESS_H

#include "compiler/report/diag.h"

struct suppression {
	struct loc loc;  /* of the code in the comment */
	struct loc line; /* what it is about; at the end: nothing */
	enum diag_id id;
	const char *reason;
	bool used;
};

struct suppressions {
	VEC(struct suppression) list; /* in the order of their lines */
	size_t marked;                /* so many records were looked at */
	bool off; /* judged for their form, and that is all */
};

/* Reads the comments of one text; reports those with a mistake in their
 * form. */
void suppressions_read(struct suppressions *suppressions, struct diags *diags,
    const struct source *source);

/* Marks the records that were added since the last call. */
void suppressions_mark(struct suppressions *suppressions, struct diags *diags);

/* Reports the comments of one text that ignored nothing, except for the codes
 * in `except`. */
void suppressions_report_unused(const struct suppressions *suppressions,
    struct diags *diags, const struct source *source,
    const bool except[DIAG_END]);

#endif
