/*
 * A denial in words, and what would allow it: for the block that people read,
 * the one for agents, and records.
 */
#ifndef SBX_DENIAL_LINE_H
#define SBX_DENIAL_LINE_H

#include "runtime/explain/explain.h"

struct line {
	char place[2 * SBX_MAX_PATH];
	char program[64];
	char source[2 * SBX_ADVICE_TEXT]; /* of the rule, and the rule */
};

/* Steps of up to SBX_ADVICE_TEXT bytes, which are not to be trusted to end. */
struct fix {
	bool works; /* it is allowed once they are done */
	uint32_t count;
	uint8_t where[SBX_ADVICE_STEPS + 1]; /* enum sbx_advice_where */
	const char *steps[SBX_ADVICE_STEPS + 1];
	char rule[SBX_ADVICE_TEXT];
};

/* `advice` may be NULL. */
void denial_line(struct line *line, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice);
void denial_fix(struct fix *fix, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice);

/* What it is about alone. */
void denial_object(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice);

#endif
