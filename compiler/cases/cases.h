/* Test files: accesses that must be allowed or denied. */
#ifndef SBX_COMPILER_CASES_CASES_H
#define SBX_COMPILER_CASES_CASES_H

#include "compiler/base/base.h"
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "format/protocol.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* --- calls.c ----------------------------------------------------------- */

/*
 * How a system call is tried without effect.
 */

/* Arguments with which the call does no harm, and fails if it is let through.
 * NULL, or why there are none. */
const char *call_arguments(const char *name, uint64_t args[6]);

/* --- file.c ------------------------------------------------------------ */

/*
 * Test files: what a policy must allow and deny, written down.
 *
 *	sbx-test: 1
 *	policy: team.sbx
 *	given: { workspace: /src/app, level: standard }
 *	cases:
 *	  - allow: write ${workspace}/x
 *	  - deny: [ read ~/.ssh/id_rsa, connect tcp 22 ]
 *	    by: credentials
 *
 * file.c makes cases of the YAML tree, one for each access; it knows
 * nothing of policies.  See sbx-test(5).
 */

/* A directory under `given`: home, runtime, workspace or a parameter. */
struct test_directory {
	const char *name, *path;
	struct loc name_loc, loc;
};

/* The bindings with which a policy is asked.  Each has a value, so that an
 * answer does not depend on who asks, and but for --live on what machine. */
struct test_given {
	VEC(struct test_directory) directories; /* home comes first */
	enum sbx_level level;
	struct loc level_loc; /* no place: nobody chose it */
	int abi;              /* of Landlock; 0: the newest known */
	struct loc abi_loc;
	const struct arch *arch; /* NULL: x86_64, or with --live this machine */
	bool macos;
};

/* A policy in a file, a shipped one, or a text in the test file. */
struct test_policy {
	const char *path, *text; /* one of them, or neither */
	const char *profile;     /* or NULL */
	struct loc profile_loc;
	struct loc loc;
};

enum test_kind { TEST_ALLOW, TEST_DENY, TEST_ERROR, TEST_WARNING };

/* "allow", "expect-error". */
const char *test_kind_word(enum test_kind kind);

struct test_case {
	enum test_kind kind;
	const char *text;      /* the access as written, or the code */
	struct loc loc;        /* of it */
	const char *name, *by; /* or NULL */
	struct loc by_loc;
	const struct test_given *given;
	const struct test_policy *policy;
};

struct test_file {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	const struct source *source;
	struct test_policy policy;
	struct test_given given;
	VEC(struct test_case) cases;
};

/* Reads a test file; false, with errno set, if it cannot be read.  What is
 * wrong in it is in file->diags. */
bool test_file_read(struct test_file *file, struct arena *arena,
    const char *path);

/* The words of an access: separated by blanks, in double quotes if there is a
 * blank in them.  Returns NULL, or what is wrong. */
struct test_words {
	VEC(const char *) list;
};
const char *test_words_split(struct arena *arena, const char *text,
    struct test_words *words);

/* --- subject.c --------------------------------------------------------- */

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

/* --- cases.c ----------------------------------------------------------- */

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

/* --- coverage.c -------------------------------------------------------- */

/* Lists them, and prints a percentage. */
void test_coverage(FILE *stream, const struct test_results *results);

/* --- machine.c --------------------------------------------------------- */

struct machine {
	const char *sbxrun, *helper; /* paths of the programs */
	const void *copy;            /* the bytes of sbx-trial */
	size_t copy_size;
	enum sbx_level level; /* the highest that the machine gives */
	int abi;              /* of Landlock */
	const struct arch *arch;
};

/*
 * Finds the programs and asks sbxrun what the machine gives.  If no levels are
 * given, it takes standard and full, as far as the machine gives them.
 * EXIT_CLEAN, or what sbxc is to end with after complaining.
 */
enum exit_status machine_find(struct arena *arena, struct test_levels *levels,
    struct machine *machine);

/* The path of sbxrun: what SBXRUN names, or the one beside sbxc or in PATH; NULL
 * if there is none. */
const char *machine_sbxrun(struct arena *arena);

/* Asks sbxrun, if it is found, what the machine gives; says nothing if not. */
bool machine_ask(struct arena *arena, struct machine *machine);

/* --- live.c ------------------------------------------------------------ */

/*
 * Cases tried in the kernel: sbxrun applies the policy in a tree that is made
 * for it, and sbx-trial tries what the cases say.  What the kernel says must be
 * what the model says.
 */

/*
 * Tries each result that passed; one that the kernel contradicts fails.
 * EXIT_CLEAN, or EXIT_TROUBLE after complaining about what could not be done.
 */
enum exit_status test_try(struct test_results *results,
    const struct machine *machine);

/* --- macos.c ----------------------------------------------------------- */

/* Of a policy that compiles; NULL if its rules make no blob, which only those
 * of a blob do not that somebody has changed. */
const struct sbx_blob *macos_blob(struct arena *arena,
    const struct operand *operand);

/* --- tree.c ------------------------------------------------------------ */

struct tree {
	struct arena *arena;
	const char *top, *root;
	int output;               /* a file in memory: what programs print */
	sigset_t blocked, before; /* blocked signals; the mask from before */
	int signal;               /* the signal that is to end sbxc, or 0 */
};

/* False, with errno set, if it cannot be made. */
bool tree_make(struct tree *tree, struct arena *arena);

/* Removes it; ends sbxc if a signal was to. */
void tree_remove(struct tree *tree);

/* Removes a directory with all that is in it. */
void directory_clear(const char *path);

/* Makes a directory, or a file that may be executed.  Parents are made too;
 * what is there already is kept.  False with errno set. */
bool tree_directory(const struct tree *tree, const char *path);
bool tree_file(const struct tree *tree, const char *path, const void *bytes,
    size_t size);

/*
 * Runs a program; `input` is its standard input, and -1 stands for /dev/null.
 * Returns what waitpid(2) says, or -1 with errno set: EINTR for a signal that
 * is to end sbxc.
 */
int tree_run(struct tree *tree, const char *const *arguments,
    const char *const *environment, int input);

/* What the last program printed; a text in the arena. */
const char *tree_output(const struct tree *tree);

/* --- trial.c ----------------------------------------------------------- */

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
