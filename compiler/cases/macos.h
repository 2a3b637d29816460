/*
 * A policy as it is on macOS.  The tables of a blob are for Linux, and its text
 * for macOS is none that the model reads: so the rules for macOS are made those
 * of a blob of their own.
 */
#ifndef SBX_CASES_MACOS_H
#define SBX_CASES_MACOS_H

#include "compiler/query/subject.h"

/* Of a policy that compiles; NULL if its rules make no blob, which only those of
 * a blob do not that somebody has changed. */
const struct sbx_blob *macos_blob(struct arena *arena,
    const struct operand *operand);

#endif
