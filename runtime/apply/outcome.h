/*
 * What became of one rule when it was applied; beside the binding's rules.
 */
#ifndef SBX_OUTCOME_H
#define SBX_OUTCOME_H

#include "runtime/bind/bind.h"

struct outcome {
	uint32_t grants; /* Landlock rules that it was given */
	int error;       /* of an allow that is absent: why */
	bool absent;     /* it leads nowhere now, or nothing can be masked */
	bool covered;    /* another rule already gives all of it */
	bool split;      /* given to the entries of a directory one by one */
};

/* What is to be said of a rule in the end. */
static inline enum rule_state
outcome_state(const struct binding *binding, const struct outcome *outcomes,
    uint32_t index)
{
	return outcomes[index].absent ?
	    RULE_ABSENT :
	    (enum rule_state)binding->sites[index].state;
}

#endif
