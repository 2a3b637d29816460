/*
 * What is asked of sessions without running anything in them.
 */
#ifndef SBX_ASK_H
#define SBX_ASK_H

#include "runtime/base/options.h"
#include "runtime/session/offer.h"

/* --end, --check and --sessions; ends the program. */
void ask_run(const struct options *options) __attribute__((noreturn));

/* A connection to a session, whose keeper is what it seems to be and has been
 * asked this; -1: there is none.  Refuses (125) where it cannot be reached.
 * `self`: a pidfd of this process. */
int ask_connect(const char *name, enum session_kind kind, int self);

/* Such a pidfd. */
int ask_self(void);

#endif
