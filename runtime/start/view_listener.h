/*
 * Whether level full has a listener: where the view shows places that are only
 * to be read and in which services may listen, on kernels whose Landlock does not
 * hold such sockets yet.
 */
#ifndef SBX_VIEW_LISTENER_H
#define SBX_VIEW_LISTENER_H

#include "runtime/inspect/plan.h"
#include "runtime/listen/listen.h"

/* Before the fork: makes the way for a listener, which may turn out not to be
 * wanted, for that shows when the rules are bound, inside. */
void view_listener_prepare(struct listening *listening,
    const struct sbx_blob *blob, const struct machine *machine);

/* After it, in both processes: the level may have turned out not to be full. */
void view_listener_settle(struct listening *listening, const struct plan *plan);

/* Inside, when the rules are bound.  Refuses (125) where a listener is wanted and
 * cannot be had. */
void view_listener_choose(struct listening *listening,
    const struct binding *binding);

#endif
