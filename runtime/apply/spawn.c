/*
 * `deny spawn`: one process, its threads, and no program but the command.
 *
 * Of all calls that start a process or a program, the policy's filter lets
 * execveat(2) alone through, and a second filter that only with a random number
 * as its sixth argument, of which the kernel knows nothing.  The number is in
 * the memory and the registers of the loader, and in the filter, which nobody
 * can read back.  To become the command replaces memory and registers, so the
 * command cannot know it.
 */
#include "runtime/apply/apply.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <sys/random.h>

/* The policy's filter answers calls of other architectures. */
static void
allow_key(uint64_t key)
{
	enum {
		LOAD = 0x20 /* BPF_LD | BPF_W | BPF_ABS */,
		EQUALS = 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */,
		RETURN = 6 /* BPF_RET | BPF_K */,
		ARG_5_LOW = 56,
		ARG_5_HIGH = 60,
	};
	const struct sbx_insn insns[] = {
		{ LOAD, 0, 0, 0 }, /* the number of the call */
		{ EQUALS, 0, 5, SYS_execveat },
		{ LOAD, 0, 0, ARG_5_LOW },
		{ EQUALS, 0, 2, (uint32_t)key },
		{ LOAD, 0, 0, ARG_5_HIGH },
		{ EQUALS, 1, 0, (uint32_t)(key >> 32) },
		{ RETURN, 0, 0, SECCOMP_RET_ERRNO | EPERM },
		{ RETURN, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = {
		.len = countof(insns),
		.filter = insns,
	};

	if (seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		refuse(NULL, "cannot install the filter that denies spawning",
		    errno);
}

uint64_t
spawn_prepare(void)
{
	uint64_t key = 0;

	/* 0 would be what every other call has there. */
	while (key == 0) {
		if (getrandom(&key, sizeof key, 0) != (ssize_t)sizeof key)
			refuse(NULL, "cannot get a random number", errno);
	}
	allow_key(key);
	return key;
}
