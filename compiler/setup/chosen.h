/*
 * Which of a blob's filters sbxrun takes on this machine.  It alone knows what
 * the view shows, and whether it can listen to a command, so it is asked.
 */
#ifndef SBX_CHOSEN_H
#define SBX_CHOSEN_H

#include "compiler/query/subject.h"

/* Puts the filter for the subject's level into the subject, or why it is not
 * known: sbxrun is not found, or would not run the policy here. */
void chosen_ask(const struct options *options, struct subject *subject);

#endif
