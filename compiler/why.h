/*
 * Questions about one access: whether a policy allows it, which rule says so
 * and where it was written, what enforces that, and which rule would change
 * it.  The answers come from the model in format/model.h and, for system
 * calls, from running the filter itself.
 */
#ifndef SBX_WHY_H
#define SBX_WHY_H

#include "compiler/filter.h"
#include "compiler/places.h"

#include <stdio.h>

struct why {
	FILE *stream;
	struct places places;
	const struct filter_arch *arch; /* whose rules and filters count */
	enum sbx_level level;           /* at which level it would run */
};

/* Each prints an answer and returns whether the access is allowed. */
bool why_path(const struct why *why, uint8_t right, struct sbx_place path);
bool why_port(const struct why *why, enum sbx_port_op op, uint16_t port);
bool why_env(const struct why *why, const char *name);
bool why_syscall(const struct why *why, const char *name);

#endif
