/*
 * What the command line of sbxc says, and what several commands make of it.
 */
#ifndef SBX_OPTIONS_H
#define SBX_OPTIONS_H

#include "compiler/base/complain.h"
#include "compiler/query/compile.h"
#include "compiler/report/diag.h"

struct words {
	VEC(const char *) list;
};

/* As written; each command judges the values that it uses. */
struct options {
	struct arena *arena;
	const char *profile, *output, *depfile, *verify, *format, *workspace,
	    *home, *level, *out_format, *arch, *variant, *fail_on, *within,
	    *color;
	bool quiet, live, coverage, no_ignore, list, diff, write, help, version;
	struct words includes, definitions, warnings, errors, targets, operands;
	bool colour;     /* of what goes to standard error */
	bool colour_out; /* to standard output */
};

/* The complaint about a file that could not be read, from errno. */
void complain_unread(const char *path);

/*
 * Reads and parses a policy with what the options say.  The name of a file
 * that cannot be read is complained about.
 */
bool options_open(const struct options *options, const char *path,
    struct compilation *compilation);

/* Hands -D NAME=PATH to the compiler; false after complaining. */
bool options_define(const struct options *options,
    struct compilation *compilation);

/* The '=' of NAME=PATH, or NULL after complaining. */
const char *definition_split(const char *text);

/* The machine of --arch, else this one; NULL after complaining, and for a
 * machine that no filters are made for. */
const struct arch *options_arch(const struct options *options);

/* EXIT_CLEAN if there are so many operands; `what` names one that is missing. */
enum exit_status operands_require(const struct options *options, size_t count,
    const char *what);

/* What -f asks for; false after complaining. */
bool options_format(const struct options *options, enum diag_format *format);

#endif
