/*
 * What a command found out, for programs: findings with places, cases of a
 * test, and one writer for each format.  A command fills a report in and asks
 * for it to be written; it knows nothing of JSON or XML.
 *
 *	report_init()  report_rule()*  report_finding()*  report_case()*
 *	report_write()
 *
 * All texts are the caller's and must live as long as the report; any bytes
 * may be in them, a writer makes valid text of its format out of them.
 */
#ifndef SBX_REPORT_H
#define SBX_REPORT_H

#include "compiler/report/position.h"

#include <stdio.h>

enum report_format {
	REPORT_TEXT,   /* each command's own, for people */
	REPORT_GCC,    /* FILE:LINE:COLUMN: error: MESSAGE [RULE] */
	REPORT_JSON,   /* {"version": 1, ...}, see sbxc(1) */
	REPORT_GITHUB, /* workflow commands: ::error file=...::MESSAGE */
	REPORT_JUNIT,
	REPORT_MARKDOWN, /* a comment of a pull request */
	REPORT_FORMAT_END,
};

/* A note is no fault: it tells what a rule comes to. */
enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR };
const char *severity_word(enum severity severity);

/* A kind of finding.  `id` is stable: "SBX0601". */
struct report_rule {
	const char *id, *name; /* name: "risky-write" */
	const char *title;
	enum severity severity; /* unless a finding says otherwise */
};

/* Another place that belongs to a finding. */
struct report_related {
	struct position position;
	const char *message;
};

/* More about a finding, as name and text: "witness", "write /src/x". */
struct report_property {
	const char *name, *text;
};

struct report_finding {
	const char *rule; /* the id of a rule that was added */
	enum severity severity;
	struct position position;
	const char *message;
	const char *help;       /* the way out, or NULL */
	const char *suppressed; /* why it is to be ignored; NULL: it is not */
	VEC(struct report_related) related;
	VEC(struct report_property) properties;
};

struct report_case {
	const char *suite; /* what holds it: the file's name */
	const char *name;
	bool passed;
	const char *skipped; /* why it was not tried, or NULL */
	const char *message; /* why it failed, any number of lines, or NULL */
	struct position position;
};

struct report {
	struct arena *arena;
	const char *command; /* "check" */
	const char *title;   /* a headline for MARKDOWN, or NULL */
	const char *summary; /* a closing line for MARKDOWN, or NULL */
	VEC(struct report_rule) rules;
	VEC(struct report_finding) findings;
	VEC(struct report_case) cases;
	VEC(const char *) files; /* that were looked at, with findings or not */
};

void report_init(struct report *report, struct arena *arena,
    const char *command);

/* Each adds a zeroed element and returns it, to be filled in before the next
 * one is added. */
struct report_rule *report_rule(struct report *report);
struct report_finding *report_finding(struct report *report);
struct report_case *report_case(struct report *report);
void report_file(struct report *report, const char *file);

void report_relate(struct report *report, struct report_finding *finding,
    struct position position, const char *message);
void report_property(struct report *report, struct report_finding *finding,
    const char *name, const char *text);

/* The format of this name, or REPORT_FORMAT_END. */
enum report_format report_format_find(const char *name);

/* Writes the report in a format for programs; what people read, REPORT_TEXT and
 * REPORT_GCC, each command prints itself. */
void report_write(const struct report *report, enum report_format format,
    FILE *stream);

#endif
