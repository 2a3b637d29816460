/*
 * The words by which programs say that something failed, and at what.
 */
#ifndef SBX_MESSAGE_WORDS_H
#define SBX_MESSAGE_WORDS_H

#include "compiler/query/messages.h"

/* Whether a line has a word, in any case. */
bool message_has(const char *text, const char *word);

/* Where the words begin that say why it failed; NULL: there are none. */
const char *message_error(const char *text, enum message_error *error);

/* Whether it speaks of making or changing something, or of running it. */
bool message_writes(const char *text);

/* Whether it comes from a program that writes nowhere, such as cat(1). */
bool message_reads(const char *text);
bool message_runs(const char *text);

#endif
