/*
 * Who answers which system call.  An answer is 0 or a negative errno, or
 * ANSWER_LATER if it is kept in listening->waiting.
 */
#ifndef SBX_ANSWERS_H
#define SBX_ANSWERS_H

#include "runtime/listen/caller.h"

enum { ANSWER_LATER = 1 };

int answer(const struct caller *caller);

/* connect.c */
int answer_connect(const struct caller *caller);

/* metadata.c */
int answer_metadata(const struct caller *caller);

/* Tries one of the waiting calls again; its answer, or ANSWER_LATER. */
int connect_again(const struct waiting *waiting);

#endif
