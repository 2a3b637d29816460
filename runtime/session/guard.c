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
#include "runtime/session/offer.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
	LOAD = 0x20 /* BPF_LD | BPF_W | BPF_ABS */,
	EQUALS = 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */,
	ABOVE = 0x25 /* BPF_JMP | BPF_JGT | BPF_K */,
	HAS = 0x45 /* BPF_JMP | BPF_JSET | BPF_K */,
	RETURN = 6 /* BPF_RET | BPF_K */,
	ARG_0 = 16, /* the lower halves of the arguments */
	ARG_1 = 24,
	ARG_2 = 32,
	KILL = 10, /* the index below */
};

enum {
	LARGER = SYS_fcntl > SYS_ioctl ? SYS_fcntl : SYS_ioctl,
	LARGEST = SYS_kill > LARGER ? SYS_kill : LARGER,
};

/*
 * The numbers are those of this architecture; of a call of another one they may
 * deny something else, and the policy's filter denies those.  The kernel runs
 * the program for every number when it is installed, and most are above all
 * three.
 */
uint32_t
guard_filter(enum guard guard, const struct sbx_insn *bpf,
    const struct sbx_program *program, struct sbx_insn *insns)
{
	const struct sbx_insn before[] = {
		{ LOAD, 0, 0, 0 }, /* the number of the call */
		{ ABOVE, 12, 0, LARGEST },
		{ EQUALS, 0, 2, SYS_ioctl },
		{ LOAD, 0, 0, ARG_1 },
		{ EQUALS, 8, 9, FIOASYNC },
		{ EQUALS, 0, 4, SYS_fcntl },
		{ LOAD, 0, 0, ARG_1 },
		{ EQUALS, 0, 6, F_SETFL },
		{ LOAD, 0, 0, ARG_2 },
		{ HAS, 3, 4, O_ASYNC },
		{ EQUALS, 0, 3, SYS_kill },
		{ LOAD, 0, 0, ARG_0 },
		{ EQUALS, 0, 1, 0 },
		{ RETURN, 0, 0, SECCOMP_RET_ERRNO | EPERM },
	};

	_Static_assert(countof(before) == GUARD_SIZE,
	    "the policy's filter begins behind the guard");
	memcpy(insns, before, sizeof before);
	if (guard != GUARD_GROUP)
		insns[KILL].jt = insns[KILL].jf;
	memcpy(insns + GUARD_SIZE, bpf + program->first,
	    program->count * sizeof *insns);
	return GUARD_SIZE + program->count;
}
