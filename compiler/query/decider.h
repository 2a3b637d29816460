/*
 * The rule behind a verdict, as the language writes it.
 */
#ifndef SBX_DECIDER_H
#define SBX_DECIDER_H

#include "compiler/policy/kind.h"
#include "compiler/query/verdict.h"

#include <stdio.h>

/*
 * "deny write ${workspace}/.git", "allow network full"; of a system call that a
 * rule about something else decided, what that is about.  Prints nothing if no
 * rule decided.
 */
void decider_show(FILE *stream, const struct sbx_blob *blob,
    const struct verdict *verdict);

/* Any rule of a blob: a record of its kind. */
const char *record_text(struct arena *arena, const struct sbx_blob *blob,
    const struct rule_kind *kind, const void *record);
void record_show(FILE *stream, const struct sbx_blob *blob,
    const struct rule_kind *kind, const void *record);

/* The same as a text; NULL if no rule decided. */
const char *decider_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict);

/* The platforms on which it holds. */
uint8_t decider_platforms(const struct sbx_blob *blob,
    const struct verdict *verdict);

/* Whether a call was decided by its name or group; else a rule about the
 * network or namespaces decided, or the baseline. */
bool decider_names_call(const struct sbx_blob *blob,
    const struct sbx_syscall *call);

#endif
