/*
 * What the kernel does with a seccomp program.
 */
#ifndef SBX_BPFSIM_H
#define SBX_BPFSIM_H

#include "compiler/base/arena.h"
#include "format/filter_run.h"

#include <stdbool.h>

struct filter;

struct bpf_program {
	struct sbx_insn *insns;
	size_t count;
};

/* Whether the kernel would load it: as seccomp_check_filter() decides.  What it
 * then answers bpf_run_loaded() says. */
bool bpf_is_loadable(const struct sbx_insn *insns, size_t count);

/*
 * Whether a program gives filter_verdict()'s answer for every number on its
 * machine, on its 32-bit machine and on a foreign one, with every argument
 * that is of interest to a test; if not, *witness is a call that differs.
 */
bool bpf_matches(const struct filter *filter, const struct bpf_program *program,
    struct syscall_data *witness);

#endif
