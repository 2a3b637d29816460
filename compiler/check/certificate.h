/*
 * The enforcement certificate: what of a resolved policy would not be enforced
 * somewhere else, rule by rule, known before it is run there.
 *
 *	landlock=N     level standard on a kernel with Landlock ABI N
 *	level=LEVEL    that level on a kernel with all that this sbxc knows
 *	macos          the sandbox profile of `sbxc dump -O sbpl`
 *
 * Three things can happen to a rule, and each has its code:
 *
 *	open    what the policy closes is open there: an error
 *	shut    what the policy opens is shut there: a warning
 *	weaker  it holds, with an exception or at a price: a note
 *
 * What is only preferred is never an error.
 */
#ifndef SBX_CERTIFICATE_H
#define SBX_CERTIFICATE_H

#include "compiler/policy/policy.h"

struct enforcer {
	const char *text; /* as the user wrote it */
	bool macos;
	enum sbx_level level; /* on Linux */
	int landlock;         /* ABI; 0 below level standard */
};

/* Reads the word of --target; false if it is none. */
bool enforcer_read(const char *text, struct enforcer *enforcer);

/* Adds what the rules come to there. */
void certify(const struct policy *policy, const struct enforcer *enforcer,
    struct diags *diags);

/* Sets the codes that only certify() gives. */
void certificate_codes(bool codes[DIAG_END]);

#endif
