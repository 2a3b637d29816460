/*
 * What a seccomp program answers to a system call.  The compiler asks its own
 * programs, and the supervisor that of the command, when it has to know what a
 * filter would have said without it.
 */
#ifndef SBX_FILTER_RUN_H
#define SBX_FILTER_RUN_H

#include "format/blob.h"

/* What a system call looks like to a filter: struct seccomp_data. */
struct syscall_data {
	int32_t number;
	uint32_t audit;
	uint64_t instruction_pointer;
	uint64_t args[6];
};

/* Runs a program that the kernel would load, and ends with its action.  The
 * second one counts instructions. */
uint32_t bpf_run_loaded(const struct sbx_insn *insns,
    const struct syscall_data *data);
uint32_t bpf_run_counted(const struct sbx_insn *insns,
    const struct syscall_data *data, size_t *steps);

/* Whether it can be run at all: it stays inside of itself and comes to an end.
 * The kernel asks for more before it loads a program. */
bool bpf_is_runnable(const struct sbx_insn *insns, size_t count);

#endif
