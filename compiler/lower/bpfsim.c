/*
 * The kernel's view of a seccomp program: what it refuses to load
 * (bpf_check_classic() and seccomp_check_filter()).  What it does with the rest
 * is in format/filter_run.c; tests compare both with the running kernel.
 *
 * On top of that, bpf_matches() holds a program against the rules that it was
 * made from.  It asks about every number there is, and about the arguments at
 * which some test could change its mind: the tested value, its neighbour, the
 * value with bits above the 32 that count, with bits beside the mask, none and
 * all.
 */
#include "compiler/lower/lower.h"

#include <limits.h>
#include <linux/filter.h>
#include <string.h>

enum {
	SCRATCH_WORDS = BPF_MEMWORDS,
	DATA_SIZE = sizeof(struct syscall_data),
	VALUES_MAX = 512,   /* of interest, of one argument */
	NUMBERS_END = 1024, /* numbers tried one by one */
	FOREIGN_STEP = 31,
	X32_BIT = 0x40000000,
};
_Static_assert(DATA_SIZE == 64, "struct seccomp_data");

/* Values to try for each argument. */
struct values {
	uint64_t items[6][VALUES_MAX];
	size_t counts[6];
};

/* --- what the kernel loads ------------------------------------------------ */

/* Operations of BPF_ALU and BPF_JMP that seccomp allows with K and with X. */
static bool
operation_is_known(uint16_t code)
{
	static const uint8_t alu[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV,
		BPF_AND, BPF_OR, BPF_XOR, BPF_LSH, BPF_RSH };
	static const uint8_t jump[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	const uint8_t *known = BPF_CLASS(code) == BPF_ALU ? alu : jump;
	size_t count = BPF_CLASS(code) == BPF_ALU ? countof(alu) :
						    countof(jump);

	return memchr(known, BPF_OP(code), count) != NULL;
}

static bool
code_is_known(uint16_t code)
{
	static const uint16_t others[] = {
		BPF_LD | BPF_W | BPF_ABS,
		BPF_LD | BPF_W | BPF_LEN,
		BPF_LDX | BPF_W | BPF_LEN,
		BPF_LD | BPF_IMM,
		BPF_LDX | BPF_IMM,
		BPF_LD | BPF_MEM,
		BPF_LDX | BPF_MEM,
		BPF_ST,
		BPF_STX,
		BPF_RET | BPF_K,
		BPF_RET | BPF_A,
		BPF_MISC | BPF_TAX,
		BPF_MISC | BPF_TXA,
		BPF_ALU | BPF_NEG,
		BPF_JMP | BPF_JA,
	};

	for (size_t i = 0; i < countof(others); i++) {
		if (code == others[i])
			return true;
	}
	return code <= 0xff &&
	    (BPF_CLASS(code) == BPF_ALU || BPF_CLASS(code) == BPF_JMP) &&
	    operation_is_known(code);
}

/* Whether the constant of an instruction is valid; scratch_is_written() looks
 * at the rest. */
static bool
constant_is_valid(const struct sbx_insn *insn)
{
	switch (insn->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return insn->k < DATA_SIZE && insn->k % 4 == 0;
	case BPF_ALU | BPF_DIV | BPF_K:
		return insn->k != 0;
	case BPF_ALU | BPF_LSH | BPF_K:
	case BPF_ALU | BPF_RSH | BPF_K:
		return insn->k < 32;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
		return insn->k < SCRATCH_WORDS;
	default:
		return true;
	}
}

/* Jumps lead forward and stay inside. */
static bool
jump_is_valid(const struct sbx_insn *insn, size_t left)
{
	if (BPF_CLASS(insn->code) != BPF_JMP)
		return true;
	if (BPF_OP(insn->code) == BPF_JA)
		return insn->k < left;
	return insn->jt < left && insn->jf < left;
}

/* Whether every word of scratch is written before it is read, on every path. */
static bool
scratch_is_written(const struct sbx_insn *insns, size_t count)
{
	uint16_t written[SBX_MAX_INSNS], now = 0;

	memset(written, 0xff, sizeof written);
	for (size_t i = 0; i < count; i++) {
		const struct sbx_insn *insn = &insns[i];

		now &= written[i];
		switch (BPF_CLASS(insn->code)) {
		case BPF_ST:
		case BPF_STX:
			now |= (uint16_t)(1u << insn->k);
			break;
		case BPF_LD:
		case BPF_LDX:
			if (BPF_MODE(insn->code) == BPF_MEM &&
			    !(now >> insn->k & 1))
				return false;
			break;
		case BPF_JMP:
			if (BPF_OP(insn->code) == BPF_JA) {
				written[i + 1 + insn->k] &= now;
			} else {
				written[i + 1 + insn->jt] &= now;
				written[i + 1 + insn->jf] &= now;
			}
			now = 0xffff;
			break;
		}
	}
	return true;
}

bool
bpf_is_loadable(const struct sbx_insn *insns, size_t count)
{
	if (count == 0 || count > SBX_MAX_INSNS ||
	    BPF_CLASS(insns[count - 1].code) != BPF_RET)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!code_is_known(insns[i].code) ||
		    !constant_is_valid(&insns[i]) ||
		    !jump_is_valid(&insns[i], count - i - 1))
			return false;
	}
	return scratch_is_written(insns, count);
}

