/*
 * What report.c and the writers share; there is a writer for each format.
 */
#ifndef SBX_REPORT_WRITE_H
#define SBX_REPORT_WRITE_H

#include "compiler/report/report.h"

/* How many findings are not suppressed, by severity; how many are; and the
 * cases. */
struct report_counts {
	size_t severity[SEVERITY_ERROR + 1];
	size_t suppressed, passed, failed, skipped;
};

struct report_counts report_count(const struct report *report);

/* NULL if no such rule was added. */
const struct report_rule *report_rule_find(const struct report *report,
    const char *id);

/* What a byte of a text is written as; a table ends with byte 0. */
struct escape {
	char byte;
	const char *text;
};

/* The text with the table's bytes replaced, and with U+FFFD for what is no
 * character or is not seen. */
void put_escaped(FILE *stream, const char *text, const struct escape *escapes);

/* lines.c */
void report_write_github(const struct report *report, FILE *stream);
void report_write_markdown(const struct report *report, FILE *stream);

/* json.c, junit.c */
void report_write_json(const struct report *report, FILE *stream);
void report_write_junit(const struct report *report, FILE *stream);

#endif
