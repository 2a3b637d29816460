/*
 * An errno of a filter beats a listener, so what the filter refuses would never
 * be heard of.  Therefore each "return errno" of the policy's filter becomes
 * "ask the supervisor", who runs the filter as it is in the blob and answers
 * that errno.  Without a supervisor the answer is ENOSYS: still denied.
 *
 *	is it a call of this machine?      no: the policy's filter
 *	is it one of observed.def?         ask the supervisor
 *	the policy's filter, so changed
 *
 * ENOSYS stays as it is: with it libc learns that a call is not there, and
 * nobody wants to read of that.
 */
#include "runtime/explain/explain.h"

#include "format/blob.h"
#include "runtime/apply/apply.h"
#include "runtime/base/out.h"

#include <string.h>

enum {
	LOAD = 0x20 /* BPF_LD | BPF_W | BPF_ABS */,
	EQUALS = 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */,
	HAS = 0x45 /* BPF_JMP | BPF_JSET | BPF_K */,
	RETURN = 6 /* BPF_RET | BPF_K */,
	JUMP = 5 /* BPF_JMP | BPF_JA */,
	NUMBER = 0, /* offsets in struct seccomp_data */
	ARCH = 4,
	ARG_0 = 16, /* the lower halves */
	ACTION = 0xffff0000,
	ERRNO = 0xffff,
	PREFIX_MAX = 256,
};

struct prefix {
	struct sbx_insn *insns;
	uint16_t count;
};

static void
put(struct prefix *prefix, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	prefix->insns[prefix->count++] = (struct sbx_insn){ code, jt, jf, k };
}

static void
put_call(struct prefix *prefix, int number, enum traced_looks looks)
{
	/* fstat(3) is one of these calls, with an empty path: it names
	 * nothing.  By the size alone a filter knows the calls of realpath(3)
	 * of glibc and of gnulib. */
	static const struct {
		int number, argument;
		uint32_t value;
		uint16_t test;
		bool always;
	} left_out[] = {
		{ SYS_newfstatat, 3, AT_EMPTY_PATH, HAS, true },
		{ SYS_statx, 2, AT_EMPTY_PATH, HAS, true },
		{ SYS_readlink, 2, 1023, EQUALS, false },
		{ SYS_readlinkat, 3, 1023, EQUALS, false },
	};

	for (size_t i = 0; i < countof(left_out); i++) {
		if (left_out[i].number != number ||
		    (looks == TRACED_ALL && !left_out[i].always))
			continue;
		/* All calls of a number but those with such an argument. */
		put(prefix, EQUALS, (uint32_t)number, 0, 4);
		put(prefix, LOAD, ARG_0 + 8 * (uint32_t)left_out[i].argument, 0,
		    0);
		put(prefix, left_out[i].test, left_out[i].value, 1, 0);
		put(prefix, RETURN, SECCOMP_RET_USER_NOTIF, 0, 0);
		put(prefix, LOAD, NUMBER, 0, 0);
		return;
	}
	put(prefix, EQUALS, (uint32_t)number, 0, 1);
	put(prefix, RETURN, SECCOMP_RET_USER_NOTIF, 0, 0);
}

static void
put_calls(struct prefix *prefix, enum traced_looks looks)
{
	enum { LEVELS, VIEW, DIRECTORY = 0, NONE = -1 };
	static const struct {
		int number;
		uint8_t where;
	} calls[] = {
#define OBSERVED(call, where, path, act, flags) { SYS_##call, where },
#include "format/observed.def"
#undef OBSERVED
	};
	int before = -1;

	for (size_t i = 0; i < countof(calls); i++) {
		int number = calls[i].number;

		if (number < 0 || number == before ||
		    (calls[i].where == VIEW && looks == TRACED_NONE))
			continue;
		before = number;
		put_call(prefix, number, looks);
	}
}

/* The calls between here and execve(2) are answered by nobody: the listener is
 * still on its way. */
static void
check_way(const struct sbx_insn *insns, uint32_t count)
{
	const struct syscall_data data = {
		.number = SYS_sendmsg,
		.audit = KERNEL_ARCH,
	};

	if (!bpf_is_runnable(insns, count))
		refuse("--explain", "the policy's filter is malformed", 0);
	if (bpf_run_loaded(insns, &data) != SECCOMP_RET_ALLOW)
		refuse("--explain", "needs sendmsg(2), which the policy denies",
		    0);
}

enum traced_looks
traced_looks(const struct explaining *explaining, bool view)
{
	if (!view)
		return TRACED_NONE;
	return explaining->thorough ? TRACED_ALL : TRACED_MOST;
}

int
traced_install(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_program *program, enum traced_looks looks)
{
	const struct sbx_insn *insns = blob->bpf + program->first;
	struct prefix prefix = {
		.insns = arena_take(arena, PREFIX_MAX + program->count,
		    sizeof *insns),
	};
	struct sbx_blob traced = { .bpf = prefix.insns };
	struct sbx_program filter = *program;

	check_way(insns, program->count);
	put(&prefix, LOAD, ARCH, 0, 0);
	put(&prefix, EQUALS, KERNEL_ARCH, 1, 0);
	put(&prefix, JUMP, 0, 0, 0);
	put(&prefix, LOAD, NUMBER, 0, 0);
	put_calls(&prefix, looks);
	prefix.insns[2].k = prefix.count - 3U;
	if (prefix.count > PREFIX_MAX ||
	    prefix.count + program->count > SBX_MAX_INSNS)
		refuse("--explain", "the policy's filter leaves no room for it",
		    0);
	memcpy(prefix.insns + prefix.count, insns,
	    program->count * sizeof *insns);
	for (uint32_t i = prefix.count; i < prefix.count + program->count;
	     i++) {
		struct sbx_insn *at = &prefix.insns[i];

		if (at->code == RETURN &&
		    (at->k & ACTION) == SECCOMP_RET_ERRNO &&
		    (at->k & ERRNO) != ENOSYS)
			at->k = SECCOMP_RET_USER_NOTIF;
	}
	filter.first = 0;
	filter.count = prefix.count + program->count;
	filter.flags |= SBX_PROGRAM_LISTENER;
	return confine_syscalls(&traced, &filter);
}
