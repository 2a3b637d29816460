/* Main, and the commands. */
#ifndef SBX_COMPILER_COMMAND_COMMANDS_H
#define SBX_COMPILER_COMMAND_COMMANDS_H

#include "compiler/compare/compare.h"
#include "compiler/query/query.h"
#include "compiler/report/report.h"

#include <sys/stat.h>

/* --- commands.c -------------------------------------------------------- */

/*
 * The commands of sbxc.  Each takes the options and returns the exit status.
 * The result goes to standard output, diagnostics go to standard error.
 */

enum exit_status command_allow(struct options *options);
enum exit_status command_build(struct options *options);
enum exit_status command_check(struct options *options);
enum exit_status command_why(struct options *options);
enum exit_status command_fmt(struct options *options);
enum exit_status command_test(struct options *options);
enum exit_status command_diff(struct options *options);
enum exit_status command_dump(struct options *options);
enum exit_status command_convert(struct options *options);
enum exit_status command_export(struct options *options);
enum exit_status command_import(struct options *options);
enum exit_status command_learn(struct options *options);
enum exit_status command_log(struct options *options);
enum exit_status command_profiles(struct options *options);
enum exit_status command_doctor(struct options *options);
enum exit_status command_init(struct options *options);
enum exit_status command_records(struct options *options);
enum exit_status command_show(struct options *options);
enum exit_status command_ask(struct options *options);
enum exit_status command_secrets(struct options *options);
enum exit_status command_staged(struct options *options);
enum exit_status command_explain(struct options *options);

/*
 * Reads a policy that is asked about.  Diagnostics are printed if it does not
 * compile, and a blob that does not do what its rules say is refused.
 * EXIT_CLEAN, or what the command is to end with.
 */
enum exit_status subject_read(const struct options *options, const char *path,
    struct sbx_blob *blob, const struct blocks **blocks);

/* --- extra.c ------------------------------------------------------------- */

/*
 * Rules that stand beside a policy: those of --allow and --deny, and the one that
 * `sbxc allow` adds.
 */

/*
 * Parses one statement: a rule with its effect, as "allow read ~/data", or "use
 * NAME".  NULL after printing what is wrong with it, in words about the option
 * --OPTION: it must be one, which drops nothing and does not say that it stands
 * elsewhere.
 */
const struct ast_stmt *extra_parse(const struct options *options,
    const char *option, const char *text);

/* A statement as it is written, without the end of its line. */
const char *extra_text(struct arena *arena, const struct ast_stmt *stmt);

/* Adds the rules of the options to a policy that is good; EXIT_CLEAN, or what
 * the command is to end with after complaining. */
enum exit_status extra_apply(const struct options *options,
    struct operand *operand);

/* Says the mistakes that lie in a part of a text: that of a rule, which is in no
 * file.  False: there are none, or others too. */
bool extra_complain(const struct diags *diags, uint32_t begin, uint32_t end,
    const char *rule);

/* --- allow.c ------------------------------------------------------------- */

/* What `sbxc allow` is about to change. */
struct allowing {
	const struct options *options;
	struct arena *arena;
	const char *text_path, *blob_path; /* blob_path: NULL: there is none */
	const char *shipped; /* what a new text extends; NULL: it is there */
	const char *profile; /* that is changed, or NULL: the only one */
	const char *text;    /* as it was */
	struct operand old, new;
	const struct ast_stmt *stmt; /* the rule, and how it is written */
	const char *rule;
	uint32_t begin, end; /* of the new line in the new text */
	int directory;       /* of both, locked */
	const char *made;    /* of its path, what was made for this; or NULL */
	struct stat text_status, blob_status;
};

/* --- allow_policy.c ------------------------------------------------------ */

/* Sets the text that is changed, by --for; false after complaining. */
bool allowing_choose(struct allowing *allowing);

/* --- allow_text.c -------------------------------------------------------- */

/* Reads the text, and the policy that decides now: the blob beside it, if there is
 * one; false after complaining. */
