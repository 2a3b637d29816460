/*
 * Two policies of the command line, compared and reported: `sbxc diff` and
 * `sbxc check --within`.
 */
#ifndef SBX_DIFF_H
#define SBX_DIFF_H

#include "compiler/command/commands.h"
#include "compiler/compare/compare.h"
#include "compiler/report/report.h"

struct diff {
	const struct options *options;
	const char *files[SIDE_COUNT];  /* as the user wrote them */
	const char *labels[SIDE_COUNT]; /* "old" or "base", "new" */
	struct sbx_blob blobs[SIDE_COUNT];
	struct subject subjects[SIDE_COUNT];
	struct comparison comparison;
};

/* A set of changes. */
#define CHANGE_BIT(change) (1u << (change))
enum {
	CHANGE_ALL = (1u << CHANGE_END) - 1,
	CHANGE_NOT_WITHIN = CHANGE_BIT(CHANGE_WIDER) |
	    CHANGE_BIT(CHANGE_MAYBE_WIDER), /* it is wider, or may be */
};

/*
 * Reads both and compares them.  EXIT_CLEAN if that could be done, whatever
 * the result is; else what to end with after complaining.
 */
enum exit_status diff_make(struct diff *diff, const struct options *options,
    const char *old, const char *new);

/* Prints the differences of these changes for people, a few lines each. */
void diff_print(const struct diff *diff, unsigned changes, FILE *stream);

/* Adds findings to a report; those in `errors` are errors. */
void diff_report(const struct diff *diff, unsigned changes, unsigned errors,
    struct report *report);

/* `check --within BASE FILE...`. */
enum exit_status check_within(const struct options *options);

#endif
