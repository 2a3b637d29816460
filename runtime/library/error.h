/*
 * Errors as values: what sbx_error is filled with.
 */
#ifndef SBX_LIBRARY_ERROR_H
#define SBX_LIBRARY_ERROR_H

#include "runtime/library/sbx.h"

/* "SUBJECT: TEXT: what errno means"; the subject and the errno may be missing
 * (NULL, 0).  `error` may be NULL. */
void error_set(struct sbx_error *error, enum sbx_error_kind kind,
    const char *subject, const char *text, int code);

/* The same of what sbxrun has said, of which the last line that is no warning
 * counts; without it of `text`. */
void error_said(struct sbx_error *error, const char *said, const char *text);

#endif
