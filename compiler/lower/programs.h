/*
 * What the filters of several policies share, above all programs that were
 * emitted.  Most filters of a policy decide alike, and so do
 * those of the profiles of one file; emitting and trying a program is most of
 * what a profile costs.
 */
#ifndef SBX_PROGRAMS_H
#define SBX_PROGRAMS_H

#include "compiler/base/map.h"
#include "compiler/lower/bare.h"

struct programs {
	struct arena *arena;
	struct map keys; /* what a filter decides */
	uint32_t *words; /* room for one such key */
	size_t room;
	size_t spent; /* what emitting took, in the unit of a rule */
	VEC(struct bpf_program) list;
	struct bare_machine *bare; /* of each machine, made when needed */
};

/* What each filter of a machine begins with. */
const struct bare_machine *programs_bare(struct programs *programs,
    const struct arch *arch);

/* The program of a filter.  The arena holds one that is not kept. */
struct bpf_program programs_get(struct programs *programs, struct arena *arena,
    const struct filter *filter);

#endif
