/*
 * A decision list over arguments as conditions of which exactly one holds.
 * libseccomp has no lists of which the first rule that holds decides, no
 * negation of a masked comparison, and one comparison for each argument; so the
 * arguments are cut into cubes: some bits of each have some values.
 */
#ifndef SBX_CUBES_H
#define SBX_CUBES_H

#include "compiler/lower/filter.h"

enum { CUBE_ARGS = 6 };

/* The argument's low 32 bits, masked, equal the value; no mask: any. */
struct cube {
	uint32_t masks[CUBE_ARGS], values[CUBE_ARGS];
	uint32_t action;
};

struct cubes {
	VEC(struct cube) list;
};

/* The cubes of one system call; those with the action `but` are left out. */
void cubes_cut(struct arena *arena, const struct filter_entry *entry,
    uint32_t but, struct cubes *cubes);

#endif
