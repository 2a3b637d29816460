/*
 * Policies as operands: a text, YAML, a blob, or @NAME for a shipped profile.
 * A text is compiled in memory, so that all are asked as blobs are.
 */
#ifndef SBX_SUBJECT_H
#define SBX_SUBJECT_H

#include "compiler/query/options.h"
#include "compiler/query/verdict.h"

/* Reads and parses a text, or @NAME; false after complaining. */
bool subject_open(const struct options *options, const char *path,
    struct compilation *compilation);

/*
 * Reads a policy with what the options say (-p, -I; -D only for a text that is
 * compiled).  EXIT_CLEAN, or what to end with after complaining.
 */
enum exit_status subject_read(const struct options *options, const char *path,
    struct sbx_blob *blob);

/*
 * Binds it where the options say: -w, --home, -D, --arch, -l.  The level is
 * full, which an ordinary machine gives, unless the user asks for another.
 */
enum exit_status subject_bind(const struct options *options,
    const struct sbx_blob *blob, struct subject *subject);

#endif
