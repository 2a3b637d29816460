/*
 * One case as a trial: what is done in the sandbox to find out, or why nothing
 * can be; and what the answer means.
 */
#ifndef SBX_TEST_TRIAL_H
#define SBX_TEST_TRIAL_H

#include "compiler/cases/live.h"
#include "compiler/cases/tree.h"
#include "format/trial.h"

/* Where a policy is tried: the subject again, bound in the tree. */
struct test_stage {
	struct test_tree *tree;
	const struct test_machine *machine;
	const struct test_bound *bound; /* as the test file gives it */
	struct subject subject;         /* as it is here */
	const char *scratch;            /* the scratch directory, or NULL */
};

struct test_trial {
	struct test_result *result;
	struct access access;   /* with its path here */
	struct verdict verdict; /* of the model, here */
	enum sbx_trial_kind kind;
	const char *text; /* path or variable, as the sandbox sees it */
	uint32_t number;
	uint64_t args[6];
	const char *untried; /* why it is not tried, or NULL */
	struct sbx_trial answer;
	struct sbx_trial outside; /* the same without a sandbox, for calls */
};

/* Where a path of the test file lies here; in_tree says whether it is ours. */
const char *test_stage_path(const struct test_stage *stage,
    struct sbx_place path, bool *in_tree);

/* Makes what the trial needs in the tree.  First the programs, then the rest,
 * so that a path that is to be executed is one. */
void test_trial_prepare(const struct test_stage *stage,
    struct test_trial *trial);

/* Decides what is to be done. */
void test_trial_plan(const struct test_stage *stage, struct test_trial *trial);

/* Whether sbx-probe is to try it without a sandbox, too. */
bool test_trial_compares(const struct test_trial *trial);

/* Compares what the kernel said with the model, and tells the result. */
void test_trial_judge(const struct test_stage *stage, struct test_trial *trial);

struct test_trials {
	VEC(struct test_trial) list;
};

/* test_pack.c: the file that sbx-probe is given, of what is tried inside, or
 * outside; the texts lie behind the trials. */
struct sbx_trials *test_trials_pack(struct arena *arena,
    const struct test_trials *trials, bool outside);

/* Takes the answers out of it; false if something was not even begun. */
bool test_trials_take(struct test_trials *trials,
    const struct sbx_trials *packed, bool outside);

/* test_calls.c: arguments with which a system call does no harm, and fails if
 * it is let through.  NULL, or why there are none. */
const char *test_call_arguments(const char *name, uint64_t args[6]);

#endif
