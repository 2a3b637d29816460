/* What commands ask about: options, subjects, compiled policies. */
#ifndef SBX_COMPILER_QUERY_QUERY_H
#define SBX_COMPILER_QUERY_QUERY_H

#include "compiler/base/base.h"
#include "compiler/lower/lower.h"
#include "compiler/query/why.h"
#include "compiler/report/report.h"
#include "format/blob.h"

#include <stdio.h>

/* --- compile.c --------------------------------------------------------- */

struct blocks;

struct compilation {
	struct arena *arena;
	struct arena *work; /* of the policies and images; NULL: the same */
	struct sources sources;
	struct diags diags;
	const struct source *file;
	struct ast_stmt *stmts;
	struct programs programs;
	struct blocks *blocks; /* of the file, once one of them is compiled */
	struct suppressions suppressions;
	const struct policy *policy;    /* resolved last, or NULL */
	struct definitions definitions; /* bound in the blob itself */
	const char *writer; /* that the blob names; NULL: this sbxc */
};

void compilation_init(struct compilation *compilation, struct arena *arena);

/* Parses a text that was added to the sources, with all that it includes. */
void compilation_parse(struct compilation *compilation, struct source *file);

/* Reads and parses a file; false, with errno set, if it cannot be read. */
bool compilation_open(struct compilation *compilation, const char *path);

/* Parses "NAME.sbx" of the shipped policies; false if there is none. */
bool compilation_open_shipped(struct compilation *compilation,
    const char *name);

/*
 * Compiles one profile (NULL: the only one) of the file that is open.  False
 * if anything was an error; the diagnostics say what.
 */
bool compile(struct compilation *compilation, const char *profile,
    struct image *image);

/*
 * Opens the text that a blob has of its policy.  False if it is none: nobody
 * has checked it, so it may be anything.  It reads no other file.
 */
bool compilation_open_blob(struct compilation *compilation,
    const struct sbx_blob *blob);

/* The policy of that text, or NULL. */
const struct policy *blob_policy(struct arena *arena,
    const struct sbx_blob *blob);

/* --- compiled.c ---------------------------------------------------------- */

/*
 * A compiled text for sbxrun, which keeps it until one of the files changes.
 */

/* Writes what format/protocol.h describes. */
void compiled_write(FILE *stream, const struct sources *sources,
    const struct image *image);

/* --- vouch.c ----------------------------------------------------------- */

/*
 * Whether a blob does what it says.  Its text is what people read, its tables
 * and filters are what a kernel gets, and anybody may have changed one of the
 * two in a file.  So the text is compiled once more.
 */
enum vouch {
	VOUCH_SAME,    /* its text compiles to it, to the byte */
	VOUCH_FOREIGN, /* it does not; it says that another version wrote it */
	VOUCH_CHANGED, /* it does not; it says that this version wrote it */
};

/* Complains in one line unless it is the same. */
enum vouch vouch(struct arena *arena, const char *path,
    const struct sbx_blob *blob);

/* --- denials.c --------------------------------------------------------- */

struct denials {
	struct sbx_explained head;
	const char *policy;     /* as `sbxc allow --for` takes it, or NULL */
	struct sbx_denial *all; /* head.count of them */
	struct sbx_advice *advice;
};

/* Reads what sbxrun tells, and finds an answer to each; false with errno if it
 * cannot be read, or is none. */
bool denials_read(const struct subject *subject, FILE *from,
    struct denials *denials);

/* --- dump.c ------------------------------------------------------------ */

/*
 * What a verified blob holds: all of it as text, or its programs alone.
 */

/* Everything, for people. */
void dump_blob(FILE *stream, const struct sbx_blob *blob);

/* Which programs: of one machine, one variant of it, or any. */
struct dump_choice {
	uint32_t arch;   /* AUDIT_ARCH_*, 0: any */
	int32_t variant; /* counted from 0 for each machine, -1: any */
};

/* The first program at or after `from` that is chosen, or program_count. */
uint32_t dump_find(const struct sbx_blob *blob, struct dump_choice choice,
    uint32_t from);

/* A listing of each chosen program under a line that says what it is for. */
void dump_bpf(FILE *stream, const struct sbx_blob *blob,
    struct dump_choice choice);

/* --- options.c --------------------------------------------------------- */

struct words {
	VEC(const char *) list;
};

/* The values as they were written; command/main.c has checked those for which
 * its table lists the words. */
struct options {
	struct arena *arena;
	const char *profile, *output, *depfile, *verify, *workspace, *home,
	    *level, *out_format, *arch, *variant, *fail_on, *within, *color,
	    *help, *extends, *update;
	const char *target;         /* which policy changes */
	const char *client;         /* whose settings are imported */
	const char *asks, *program; /* of names: a socket, and who answers */
	const char *denials;        /* where the scratch directory is, or "-" */
	const char *of_policy, *of_command, *since, *chain; /* of a log */
	bool all, lossy, quiet, model, live, coverage, no_ignore, list, diff,
	    write, yes, undo, html, record, summary, force, remove, version,
	    only_denied, follow, lines, always;
	enum report_format format;
	bool has_choice; /* `profile` is for a file that defines several */
	struct words includes, warnings, errors, targets, operands, profiles;
	struct words allowed, denied; /* rules beside the policy */
	struct definitions definitions;
	bool colour;     /* on standard error */
	bool colour_out; /* on standard output */
};

