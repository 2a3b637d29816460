/*
 * Policies as operands: a text, YAML, a blob, or @NAME for a shipped profile.
 * A text is compiled in memory, so that all are asked as blobs are.
 */
#ifndef SBX_SUBJECT_H
#define SBX_SUBJECT_H

#include "compiler/query/options.h"
#include "compiler/query/verdict.h"

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
