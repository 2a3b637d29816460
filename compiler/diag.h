/*
 * Diagnostics: records first, text later.  Whoever finds something wrong adds
 * a record; main asks for them to be printed, in source order, at the end.
 * Every kind of diagnostic is one line of tables/diags.def with a stable code.
 * diag.c is the only file that prints them.
 */
#ifndef SBX_DIAG_H
#define SBX_DIAG_H

#include "compiler/source.h"

#include <stdarg.h>
#include <stdio.h>

enum diag_id {
#define DIAG(id, code, severity, title, explain) DIAG_##id,
#include "compiler/tables/diags.def"
#undef DIAG
	DIAG_END,
};

enum diag_severity { DIAG_WARNING, DIAG_ERROR };

/* Records after this many are counted but not kept. */
enum { DIAG_MAX = 50 };

enum diag_format { DIAG_TEXT, DIAG_GCC };

struct diag {
	enum diag_id id;
	struct loc loc;
	const char *message; /* lower case, no full stop */
	const char *help;    /* the way out, or NULL */
	struct loc note_loc; /* a second place, with note, or no place */
	const char *note;
};

struct diags {
	struct arena *arena;
	struct sources *sources;
	VEC(struct diag) records;
	size_t errors, warnings; /* all, kept or not */
};

void diags_init(struct diags *diags, struct arena *arena,
    struct sources *sources);

/* Adds a record; returns it so that help and note can be filled in with
 * diag_help() and diag_note().  Never NULL. */
__attribute__((format(printf, 4, 5)))
struct diag *diag_add(struct diags *diags, enum diag_id id, struct loc loc,
    const char *format, ...);
__attribute__((format(printf, 3, 4)))
void diag_help(struct diags *diags, struct diag *diag, const char *format,
    ...);
__attribute__((format(printf, 4, 5)))
void diag_note(struct diags *diags, struct diag *diag, struct loc loc,
    const char *format, ...);

/* "did you mean 'x'?" as the help line, if `nearest` is not NULL. */
void diag_did_you_mean(struct diags *diags, struct diag *diag,
    const char *nearest);

/* Prints all records in source order, and a closing count when there are any. */
void diags_print(struct diags *diags, FILE *stream, enum diag_format format,
    bool colour);

const char *diag_code(enum diag_id id);   /* "SBX0201" */
const char *diag_title(enum diag_id id);
const char *diag_explain(enum diag_id id);
enum diag_severity diag_severity(enum diag_id id);
/* The id of a code in any case, or DIAG_END. */
enum diag_id diag_find(const char *code);

#endif