bool allowing_read(struct allowing *allowing);

/* Compiles a text as the file that it will be; false after complaining. */
bool allowing_compile(const struct allowing *allowing, const char *text,
    struct operand *operand);

/* The text with the rule, or as it was if it has it; and without it.  NULL after
 * complaining. */
const char *allowing_with(struct allowing *allowing);
const char *allowing_without(struct allowing *allowing);

/* What a rule is about: names of variables stand among its words. */
const struct ast_atom *allowing_objects(const struct ast_stmt *rule);

/* A deny that keeps what the new rule opens. */
struct kept {
	const char *words;  /* NULL: none does */
	uint32_t source;    /* where it is written */
	const char *object; /* of the new rule, spelled for an exception */
	bool variable;
};

/* The new text without that deny, or with an exception to it; NULL after
 * complaining. */
const char *allowing_lifted(struct allowing *allowing, const struct kept *kept);

/* --- diff.c ------------------------------------------------------------ */

/*
 * Two policies of the command line, compared and reported: `sbxc diff` and
 * `sbxc check --within`.
 */

struct diff {
	const struct options *options;
	const char *files[SIDE_COUNT];  /* as the user wrote them */
	const char *labels[SIDE_COUNT]; /* "old" or "base", "new" */
	struct sbx_blob blobs[SIDE_COUNT];
	struct subject subjects[SIDE_COUNT];
	struct comparison comparison;
	const char *profile;           /* of files with several; else NULL */
	const struct sources *sources; /* of NEW, or NULL */
};

/* Profiles of two files that belong together; NULL: one file has none. */
struct profile_pair {
	const char *names[SIDE_COUNT];
};

/* Of all profiles: one that has its name in both files; and one that has got
 * another name, if it is the only one. */
struct profile_pairs {
	bool several; /* else there is one pair, without names */
	VEC(struct profile_pair) list;
};

/* The profiles of a text, if it can be read twice and has no mistake; false:
 * there is one, whatever its name is. */
bool profiles_read(const struct options *options, const char *path,
    struct profile_names *names, struct compilation *compilation);

/* Unless -p chooses.  With `all`, if OLD has one profile alone, each of NEW
 * belongs to it. */
void diff_pair(const struct options *options, const char *old, const char *new,
    bool all, struct profile_pairs *pairs);

/* A set of changes. */
#define CHANGE_BIT(change) (1u << (change))
enum {
	CHANGE_ALL = (1u << CHANGE_END) - 1,
	CHANGE_NOT_WITHIN = CHANGE_BIT(CHANGE_WIDER) |
	    CHANGE_BIT(CHANGE_MAYBE_WIDER), /* it is wider, or may be */
};

/*
 * Reads both and compares them.  EXIT_CLEAN if that could be done, whatever
 * the result is; else what to end with after complaining.
 */
enum exit_status diff_make(struct diff *diff, const struct options *options,
    const struct profile_pair *pair, const char *old, const char *new);

/* "profile x is new: all that it allows is new", or that it is gone, or has got
 * another name; and what change that is. */
const char *diff_pair_text(struct arena *arena, const struct profile_pair *pair,
    enum change *change);

/* Adds a finding that says so. */
void diff_report_pair(const struct diff *diff, const struct profile_pair *pair,
    unsigned errors, struct report *report);

/* Prints the differences of these changes for people, a few lines each. */
void diff_print(const struct diff *diff, unsigned changes, FILE *stream);

/* The same as parts of a page: of one pair, and of a profile that came, went or
 * was renamed. */
void diff_page(FILE *stream, const struct diff *diff);
void diff_page_profile(FILE *stream, enum change change, const char *text);

/* Adds findings to a report, and their numbers to the counts of changes; those in
 * `errors` are errors. */
void diff_report(const struct diff *diff, unsigned changes, unsigned errors,
    struct report *report, size_t *counts);

/* `check --within BASE FILE...`. */
enum exit_status check_within(const struct options *options);

#endif
