/*
 * What the kernel does with a seccomp program.
 */
#ifndef SBX_BPFSIM_H
#define SBX_BPFSIM_H

#include "compiler/base/arena.h"
#include "format/blob.h"

#include <stdbool.h>

struct filter;

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

#endif