/* --- against the rules ---------------------------------------------------- */

static bool
call_matches(const struct filter *filter, const struct bpf_program *program,
    const struct syscall_data *data)
{
	return bpf_run_loaded(program->insns, data) ==
	    filter_verdict(filter, data);
}

static void
values_add(struct values *values, uint8_t arg, uint64_t value)
{
	size_t *count = &values->counts[arg];

	for (size_t i = 0; i < *count; i++) {
		if (values->items[arg][i] == value)
			return;
	}
	if (*count < VALUES_MAX)
		values->items[arg][(*count)++] = value;
}

static void
values_collect(struct values *values, const struct filter_entry *entry)
{
	for (uint8_t arg = 0; arg < 6; arg++) {
		values->counts[arg] = 0;
		values_add(values, arg, 0);
	}
	for (size_t i = 0; i < entry->clause_count; i++) {
		const struct filter_clause *clause = &entry->clauses[i];

		for (size_t j = 0; j < clause->test_count; j++) {
			const struct filter_test *test = &clause->tests[j];
			uint64_t value = test->value;

			values_add(values, test->arg, value);
			values_add(values, test->arg, value ^ 1);
			values_add(values, test->arg, value | 1ULL << 32);
			values_add(values, test->arg,
			    value | (uint32_t)~test->mask);
			values_add(values, test->arg, UINT64_MAX);
		}
	}
}

/* Counts through all combinations, like an odometer; false after the last. */
static bool
values_next(const struct values *values, size_t at[6])
{
	for (size_t arg = 0; arg < 6; arg++) {
		if (++at[arg] < values->counts[arg])
			return true;
		at[arg] = 0;
	}
	return false;
}

static bool
arguments_match(const struct filter *filter, const struct bpf_program *program,
    const struct filter_entry *entry, struct syscall_data *data)
{
	struct values values;
	size_t at[6] = { 0 };

	*data = (struct syscall_data){
		.audit = filter->arch->audit,
		.number = (int32_t)entry->number,
	};
	values_collect(&values, entry);
	do {
		for (size_t arg = 0; arg < 6; arg++)
			data->args[arg] = values.items[arg][at[arg]];
		if (!call_matches(filter, program, data))
			return false;
	} while (values_next(&values, at));
	return true;
}

/* Of another machine, whose calls all end alike, one in some is enough. */
static bool
numbers_match(const struct filter *filter, const struct bpf_program *program,
    uint32_t audit, struct syscall_data *data)
{
	static const int32_t corners[] = { -1, INT_MIN, INT_MAX, X32_BIT - 1 };

	const int32_t step = audit == filter->arch->audit ? 1 : FOREIGN_STEP;

	*data = (struct syscall_data){ .audit = audit };
	for (int32_t i = 0; i < NUMBERS_END; i += step) {
		data->number = i;
		if (!call_matches(filter, program, data))
			return false;
		data->number = X32_BIT | i;
		if (!call_matches(filter, program, data))
			return false;
	}
	for (size_t i = 0; i < countof(corners); i++) {
		data->number = corners[i];
		if (!call_matches(filter, program, data))
			return false;
	}
	return true;
}

bool
bpf_matches(const struct filter *filter, const struct bpf_program *program,
    struct syscall_data *witness)
{
	const uint32_t machines[] = { filter->arch->audit,
		filter->arch->compat_audit, filter->arch->audit ^ 1, 0 };

	memset(witness, 0, sizeof *witness);
	if (!bpf_is_loadable(program->insns, program->count))
		return false;
	for (size_t i = 0; i < countof(machines); i++) {
		if (!numbers_match(filter, program, machines[i], witness))
			return false;
	}
	for (size_t i = 0; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];

		if (entry->clause_count > 0 &&
		    !arguments_match(filter, program, entry, witness))
			return false;
	}
	return true;
}
