/*
 * Cases and their results.  The answers come from the verdict function that
 * why and diff use too.
 */
#ifndef SBX_TEST_CASES_H
#define SBX_TEST_CASES_H

#include "compiler/cases/subject.h"
#include "compiler/report/report.h"

/* What the kernel said of a case. */
enum test_live {
	LIVE_NOT, /* it was not to be tried */
	LIVE_AGREES,
	LIVE_DIFFERS, /* the message says how */
	LIVE_UNTRIED, /* why_untried says why */
};

/* A case at one level. */
struct test_result {
	const struct test_case *test;
	const struct test_bound *bound; /* NULL: it was not asked */
	struct access access;
	struct verdict verdict;
	bool passed;
	const char *name;    /* "deny write ${workspace}/x" */
	const char *message; /* why it failed: a line, or several */
	enum test_live live;
	const char *why_untried;
};

struct test_results {
	struct test_subjects subjects;
	VEC(struct test_result) list;
	bool trouble;     /* a policy could not be read */
	size_t explained; /* failures */
};

/*
 * The levels at which cases are asked; if there are none, it is the level of
 * the file.  Levels that are not chosen are those that the machine gives: they
 * count if the file names no level, and if the policy runs at them.
 */
struct test_levels {
	enum sbx_level items[SBX_LEVEL_END];
	size_t count;
	bool chosen; /* by -l */
};

/* Asks all cases of a file.  Mistakes in them are reported in its diags. */
void test_ask(struct test_results *results, const struct test_levels *levels);

/* The first few diagnostics, a line each. */
const char *test_found_text(struct arena *arena, const struct diags *diags);

#endif
