/*
 * What is asked of sessions without running anything in them.
 */
#ifndef SBX_ASK_H
#define SBX_ASK_H

#include "runtime/base/options.h"

/* --end, --check, --refresh and --sessions; ends the program. */
void ask_run(const struct options *options) __attribute__((noreturn));

/* A connection to a session, whose keeper is what it seems to be; -1: there is
 * none.  Refuses (125) where it cannot be reached. */
int ask_connect(const char *name);

#endif
