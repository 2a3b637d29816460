/*
 * The commands of sbxc, and what its command line says to them.
 */
#ifndef SBX_COMMANDS_H
#define SBX_COMMANDS_H

#include "compiler/query/compile.h"

/* What sbxc ends with. */
enum exit_status {
	EXIT_CLEAN,
	EXIT_POLICY,  /* the policy is at fault; why: denied */
	EXIT_USAGE,   /* called wrongly */
	EXIT_TROUBLE, /* a file is missing, no memory, no room on the disk */
};

struct words {
	VEC(const char *) list;
};

/* As written; each command judges the values that it uses. */
struct options {
	struct arena *arena;
	const char *profile, *output, *depfile, *verify, *format, *workspace,
	    *home, *level, *out_format, *arch, *variant, *fail_on, *within,
	    *color;
	bool quiet, live, coverage, no_ignore, list, diff, write, help,
	    version;
	struct words includes, definitions, warnings, errors, targets,
	    operands;
	bool colour;     /* of what goes to standard error */
	bool colour_out; /* to standard output */
};

enum exit_status command_build(struct options *options);
enum exit_status command_check(struct options *options);
enum exit_status command_why(struct options *options);
enum exit_status command_fmt(struct options *options);
enum exit_status command_test(struct options *options);
enum exit_status command_diff(struct options *options);
enum exit_status command_dump(struct options *options);
enum exit_status command_convert(struct options *options);
enum exit_status command_profiles(struct options *options);
enum exit_status command_explain(struct options *options);

/*
 * Reads and parses a policy with what the options say.  The name of a file
 * that cannot be read is complained about.
 */
bool options_open(const struct options *options, const char *path,
    struct compilation *compilation);

/* The complaint about a file that could not be read, from errno. */
void complain_unread(const char *path);

/* Hands -D NAME=PATH to the compiler; false after complaining. */
bool options_define(const struct options *options,
    struct compilation *compilation);

/* The '=' of NAME=PATH, or NULL after complaining. */
const char *definition_split(const char *text);

/* The machine of --arch, else this one; NULL after complaining, and for a
 * machine that no filters are made for. */
const struct filter_arch *options_arch(const struct options *options);

/* EXIT_CLEAN if there are so many operands; `what` names one that is missing. */
enum exit_status operands_require(const struct options *options, size_t count,
    const char *what);

/* What -f asks for; false after complaining. */
bool options_format(const struct options *options, enum diag_format *format);

/* One line on standard error: "sbxc: ...". */
__attribute__((format(printf, 1, 2)))
void complain(const char *format, ...);

/* The same about a wrong command line; returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2)))
enum exit_status misused(const char *format, ...);

#endif
