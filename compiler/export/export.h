/* Seccomp filters for containers, and what is lost. */
#ifndef SBX_COMPILER_EXPORT_EXPORT_H
#define SBX_COMPILER_EXPORT_EXPORT_H

#include "compiler/base/base.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/policy.h"

#include <stdio.h>

/* --- cubes.c ----------------------------------------------------------- */

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

/*
 * A policy's seccomp filter for containers: `sbxc export`.  A rule that a filter
 * cannot say is a loss, which names the rule; with a loss nothing is written,
 * unless the user asks for that.
 */

enum loss_kind {
	LOSS_WEAKER,   /* the filter lets more through than the policy */
	LOSS_NARROWER, /* it lets less through, or does not set something */
};

/* Rules of one statement, or those of one shipped group, that are lost for the
 * same reason. */
struct loss {
	enum loss_kind kind;
	struct origin origin; /* of the first */
	const char *rule;     /* its text */
	const char *why;
	size_t count;
};

struct exporter {
	struct arena *arena;
	const struct policy *policy;
	const struct arch *arch;
	enum sbx_net net; /* what the policy gives on this machine */
	bool everything;
	struct map known;
	VEC(struct loss) losses;
};

/* Finds what is lost, and reports it. */
struct exporter export_prepare(const struct policy *policy,
    const struct arch *arch, struct diags *diags);

void oci_write(const struct exporter *exporter, FILE *stream);

#endif
