/*
 * Who answers which system call.  An answer is the value that the call returns
 * or a negative errno; ANSWER_LATER, if it is kept in listening->waiting; or
 * ANSWER_GO_ON, if the kernel is to do what was asked: objects.c, servers.c and
 * unnamed.c alone may say so, and say why.
 */
#ifndef SBX_ANSWERS_H
#define SBX_ANSWERS_H

#include "runtime/listen/caller.h"

/* No errno is as far below 0. */
enum { ANSWER_LATER = -5000, ANSWER_GO_ON = -5001 };

int64_t answer(const struct caller *caller);

/* connect.c */
int answer_connect(const struct caller *caller);

/* servers.c */
int64_t answer_listen(const struct caller *caller);

/* metadata.c */
int answer_metadata(const struct caller *caller);

/* objects.c */
int64_t answer_objects(const struct caller *caller);

/* watching.c */
int answer_watching(const struct caller *caller);

/* unnamed.c */
int64_t answer_unnamed(const struct caller *caller);

/* Tries one of the waiting calls again; its answer, or ANSWER_LATER. */
int connect_again(const struct waiting *waiting);

/* Closes what it has. */
void connect_forget(const struct waiting *waiting);

#endif
