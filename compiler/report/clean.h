/*
 * Text that a reviewer sees as the compiler reads it: UTF-8 without control
 * characters, and without characters that are invisible or change the direction
 * of the text.
 */
#ifndef SBX_COMPILER_REPORT_CLEAN_H
#define SBX_COMPILER_REPORT_CLEAN_H

#include "compiler/report/diag.h"
#include "format/blob.h"

#include <stdbool.h>

/* Reports the first unclean character of each line, a few of them at most. */
bool text_is_clean(const struct source *source, struct diags *diags);

/* The same question about any bytes; line ends and tabs are clean. */
bool bytes_are_clean(const char *bytes, size_t len);

/* The same of all that a blob says: it comes from a policy, which is clean.  If
 * it is not, blob_unclean says so. */
bool blob_is_clean(const struct sbx_blob *blob);
extern const char blob_unclean[];

#endif
