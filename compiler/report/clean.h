/*
 * Text that a reviewer sees as the compiler reads it: UTF-8 without control
 * characters, and without characters that are invisible or change the direction
 * of the text.
 */
#ifndef SBX_CLEAN_H
#define SBX_CLEAN_H

#include "compiler/report/diag.h"

#include <stdbool.h>

/* Reports the first unclean character of each line, a few of them at most. */
bool text_is_clean(const struct source *source, struct diags *diags);

/* The same question about any bytes; line ends and tabs are clean. */
bool bytes_are_clean(const char *bytes, size_t len);

#endif
