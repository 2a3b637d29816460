/*
 * Whether level full has a listener: where the view shows places in which
 * services of the host may listen, on kernels whose Landlock does not hold such
 * sockets yet.
 */
#ifndef SBX_VIEW_LISTENER_H
#define SBX_VIEW_LISTENER_H

#include "runtime/inspect/plan.h"
#include "runtime/watch/supervise.h"

/* Before the fork: makes the way for a listener, which may turn out not to be
 * wanted, for that shows when the rules are bound, inside. */
void view_listener_prepare(struct supervision *supervision, struct arena *arena,
    const struct binding *anchored, const struct machine *machine);

/* After it, in both processes: the level may have turned out not to be full. */
void view_listener_settle(struct listening *listening, const struct plan *plan);

/* Inside, when the rules are bound.  Where a listener is wanted and cannot be
 * had, this refuses (125) if services may listen in what is only to be read;
 * otherwise the plan says why. */
void view_listener_choose(struct listening *listening, struct plan *plan);

#endif
