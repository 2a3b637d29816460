/*
 * A command of a session that is explained: --explain.  The sbxrun that started
 * it hears of its calls, and not the keeper, so that it needs what the keeper
 * knows; that is in the offer.  The rules are those that were bound when the
 * session was made, since its view is as old.
 *
 * What the command leaves behind when it ends has its filter, too, and somebody
 * must answer as long as it runs.
 */
#ifndef SBX_TRACED_JOIN_H
#define SBX_TRACED_JOIN_H

#include "runtime/session/join.h"

/* Whether the command is to be explained and can be.  If it cannot, a line says
 * why, and it runs without. */
void traced_join_prepare(struct joining *joining);

/* In the command, in place of enter_restricted(). */
void traced_join_restrict(struct joining *joining);

#endif
