/*
 * What the path rules of a policy say at each place: which of them cover it.
 * The rules are in an index (format/index.h) for each anchor, since where an
 * anchor lies is not known before the policy is bound.  Of each rule it is
 * found out once what the rules around it cover: those above its place, and
 * those at its place that are stronger.  So no question goes through all rules,
 * however many there are at one place.
 *
 * A rule with a glob applies to less than its place and what lies in it: others
 * may cover it, and it covers nothing here.
 */
#ifndef SBX_GRANTS_H
#define SBX_GRANTS_H

#include "compiler/policy/policy.h"
#include "format/index.h"

enum { PLATFORM_COUNT = 3, RIGHT_COUNT = 3 };

/* Which rules are asked about. */
enum cover {
	COVER_ALLOW,
	COVER_DENY,
	COVER_ANY_DENY,
	COVER_HELD_DENY, /* but for `prefer deny write`, see sbx_path_holds() */
	COVER_END,
};

/* What covers the place of a rule: the rule itself, and those around it.  Rules
 * are 1 + an index into the policy's paths; 0 is none. */
struct coverage {
	uint32_t around;    /* the nearest other rule that covers its place */
	uint32_t excepting; /* the nearest rule that has exclusions */
	/* The outermost rule without exclusions, for each platform and right:
	 * [3 * platform + right]. */
	uint32_t by[COVER_END][PLATFORM_COUNT * RIGHT_COUNT];
};

struct grants {
	const struct policy *policy;
	struct sbx_index *of;       /* for each anchor; numbers are those of
	                              * the policy's paths */
	struct coverage *coverages; /* beside the policy's paths */
};

void grants_init(struct grants *grants, const struct policy *policy);

/* A rule of those around rule `index` which together have all of these rights
 * wherever the rule applies; 0 if they do not. */
uint32_t grants_cover(const struct grants *grants, size_t index,
    enum cover cover, uint8_t rights);

/* The denies that hold at every level that the policy may run at, from standard
 * on. */
enum cover grants_held(const struct grants *grants);

/* Whether denies take a right at a place on all of these platforms, at all
 * levels that the policy may run at, standard and full. */
bool grants_denied(const struct grants *grants, uint8_t platforms,
    uint8_t right, struct target at);

/* The outermost rule that allows one of the rights at a place on one of the
 * platforms, whatever is denied; NULL if there is none. */
const struct path_rule *grants_allow(const struct grants *grants,
    uint8_t platforms, uint8_t rights, struct target at);

/* Whether the rule applies to a place: it lies there or above, and none of its
 * exclusions does. */
bool rule_applies(const struct path_rule *rule, struct target at);

bool same_exclusions(const struct path_rule *a, const struct path_rule *b);

#endif
