/*
 * What a session adds to the filter of its policy.
 *
 * Whoever asks a terminal for signals when it can be read (O_ASYNC) has them
 * sent to the group in its foreground, which is outside of the session.
 * kill(0, ...) is for the process group, and that of a job at a terminal has
 * processes outside, too.  Nothing else can name these from inside.
 *
 * It stands before the policy's filter, in one program: each program that is
 * installed costs some 25 us.  What it does not deny, the policy's filter
 * decides as ever.
 */
#ifndef SBX_GUARD_H
#define SBX_GUARD_H

#include "format/blob.h"

enum guard {
	GUARD_TERMINAL, /* O_ASYNC */
	GUARD_GROUP,    /* that and kill(0, ...) */
	GUARD_END,
};

enum { GUARD_SIZE = 14 /* instructions */ };

/* Writes the program, which has room for GUARD_SIZE instructions more than the
 * policy's; returns how many there are. */
uint32_t guard_filter(enum guard guard, const struct sbx_insn *bpf,
    const struct sbx_program *program, struct sbx_insn *insns);

#endif
