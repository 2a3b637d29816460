/*
 * A policy that is drafted of what runs wanted, or added to; and the test file
 * that goes with it.
 */
#ifndef SBX_LEARN_DRAFT_H
#define SBX_LEARN_DRAFT_H

#include "compiler/learn/lines.h"
#include "compiler/query/subject.h"
#include "compiler/write/fmt.h"

struct draft {
	struct arena *arena;
	const struct records *records;
	const char *shown;   /* the file, in what is compiled */
	const char *name;    /* of the profile */
	const char *extends; /* a shipped profile; NULL: the nearest; "none" */
	struct base base;
	struct needs needs;
	struct draft_lines lines;
	struct text text;     /* the policy, laid out */
	struct sbx_blob blob; /* what it compiles to */
};

/* Whether there is a shipped profile that a draft may extend, or "none". */
bool draft_may_extend(const char *name);

/* Drafts a policy.  There is one run at least; records, name and extends are
 * set. */
void draft_make(struct draft *draft);

/* Compiles a text in memory; false with diagnostics in *compilation. */
bool draft_compile(const struct draft *draft, const char *text,
    struct compilation *compilation, struct sbx_blob *blob);

/* A test file for it: what was seen, and what must stay denied. */
const char *draft_tests(const struct draft *draft, const char *policy);

/*
 * A policy that is there: adds to the profile what it lacks.  `operand` has been
 * read from a text.  False: the text has no place for it, or is a copy of a shipped
 * profile, which may not be changed under its name.
 */
bool draft_update(struct draft *draft, const struct operand *operand);

#endif
