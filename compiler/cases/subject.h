/*
 * The policies that a test file speaks of, compiled, and bound where the file
 * says.
 */
#ifndef SBX_TEST_SUBJECT_H
#define SBX_TEST_SUBJECT_H

#include "compiler/cases/file.h"
#include "compiler/query/subject.h"

struct test_loaded {
	const struct test_policy *policy;
	struct operand operand;
};

/* A policy at one place, given and level. */
struct test_bound {
	const struct test_loaded *loaded;
	const struct test_given *given;
	enum sbx_level level;
	bool good; /* else what is wrong was reported */
	struct subject subject;
};

struct test_subjects {
	const struct options *options;
	struct test_file *file;
	VEC(struct test_loaded *) loaded;
	VEC(struct test_bound *) bound;
};

/* Each is loaded and bound once.  Complains about a file that cannot be read;
 * diagnostics of a policy are the caller's to print. */
struct test_loaded *test_load(struct test_subjects *subjects,
    const struct test_policy *policy);

/* What cannot be given to this policy is reported in the file's diags. */
struct test_bound *test_bind(struct test_subjects *subjects,
    const struct test_case *test, enum sbx_level level);

#endif
