/*
 * What the command line of sbxc says, and what several commands make of it.
 */
#ifndef SBX_COMPILER_QUERY_OPTIONS_H
#define SBX_COMPILER_QUERY_OPTIONS_H

#include "compiler/base/complain.h"
#include "compiler/query/compile.h"
#include "compiler/report/report.h"

struct words {
	VEC(const char *) list;
};

/* The values as they were written; command/main.c has checked those for which
 * its table lists the words. */
struct options {
	struct arena *arena;
	const char *profile, *output, *depfile, *verify, *workspace, *home,
	    *level, *out_format, *arch, *variant, *fail_on, *within, *color,
	    *extends, *update;
	const char *client;  /* whose settings are imported */
	const char *denials; /* where the scratch directory is, or "-" */
	bool all, lossy, quiet, model, live, coverage, no_ignore, list, diff,
	    write, yes, undo, html, help, version;
	enum report_format format;
	bool has_choice; /* `profile` is for a file that defines several */
	struct words includes, warnings, errors, targets, operands, profiles;
	struct definitions definitions;
	bool colour;     /* on standard error */
	bool colour_out; /* on standard output */
};

/* Complains about a file that could not be read; errno tells why. */
void complain_unread(const char *path);

/* Prepares a compilation with what the options say. */
void options_start(const struct options *options,
    struct compilation *compilation);

/* Reads and parses a policy, or the shipped one of @NAME, with what the options
 * say; false after complaining about what cannot be read. */
bool options_open(const struct options *options, const char *path,
    struct compilation *compilation);

/* Parses a policy without what it includes, and prints its diagnostics.
 * EXIT_CLEAN, or what the command is to end with. */
enum exit_status options_parse_alone(const struct options *options,
    const char *path, struct compilation *compilation);

/* EXIT_POLICY for errors, or EXIT_USAGE if all are about a -D; else
 * EXIT_CLEAN. */
enum exit_status policy_status(const struct diags *diags);

/* Prints diagnostics on standard error in the format and colour wanted. */
void options_print(const struct options *options, const struct diags *diags);

/* The machine of --arch, else this one; NULL if sbxc makes no filters for this
 * machine. */
const struct arch *options_arch(const struct options *options);

/* EXIT_CLEAN if there are so many operands; `what` names one that is
 * missing. */
enum exit_status operands_require(const struct options *options, size_t count,
    const char *what);

#endif
