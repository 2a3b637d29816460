/*
 * Questions about one access: whether a policy allows it, which rule says so
 * and where it was written, what enforces that, and which rule would change
 * it.
 */
#ifndef SBX_WHY_H
#define SBX_WHY_H

#include "compiler/verdict.h"

/* Prints the answer; returns whether the access is allowed. */
bool why(FILE *stream, const struct subject *subject,
    const struct access *access);

#endif
