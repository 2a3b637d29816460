/*
 * What `sbxrun --explain` asks when the command has ended: what would allow
 * what was denied to it.  The questions and the answers are the records of
 * format/denial.h; the answers are those of why.h.
 */
#ifndef SBX_DENIALS_H
#define SBX_DENIALS_H

#include "compiler/query/verdict.h"

#include <stdio.h>

/* Reads denials up to the end, and writes as many answers; false with errno if
 * they cannot be written, or one of them is none. */
bool denials_answer(const struct subject *subject, FILE *from, FILE *to);

#endif
