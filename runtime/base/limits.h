/*
 * The limits of a run: those of the policy, and those that a person gives on
 * the command line in their place.
 */
#ifndef SBX_LIMITS_H
#define SBX_LIMITS_H

#include "runtime/base/out.h"

#include "format/blob.h"

/* What the command line says of one limit. */
struct limit_choice {
	bool given;
	bool lifted; /* NAME=none; else: */
	uint64_t value;
};

/* NAME=VALUE of --limit; refuses what it cannot be. */
void limits_choose(struct limit_choice choices[SBX_LIMIT_END],
    const char *text);

/* From now on the blob's limits are those of this machine, with the choices in
 * their place; they lie in `room`. */
void limits_apply(struct sbx_blob *blob,
    const struct limit_choice choices[SBX_LIMIT_END],
    struct sbx_limit room[SBX_LIMIT_END]);

const char *limit_name(uint16_t kind);
/* "timeout 120s", as a policy says it. */
void out_limit(struct out *out, const struct sbx_limit *limit);

/* "sbxrun: SOURCE: limit NAME VALUE: TEXT; --limit NAME=none lifts it" on
 * stderr. */
void limit_say(const struct sbx_blob *blob, uint16_t kind, const char *text);

#endif
