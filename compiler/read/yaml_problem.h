/*
 * What is wrong with a text that is no YAML, or more YAML than is read, in
 * words that say how to write what was probably meant.
 */
#ifndef SBX_YAML_PROBLEM_H
#define SBX_YAML_PROBLEM_H

#include "compiler/report/diag.h"

#include <stdbool.h>

/* As libyaml tells it. */
struct yaml_problem {
	const char *problem, *context; /* "" if there is none */
	struct loc loc, context_loc;   /* without width */
	bool in_list;                  /* inside of brackets or braces */
};

void yaml_report_problem(struct diags *diags, const struct source *source,
    const struct yaml_problem *problem);

/* `what` is "an alias", "an anchor" or "a tag". */
void yaml_report_mark(struct diags *diags, const struct source *source,
    struct loc loc, const char *what);

#endif
