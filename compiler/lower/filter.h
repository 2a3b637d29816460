/*
 * From a resolved policy to seccomp programs, in three steps that check each
 * other:
 *
 *	filter.c   policy -> struct filter: for every system call of one machine
 *	           a decision list over its arguments; filter_verdict() reads it
 *	bpf.c      struct filter -> instructions: a tree of ranges of numbers
 *	bpfsim.c   runs instructions as the kernel does
 *
 * bpf_emit() ends by comparing the program with filter_verdict() for every
 * number on every machine; a difference is a bug of ours and ends the compiler.
 */
#ifndef SBX_FILTER_H
#define SBX_FILTER_H

#include "compiler/base/map.h"
#include "compiler/policy/policy.h"
#include "compiler/tables/syscalls.h"

/* Values of SECCOMP_RET_*, as the program returns them. */
enum {
	FILTER_ALLOW = 0x7fff0000,
	FILTER_ERRNO = 0x00050000, /* | errno of the target machine */
	FILTER_KILL = (int)0x80000000,
};

/* An argument's low 32 bits, masked, equal a value.  seccomp sees 64 bits, but
 * the kernel uses 32 of an int argument, so the high half must not matter. */
struct filter_test {
	uint8_t arg;
	uint32_t mask, value;
};

/* All tests hold -> action.  At most three tests. */
struct filter_clause {
	struct filter_test tests[3];
	uint8_t test_count;
	uint32_t action;
};

/* What happens to one system call: the first clause that holds, else the
 * action at the end. */
struct filter_entry {
	uint32_t number;
	const char *name; /* interned, NULL if libseccomp has no name */
	const struct filter_clause *clauses;
	size_t clause_count;
	uint32_t action;
	struct loc loc; /* the rule that decided, or no place: baseline */
	const struct position
	    *from;          /* where that says that it was written, or NULL */
	const char *reason; /* the group or words that decided, or NULL */
};

/* A complete filter for one machine and one variant. */
struct filter {
	const struct arch *arch;
	uint32_t flags; /* enum sbx_program_flag */
	uint32_t min_abi;
	struct filter_entry *entries; /* by number, dense from 0 */
	size_t entry_count;           /* = arch->number_limit */
};

/* What a system call looks like to a filter: struct seccomp_data. */
struct syscall_data {
	int32_t number;
	uint32_t audit;
	uint64_t instruction_pointer;
	uint64_t args[6];
};

struct bpf_program {
	struct sbx_insn *insns;
	size_t count;
};

struct filter_set {
	VEC(struct filter) filters;       /* every machine and variant */
	VEC(struct bpf_program) programs; /* the same order */
};

/*
 * Builds and emits all variants for all machines.  Unknown names and filters
 * that would stop the loader's own last calls were reported by check_policy();
 * here they are not expected.  Empty for a policy that allows everything.
 */
void filters_build(const struct policy *policy, struct filter_set *set);

/*
 * What `allow syscalls` can lift: each call as arena_intern() has it, with the
 * entry of the baseline that holds it, "@group" or the call.
 */
void baseline_calls(struct arena *arena, struct map *entries);

/* What else decides about a call, by its arguments: "network", "namespaces" or
 * "terminal input"; NULL: nothing that `allow syscalls` does not lift. */
const char *filter_arguments(const char *call);

/* The reference: what the rule set says of one call on any machine. */
uint32_t filter_verdict(const struct filter *filter,
    const struct syscall_data *data);

/* Emits and checks one program. */
struct bpf_program bpf_emit(struct arena *arena, const struct filter *filter);

/* Runs a program; sets *ok to false (and returns KILL) if the kernel would not
 * have loaded it.  `steps` counts instructions and may be NULL. */
uint32_t bpf_run(const struct sbx_insn *insns, size_t count,
    const struct syscall_data *data, bool *ok, size_t *steps);

/* The same for one that bpf_is_loadable(), without looking again. */
uint32_t bpf_run_loaded(const struct sbx_insn *insns,
    const struct syscall_data *data);

/* Whether the kernel would load it: as seccomp_check_filter() decides. */
bool bpf_is_loadable(const struct sbx_insn *insns, size_t count);

/*
 * Whether a program gives filter_verdict()'s answer for every number on its
 * machine, on its 32-bit machine and on a foreign one, with every argument
 * that is of interest to a test; if not, *witness is a call that differs.
 */
bool bpf_matches(const struct filter *filter, const struct bpf_program *program,
    struct syscall_data *witness);

/* A listing for people, one instruction a line. */
void bpf_print(FILE *stream, const struct sbx_insn *insns, size_t count);

#endif
