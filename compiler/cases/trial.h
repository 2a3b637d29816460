/*
 * One case as a trial: what is done in the sandbox to find out, or why nothing
 * can be done; and what the answer of the kernel means.
 */
#ifndef SBX_CASES_TRIAL_H
#define SBX_CASES_TRIAL_H

#include "compiler/cases/machine.h"
#include "compiler/cases/tree.h"
#include "format/trial.h"

/* The place where a policy is tried. */
struct stage {
	struct tree *tree;
	const struct machine *machine;
	const struct test_bound *bound; /* as the test file binds it */
	struct subject subject;         /* bound in the tree */
	const char *scratch;            /* the scratch directory, or NULL */
};

struct trial {
	struct test_result *result;
	const char *untried;    /* why it is not tried, or NULL */
	struct access access;   /* its path is the one in the tree */
	struct verdict verdict; /* of the model, in the tree */
	const char *text;       /* path or variable, as the sandbox sees it */
	struct sbx_trial task;  /* with the answer */
	int32_t outside;        /* the answer to a call without a sandbox */
};

struct trials {
	VEC(struct trial) list;
};

/* A path of the test file as it is here; NULL if it has no place here. */
const char *stage_path(const struct stage *stage, struct sbx_place path,
    bool *in_tree);

/* The same path as the sandbox sees it: at level full the scratch directory is
 * /tmp. */
const char *stage_inside(const struct stage *stage, const char *path);

/*
 * What a trial needs in the tree is made in this order, so that a path that is
 * a directory for one case, or a program, is so for all.
 */
enum trial_step { STEP_PARENTS, STEP_PROGRAMS, STEP_FILES, STEP_END };
void trial_prepare(const struct stage *stage, struct trial *trial,
    enum trial_step step);

/* Decides what is to be done. */
void trial_plan(const struct stage *stage, struct trial *trial);

/* Whether sbx-trial tries it inside the sandbox, or outside too. */
bool trial_is_tried(const struct trial *trial, bool outside);

enum meaning { WAS_ALLOWED, WAS_DENIED, TELLS_NOTHING };

/* The same of hosts, services and sockets: why not, or NULL; and what an answer
 * means. */
const char *trial_plan_network(const struct stage *stage, struct trial *trial);
enum meaning trial_meaning_network(const struct stage *stage,
    const struct trial *trial);

/* Compares what the kernel said with the model, and fills in the result. */
void trial_judge(const struct stage *stage, struct trial *trial);

#endif
