/*
 * The policies of a test file, compiled, and bound where the file says.
 */
#ifndef SBX_TEST_SUBJECT_H
#define SBX_TEST_SUBJECT_H

#include "compiler/cases/file.h"
#include "compiler/query/subject.h"

struct test_loaded {
	const struct test_policy *policy;
	struct operand operand;
	const struct sbx_blob *macos; /* its rules there, once they are asked */
	bool reported; /* in the test file, and not in the policy */
};

/* A policy with one set of bindings, at one level. */
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

/* Loads a policy, or gives the one that was loaded.  Complains about a file
 * that cannot be read; the caller prints the diagnostics of a policy. */
struct test_loaded *test_load(struct test_subjects *subjects,
    const struct test_policy *policy);

/* Binds a policy, or gives the one that was bound.  Reports bindings that do
 * not fit the policy in the diags of the file. */
struct test_bound *test_bind(struct test_subjects *subjects,
    const struct test_case *test, enum sbx_level level);

/* Whether the policy has the profile that the test file names.  If not, that is
 * a mistake of the test file, and reported there. */
bool test_has_profile(const struct test_subjects *subjects,
    struct test_loaded *loaded);

#endif
