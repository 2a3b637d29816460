/*
 * What a verified blob holds: all of it as text, or its programs alone.
 */
#ifndef SBX_DUMP_H
#define SBX_DUMP_H

#include "format/blob.h"

#include <stdio.h>

/* Everything, for people. */
void dump_blob(FILE *stream, const struct sbx_blob *blob);

/* Which programs: of one machine, one variant of it, or any. */
struct dump_choice {
	uint32_t arch;   /* AUDIT_ARCH_*, 0: any */
	int32_t variant; /* counted from 0 for each machine, -1: any */
};

/* The first program at or after `from` that is chosen, or program_count. */
uint32_t dump_find(const struct sbx_blob *blob, struct dump_choice choice,
    uint32_t from);

/* A listing of each chosen program under a line that says what it is for. */
void dump_bpf(FILE *stream, const struct sbx_blob *blob,
    struct dump_choice choice);

#endif
