/*
 * Diagnostics are records first and text later.  The code that finds a mistake
 * adds a record.  At the end the records that the text asks to ignore are
 * marked (suppress.h), the choices of the command line are applied, and the
 * rest is printed in source order.  Every kind of diagnostic is one line of
 * tables/diags.def with a stable code.
 */
#ifndef SBX_DIAG_H
#define SBX_DIAG_H

#include "compiler/base/map.h"
#include "compiler/report/report.h"
#include "compiler/report/source.h"

#include <stdarg.h>
#include <stdio.h>

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
void diag_help(struct diags *diags, struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(struct diags *diags, struct diag *diag, struct loc loc,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "did you mean 'x'?" as the help line, if `nearest` is not NULL. */
void diag_did_you_mean(struct diags *diags, struct diag *diag,
    const char *nearest);

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

#endif
