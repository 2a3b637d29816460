/*
 * Filters as instructions of classic BPF.
 */
#ifndef SBX_BPF_H
#define SBX_BPF_H

#include "compiler/lower/filter.h"

/* Emits a program and compares it with the rules that it was made from. */
struct bpf_program bpf_emit(struct arena *arena, const struct filter *filter);

/* A listing for people, one instruction a line. */
void bpf_print(FILE *stream, const struct sbx_insn *insns, size_t count);

#endif
