/*
 * Questions about one access: whether a policy allows it, which rule says so
 * and where it was written, what enforces that at each level, and what would
 * change it.  Each answer has the same parts, one a line:
 *
 *	denied: write /src/app/.git/hooks/x
 *	    team.sbx:9:5: deny write ${workspace}/.git/hooks  (team-build)
 *	    also: ...			the other rules that speak of it
 *	    but ...			what an allowed access has against it
 *	    enforced by: ... (level full)
 *	    to allow it: ...
 */
#ifndef SBX_WHY_H
#define SBX_WHY_H

#include "compiler/query/verdict.h"

/* An answer in the making. */
struct why {
	FILE *stream;
	const struct subject *subject;
	const struct sbx_blob *blob;
	const struct access *access;
	bool all_levels; /* else that of the subject alone */
	struct verdict verdict;
};

/* Prints the answer; returns whether the access is allowed.  Enforcers are
 * named for all levels at which the policy runs, or for the subject's. */
bool why(FILE *stream, const struct subject *subject,
    const struct access *access, bool all_levels);

/* why_enforcer.c: what holds a denial, and what an allowed path still lacks. */
void why_say_enforcers(const struct why *why);
void why_say_effects(const struct why *why);

/* "    FILE:LINE:COL: " before a rule, and its end. */
void why_say_rule(const struct why *why, const char *label, uint32_t source);
void why_say_rule_end(const struct why *why, uint8_t platforms,
    uint32_t source);
void why_say_path_rule(const struct why *why, const char *label,
    const struct sbx_path *path);

/* The rule that decided, or that none allows it. */
void why_say_decider(const struct why *why, const struct verdict *verdict);

/* Which filter a system call was judged by, where a machine was asked. */
void why_say_filter(const struct why *why);

/* The answer about paths. */
void why_path(const struct why *why);
const char *path_enforcer(const struct why *why, enum sbx_level level);

/* The rule on paths that decided, or NULL. */
const struct sbx_path *why_path_rule(const struct why *why);

#endif
