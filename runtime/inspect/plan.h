/*
 * sbxrun -n: what would be applied here, rule by rule, and by what.
 */
#ifndef SBX_PLAN_H
#define SBX_PLAN_H

#include "runtime/apply/environment.h"
#include "runtime/apply/lower.h"
#include "runtime/apply/view.h"
#include "runtime/base/machine.h"
#include "runtime/base/out.h"

struct plan {
	const struct sbx_blob *blob;
	const struct machine *machine;
	enum sbx_level level;
	const struct sbx_landlock *row;    /* NULL below standard */
	const struct sbx_program *program; /* NULL at level none */
	const struct binding *binding;
	const struct lowering *lowering;
	const struct environment *environment;
	const char *digest;
	const struct view_report *shown;
	const char *why_not_full; /* NULL: it is, or was not asked for */
	uint32_t held; /* limits that a control group holds, a bit each */
};

/* What stands behind a rule. */
enum plan_class {
	PLAN_PLAIN, /* Landlock, with nothing to add */
	PLAN_OTHER,
	PLAN_UNCOVERED, /* a denied place that is not there */
	PLAN_SKIPPED,   /* an allowed one */
};

/* The parts of a plan, for the receipt; `index` is of the binding's rules. */
enum plan_class plan_class(const struct plan *plan, uint32_t index);
void plan_words(struct out *out, const struct sbx_path *path);
void plan_enforcer(struct out *out, const struct plan *plan, uint32_t index);
void plan_glob_enforcer(struct out *out, const struct plan *plan,
    const struct glob *glob);
const char *plan_network(const struct plan *plan);
const char *plan_limit(uint16_t kind);
const char *plan_limit_enforcer(const struct plan *plan, uint16_t kind);

/* Prints the plan on stdout; everything in it has been tried in the kernel. */
void plan_print(const struct plan *plan);

/* The one line of -v, on stderr. */
void plan_summary(const struct plan *plan);

#endif
