/*
 * Diagnostics as findings of a report, and what -W and -E say of them.
 */
#ifndef SBX_DIAG_REPORT_H
#define SBX_DIAG_REPORT_H

#include "compiler/report/diag.h"
#include "compiler/report/report.h"

/* All codes as rules of the report. */
void diags_report_rules(struct report *report);

/* Adds every record, in source order.  A file that several others include gives
 * the same record again; it is added once. */
void diags_report(const struct diags *diags, struct report *report,
    struct map *known);

/*
 * Reads one word of -W ("CODE", "no-CODE", "all", "no-all") or of -E.  Returns
 * NULL, or a message about what is wrong with it.
 */
const char *diag_choice_warning(struct arena *arena, const char *word,
    struct diag_choices *choices);
const char *diag_choice_error(struct arena *arena, const char *word,
    struct diag_choices *choices);

#endif
