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

#include "compiler/lower/bpfsim.h"
#include "compiler/policy/policy.h"
#include "compiler/tables/baseline.h"
#include "compiler/tables/syscalls.h"

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

struct programs;

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

/* The same with programs that other policies may have had emitted. */
void filters_build_shared(const struct policy *policy,
    struct programs *programs, struct filter_set *set);

/* The filter of one machine with these flags and nothing besides, for other
 * programs than sbxrun; not for a policy that allows everything. */
void filter_alone(const struct policy *policy, const struct arch *arch,
    uint32_t flags, struct filter *filter);

/* The reference: what the rule set says of one call on any machine. */
uint32_t filter_verdict(const struct filter *filter,
    const struct syscall_data *data);

#endif
