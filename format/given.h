/*
 * The variables that the loader sets by itself in the command's environment,
 * beside those of `set env`.  The compiler knows them from here, too, so that
 * what it says of a variable is what the command finds.
 */
#ifndef SBX_GIVEN_H
#define SBX_GIVEN_H

#include "format/blob.h"

#include <stdbool.h>
#include <stddef.h>

/* What a variable is about; in the order in which the loader sets them. */
enum sbx_given_by {
	SBX_GIVEN_SCRATCH, /* where the scratch directory is */
	SBX_GIVEN_PROXY,   /* where the proxy of format/ways.h is */
	SBX_GIVEN_AGENT,   /* where the socket of the agent of ssh is */
	SBX_GIVEN_PROFILE, /* what the sandbox is, for messages */
	SBX_GIVEN_LEVEL,
	SBX_GIVEN_SESSION,
};

struct sbx_given {
	const char *name;
	const char *value; /* empty: it is known when the sandbox starts */
	enum sbx_given_by by;
};

enum { SBX_GIVEN_COUNT = 15 };

extern const struct sbx_given sbx_given[SBX_GIVEN_COUNT];

/* The variable of a name, or NULL. */
const struct sbx_given *sbx_given_find(const char *name);

/* Whether it is set wherever a policy runs on these platforms.  Not so of the
 * agent and the session: they depend on the run. */
bool sbx_given_holds(const struct sbx_given *given, const struct sbx_blob *blob,
    uint8_t platforms);

/*
 * A variable that the policy sets to a place of the home, in what it lets the
 * command write: where that is not there, the command cannot make it, and the
 * variable leads to the same name in the scratch directory.  The path below the
 * home that has to be there, or NULL: the variable stays as it is.
 */
const char *sbx_set_opened(const struct sbx_blob *blob,
    const struct sbx_set *set, uint8_t platforms);

/* Whether it is set even if the policy sets it to something else. */
static inline bool
sbx_given_overrides(const struct sbx_given *given)
{
	return given->by >= SBX_GIVEN_AGENT;
}

#endif
