/* Texts, places in them, diagnostics, formats of reports. */
#ifndef SBX_COMPILER_REPORT_REPORT_H
#define SBX_COMPILER_REPORT_REPORT_H

#include "compiler/base/base.h"
#include "format/blob.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* --- position.c -------------------------------------------------------- */

/*
 * A place in a text as people and blobs have it, beside struct loc, which is a
 * range of bytes.  A statement may say of itself that it was written elsewhere,
 * as the lines of C do after a line marker; a dump is made of such statements,
 * so that what it compiles to still names the lines that somebody wrote.
 *
 *	deny read /srv/keys from "team.sbx:6:18 (secrets)"
 *	                          file     | |   via: the profile or group
 *	                                line column
 */

/* Lines and columns count from 1, columns in characters. */
struct position {
	const char *file;              /* NULL or "": no place at all */
	uint32_t line, column;         /* line 0: the file as a whole */
	uint32_t end_line, end_column; /* behind the last character; in a
	                                * report, else 0 */
	const char *via; /* interned; "": nobody knows; NULL in a report */
};

/* Reads what position_text() gives; NULL if it is no such text. */
const struct position *position_read(struct arena *arena, const char *text);

/* "team.sbx:6:18 (secrets)".  NULL for what position_read() would not read: a
 * blob may hold anything. */
const char *position_text(struct arena *arena, const struct position *position);

/* By file, line, column and via: an order that does not depend on the order in
 * which texts are read. */
int position_compare(const struct position *a, const struct position *b);

/* --- report.c ---------------------------------------------------------- */

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

/* --- source.c ---------------------------------------------------------- */

/*
 * The texts that were read.  All of them lie in one virtual space of byte
 * offsets, so that a place in any of them is eight bytes.  Line and column are
 * computed only when they are needed.
 */

/* Bytes [begin, end) of the virtual space; {0, 0} is no place at all. */
struct loc {
	uint32_t begin, end;
};

enum {
	/* Of one file: the longest dump of the largest blob is shorter. */
	SOURCE_MAX_SIZE = 16 << 20,
	SOURCE_MAX_TOTAL = 64 << 20, /* bytes of all files together */
	SOURCE_MAX_DEPTH = 16,       /* includes inside includes */
	SOURCE_MAX_FILES = 256,
	SOURCE_BLOCK = 256,
};

struct source {
	const char *shown; /* in diagnostics: the path as the user gave it */
	const char *name;  /* in the blob: independent of cwd and machine */
	const char *path;  /* to read it; NULL: built in */
	const char *text;  /* size bytes and a NUL */
	uint32_t base, size;
	const uint32_t *lines; /* where each line begins */
	uint32_t line_count;
	const uint32_t *characters; /* before each SOURCE_BLOCK bytes */
	struct loc included_at;
	int depth;
	uint64_t device, inode; /* of a file */
	bool builtin;           /* `shown` starts with "sbx:" */
	bool withheld;          /* a file that does not say it is a policy */
};

/*
 * Nothing of a withheld text is shown to anybody: a policy that somebody sent
 * may include a private key, and what sbxc says goes to a public log.
 */
struct sources {
	struct arena *arena;
	VEC(struct source *) files;
	VEC(const char *) include_dirs; /* of -I */
	VEC(const char *) absent; /* where an included file was looked for */
	/* Other paths by which a file was included that was read already. */
	VEC(struct again {
		const char *path;
		const struct source *source;
	})
	again;
};

void sources_init(struct sources *sources, struct arena *arena);

/*
 * The name of a file in a blob.  A '?' replaces what is no clean text, so that
 * a policy can hold the name (clean.c).
 */
const char *source_name(struct arena *arena, const char *name);

/*
 * Reads a file whole ("-" is standard input).  Returns NULL with errno set if
 * it cannot be read; EFBIG if it is over the bounds above.
 */
struct source *sources_read(struct sources *sources, const char *path,
    const char *name, struct loc included_at);

/* Adds a text that is already in memory (a shipped profile, a test), under the
 * name that is shown. */
struct source *sources_add(struct sources *sources, const char *shown,
    const char *text, size_t size, struct loc included_at);

/* The source that holds a place, or NULL for no place. */
const struct source *sources_find(const struct sources *sources,
    struct loc loc);

/* The bytes of a byte order mark at the start of a text: 3 or 0. */
uint32_t source_bom(const struct source *source);

/* What follows blank lines and comments at the start of a text. */
const char *source_first_line(const struct source *source);

/* A line of a text, which counts from 1, without its newline. */
void source_line(const struct source *source, uint32_t line, const char **begin,
    const char **end);

