/*
 * What a machine's filters have before any policy is looked at: a name and the
 * baseline's verdict for each number, and the numbers of the calls that the
 * tables name.  To look that up takes as long as all else that a filter takes
 * which was made before, so the profiles of a file share it.
 */
#ifndef SBX_BARE_H
#define SBX_BARE_H

#include "compiler/base/arena.h"
#include "compiler/lower/filter.h"

/* One of argument_calls. */
struct bare_call {
	int number;                        /* or -1 */
	const struct argument_rule *rules; /* the first one, if it has any */
};

struct bare_machine {
	struct filter_entry *entries; /* by number */
	struct bare_call *arguments;  /* beside argument_calls */
	int *trapped;                 /* beside trapped_calls; or -1 */
};

void bare_make(struct arena *arena, const struct arch *arch,
    struct bare_machine *bare);

/* Gives a call, or the calls of a group, one verdict; those that the machine
 * has. */
void entries_set(struct filter_entry *entries, const struct arch *arch,
    const char *name, bool group, const struct filter_entry *verdict);

#endif