/* Complains about a file that could not be read; errno tells why. */
void complain_unread(const char *path);

/* The same of a policy, for which a text of this name may be meant. */
void complain_no_policy(struct arena *arena, const char *path);

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

/* Whether the user wants what was shown: --yes, or an answer at a terminal. */
bool options_agree(const struct options *options, const char *question);

/* Prints diagnostics on standard error in the format and colour wanted. */
void options_print(const struct options *options, const struct diags *diags);

/* The machine of --arch, else this one; NULL if sbxc makes no filters for this
 * machine. */
const struct arch *options_arch(const struct options *options);

/* EXIT_CLEAN if there are so many operands; `what` names one that is
 * missing. */
enum exit_status operands_require(const struct options *options, size_t count,
    const char *what);

/* --- named.c ----------------------------------------------------------- */

/* Policies by name: @NAME is a shipped one, or else NAME.sbx or NAME.bin of the
 * user's own directory. */

/* ~/.config/sbx, or NULL for a user without a home. */
const char *named_directory(struct arena *arena);

/* The file of one's own policy of that name; NULL: there is none. */
const char *named_file(struct arena *arena, const char *name);

/* "sbxc allow --for POLICY 'RULE'", for a statement that begins with `allow` or
 * `use`; each is one word of a shell. */
const char *allow_command(struct arena *arena, const char *policy,
    const char *statement, bool force);

/* What commands run under if nobody named a policy: "@default" or "@coding". */
const char *named_default(struct arena *arena);

bool named_is_shipped(struct arena *arena, const char *name);

/* Adds the names of the user's own, sorted. */
void named_list(struct arena *arena, struct words *names);

/* The path that @NAME stands for, if it is one of the user's own; else the word
 * itself.  NULL after complaining that one's own has a shipped name. */
const char *named_resolve(struct arena *arena, const char *word);

/* Complains that there is none of that name. */
void named_missing(struct arena *arena, const char *name);

/* --- page.c ------------------------------------------------------------ */

/*
 * Policies as one page of HTML for those who would rather look.  It needs no
 * other file and runs no script, and no text becomes markup.
 */

void page_begin(FILE *stream, const char *title);
void page_end(FILE *stream);

/* Text with what means something in HTML escaped. */
void page_text(FILE *stream, const char *text);

/* "team.sbx:9:5", as a link to the line if its text is among the sources. */
void page_place(FILE *stream, struct arena *arena, const struct sbx_blob *blob,
    uint32_t source, const struct sources *sources);

/* A profile: a card, its own rules, and what it takes from others, folded.  What
 * OLD does not have is marked.  No sources or OLD: NULL. */
void page_policy(FILE *stream, struct arena *arena, const struct sbx_blob *blob,
    const struct sources *sources, const struct sbx_blob *old);

/* The texts with their lines numbered, folded unless `open`. */
void page_sources(FILE *stream, const struct sources *sources, bool open);

/* Profiles in tabs: before all of them, before each, and behind them. */
void page_tabs(FILE *stream, const char *const *names, size_t count);
void page_tab(FILE *stream, size_t number);
void page_tabs_end(FILE *stream);

/* --- program.c --------------------------------------------------------- */

/* The program of a name that would be started: the first in PATH that may be,
 * or, if none may, the first.  NULL if there is none. */
const char *program_find(const struct subject *subject, const char *name);

/* --- subject.c --------------------------------------------------------- */

struct operand {
	enum {
		OPERAND_UNREAD, /* and sbxc has complained */
		OPERAND_FAULTY, /* it does not compile */
		OPERAND_GOOD,
	} state;
	struct compilation compilation; /* of a text; holds the diagnostics */
	struct sbx_blob blob;           /* if it is good */
	bool unclean;  /* unread, because its text would deceive who reads it */
	bool compiled; /* the operand is a blob itself, which anybody made */
};

/*
 * Reads a blob; false after complaining.  One that holds text which no policy
 * can hold is refused: what it says goes to terminals and to logs, as it is.
 */
bool operand_blob(struct arena *arena, const char *path, struct sbx_blob *blob);

/* Reads a policy with what the options say (-p, -I), and compiles a text.  The
 * diagnostics are the caller's to print. */
void operand_read(const struct options *options, const char *path,
    struct operand *operand);

/* Compiles a text that the caller has parsed. */
void operand_compile(const struct options *options, struct operand *operand);

/* Whether each parameter of -D is one of some of these policies; else false
 * after complaining.  A policy's blocks are NULL if it was no text. */
bool definitions_fit(const struct options *options,
    const struct sbx_blob *blobs, const struct blocks *const *blocks,
    size_t count);

/*
 * Binds policies where the options say: -w, --home, -D, --arch, -l.  The level
 * is full, which an ordinary machine gives, unless the user asks for another.
 * Each parameter of -D must be one of some policy; its blocks, if it was a
 * text, have those that it declares and does not use.  EXIT_CLEAN, or what the
 * command is to end with after complaining.
 */
enum exit_status subjects_bind(const struct options *options,
    const struct sbx_blob *blobs, const struct blocks *const *blocks,
    size_t count, struct subject *subjects);

#endif
