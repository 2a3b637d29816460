/*
 * The tripwire: the supervisor looks at what the policy watches before the
 * command starts and after everything of it has ended, and tells what changed,
 * on stderr and in the receipt.  It keeps nothing from happening.
 *
 * Both looks are the supervisor's own, by path and as its user: nothing that
 * the command can write is believed.
 *
 * Who asks sbxrun to end may kill it soon after.  So the first such signal has
 * what changed told at once, and until all is told, the first look is on disk:
 * the next run, or --doctor, tells what a run that was killed could not.
 */
#ifndef SBX_TRIPWIRE_H
#define SBX_TRIPWIRE_H

#include "runtime/bind/bind.h"
#include "runtime/watch/receipt.h"

struct tripwire;

/* Looks; NULL if the policy watches nothing here.  Of the binding the anchors
 * are enough. */
struct tripwire *tripwire_set(struct arena *arena,
    const struct binding *binding);

/* sbxrun was asked to end: looks and tells, once. */
void tripwire_tell_early(struct tripwire *tripwire);

/* Tells of runs that were killed; and forgets them, if it could. */
void tripwire_tell_killed(struct arena *arena, bool forget);

/* Looks again and tells; the receipt may be NULL. */
void tripwire_tell(struct tripwire *tripwire, struct receipt *receipt);

#endif
