/*
 * sbxrun -n: what would be applied here, rule by rule, and by what.
 */
#ifndef SBX_PLAN_H
#define SBX_PLAN_H

#include "runtime/environment.h"
#include "runtime/lower.h"
#include "runtime/machine.h"

struct plan {
	const struct sbx_view *view;
	const struct machine *machine;
	enum sbx_level level;
	const struct sbx_landlock *row;    /* NULL below standard */
	const struct sbx_program *program; /* NULL at level none */
	const struct binding *binding;
	const struct lowering *lowering;
	const struct environment *environment;
	const char *digest;
};

/* Prints the plan on stdout; everything in it has been tried in the kernel. */
void plan_print(const struct plan *plan);

/* The one line of -v, on stderr. */
void plan_summary(const struct plan *plan);

#endif
