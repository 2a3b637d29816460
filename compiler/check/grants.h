/*
 * What the rules of a policy say at each place, found by the place: questions
 * about a path look at the few places above it and not at all rules.  Globs
 * are left out, since what they mean depends on what is there; anchors are
 * apart, since where they lie is not known.
 */
#ifndef SBX_GRANTS_H
#define SBX_GRANTS_H

#include "compiler/base/map.h"
#include "compiler/policy/policy.h"

/* The rules about exactly one place: rights << 3 * platform. */
struct grant {
	uint16_t allowed, denied;            /* by rules without exclusions */
	VEC(const struct path_rule *) rules; /* that say something new */
};

struct grants {
	const struct policy *policy;
	struct map by_place;
};

void grants_init(struct grants *grants, const struct policy *policy);

/* The rules about the place that is the first `len` bytes of a suffix below
 * an anchor, or NULL. */
const struct grant *grants_at(const struct grants *grants, uint16_t anchor,
    const char *suffix, size_t len);

/* The length of the next place on the way from the anchor to a suffix, or -1
 * after the suffix itself; begin with 0. */
int32_t grants_next(const char *suffix, int32_t len);

/* Whether denies, preferred ones too, take a right at a place on all of these
 * platforms. */
bool grants_denied(const struct grants *grants, uint8_t platforms,
    uint8_t right, struct target at);

/* A rule at a place or above it that allows a right there on one of these
 * platforms, whatever is denied; NULL if there is none. */
const struct path_rule *grants_allow(const struct grants *grants,
    uint8_t platforms, uint8_t right, struct target at);

/* Whether the rule speaks of a place: it lies there or above, and none of its
 * exclusions does. */
bool rule_speaks_of(const struct path_rule *rule, struct target at);

#endif