/* Where a place begins, with the file as it is shown; no end. */
struct position sources_position(const struct sources *sources, struct loc loc);

/*
 * The shipped profiles and groups, built into sbxc from profiles/: the text of
 * "NAME.sbx", or NULL.  builtin_name(i) lists them, NULL at the end.
 */
const char *builtin_text(const char *name, size_t *size);
const char *builtin_name(size_t index);

/* --- diag.c ------------------------------------------------------------ */

/*
 * Diagnostics are records first and text later.  The code that finds a mistake
 * adds a record.  At the end the records that the text asks to ignore are
 * marked (suppress.c), the choices of the command line are applied, and the
 * rest is printed in source order.  Every kind of diagnostic is one line of
 * tables/diags.def with a stable code.
 */

enum diag_id {
#define DIAG(id, code, severity, title, explain) DIAG_##id,
#include "compiler/tables/diags.def"
#undef DIAG
	DIAG_END,
};

enum {
	DIAG_MAX = 50,     /* so many are printed as text */
	DIAG_GUESSES = 50, /* names for which one that is near is looked for */
	DIAG_KEPT = 10000, /* those that come after are counted */
};

struct diag {
	struct arena *arena; /* of its texts */
	enum diag_id id;
	enum severity severity; /* of its code, until it is judged */
	struct loc loc;
	const char *message; /* lower case, no full stop */
	const char *help;    /* the way out, or NULL */
	struct loc note_loc; /* a second place, with note, or no place */
	const char *note;
	const char *suppressed; /* why the text ignores it, or NULL */
};

struct diags {
	struct arena *arena;
	struct sources *sources;
	VEC(struct diag) records;
	size_t errors, warnings, notes; /* all, kept or not */
	size_t guesses;
	struct map known;    /* what a record says -> 1 + its index */
	size_t replace;      /* from here on records are errors, if too many */
	struct diag surplus; /* the last that was not kept */
};

/* What the command line says of codes. */
struct diag_choices {
	bool off[DIAG_END];
	bool error[DIAG_END];
};

/* Whether a name that is near to an unknown one may still be looked for: this
 * takes a look at all that are known. */
bool diags_may_guess(struct diags *diags);

void diags_init(struct diags *diags, struct arena *arena,
    struct sources *sources);

/* Adds a record; returns it so that help and note can be filled in with
 * diag_help() and diag_note().  Never NULL. */
struct diag *diag_add(struct diags *diags, enum diag_id id, struct loc loc,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_help(struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void diag_note(struct diag *diag, struct loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "did you mean 'x'?" as the help line, if `nearest` is not NULL. */
void diag_did_you_mean(struct diag *diag, const char *nearest);

/* Marks a record as ignored, so that it no longer counts; an error stays. */
void diag_suppress(struct diags *diags, struct diag *diag, const char *reason);

/* Drops warnings that are off, turns others into errors, and counts again
 * without those that are suppressed.  Errors stay errors.  Call it once, before
 * printing. */
void diags_judge(struct diags *diags, const struct diag_choices *choices);

/* All records in source order; records.count of them. */
const struct diag **diags_sorted(const struct diags *diags);

const char *diag_code(enum diag_id id); /* "SBX0201" */
const char *diag_title(enum diag_id id);
const char *diag_explain(enum diag_id id);
enum severity diag_severity(enum diag_id id);
/* "risky-write", made from the identifier in the table. */
const char *diag_name(struct arena *arena, enum diag_id id);
/* The id of a code or name in any case, or DIAG_END. */
enum diag_id diag_find(const char *code);
/* The code or name that a word may have been meant for, or NULL. */
const char *diag_nearest(struct arena *arena, const char *word);

/* --- clean.c ----------------------------------------------------------- */

/* Reports the first unclean character of each line, a few of them at most. */
bool text_is_clean(const struct source *source, struct diags *diags);

/* The same question about any bytes; line ends and tabs are clean. */
bool bytes_are_clean(const char *bytes, size_t len);

/* The same of all that a blob says: it comes from a policy, which is clean.  If
 * it is not, blob_unclean says so. */
bool blob_is_clean(const struct sbx_blob *blob);
extern const char blob_unclean[];

/* --- diag_print.c ------------------------------------------------------ */

/*
 * Diagnostics for people.
 */

/* Prints the records that are not suppressed, in source order.  REPORT_GCC is
 * a line for each; any other format has their source lines too, and at the end
 * how many there are. */
void diags_print(const struct diags *diags, FILE *stream,
    enum report_format format, bool colour);

/* --- diag_report.c ----------------------------------------------------- */

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

/* --- suppress.c -------------------------------------------------------- */

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

/*
 * What report.c and the writers share; there is a writer for each format.
 */

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
