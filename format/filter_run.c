/*
 * See blob.h.  The codes are those of the kernel's linux/filter.h, which
 * not every libc has.
 */
#include "format/blob.h"

#define BPF_CLASS(code) ((code)&0x07)
#define BPF_MODE(code) ((code)&0xe0)
#define BPF_OP(code) ((code)&0xf0)
#define BPF_SRC(code) ((code)&0x08)
#define BPF_RVAL(code) ((code)&0x18)
#define BPF_MISCOP(code) ((code)&0xf8)

enum { BPF_LD, BPF_LDX, BPF_ST, BPF_STX, BPF_ALU, BPF_JMP, BPF_RET, BPF_MISC };
enum { BPF_ABS = 0x20, BPF_MEM = 0x60, BPF_LEN = 0x80 };
enum {
	BPF_ADD = 0x00,
	BPF_SUB = 0x10,
	BPF_MUL = 0x20,
	BPF_DIV = 0x30,
	BPF_OR = 0x40,
	BPF_AND = 0x50,
	BPF_LSH = 0x60,
	BPF_RSH = 0x70,
	BPF_XOR = 0xa0,
};
enum { BPF_JA = 0x00, BPF_JEQ = 0x10, BPF_JGT = 0x20, BPF_JGE = 0x30 };
enum { BPF_X = 0x08, BPF_A = 0x10, BPF_TAX = 0x00 };

enum {
	SCRATCH_WORDS = 16, /* BPF_MEMWORDS */
	DATA_SIZE = sizeof(struct syscall_data),
};
_Static_assert(DATA_SIZE == 64, "struct seccomp_data");

struct machine {
	uint32_t a, x, scratch[SCRATCH_WORDS];
	uint32_t data[DATA_SIZE / 4];
};

static bool
jump_is_taken(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return (a & b) != 0; /* BPF_JSET */
	}
}

/* Shifts count modulo 32, as the kernel's translation to eBPF makes them. */
static uint32_t
alu_result(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		/* By 0 is refused before it comes to this. */
		return b != 0 ? a / b : 0;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	default:
		return -a; /* BPF_NEG */
	}
}

static uint32_t
load_result(const struct machine *machine, const struct sbx_insn *insn)
{
	switch (BPF_MODE(insn->code)) {
	case BPF_ABS:
		return machine->data[insn->k / 4];
	case BPF_MEM:
		return machine->scratch[insn->k];
	case BPF_LEN:
		return DATA_SIZE;
	default:
		return insn->k; /* BPF_IMM */
	}
}

/* The kernel's translation ends the program with 0 instead of dividing. */
static bool
is_division_by_zero(const struct machine *machine, uint16_t code)
{
	return code == (BPF_ALU | BPF_DIV | BPF_X) && machine->x == 0;
}

/* Runs one instruction that neither jumps nor returns. */
static void
machine_step(struct machine *machine, const struct sbx_insn *insn)
{
	uint32_t operand = BPF_SRC(insn->code) == BPF_X ? machine->x : insn->k;

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		machine->a = load_result(machine, insn);
		break;
	case BPF_LDX:
		machine->x = load_result(machine, insn);
		break;
	case BPF_ST:
		machine->scratch[insn->k] = machine->a;
		break;
	case BPF_STX:
		machine->scratch[insn->k] = machine->x;
		break;
	case BPF_ALU:
		machine->a = alu_result(insn->code, machine->a, operand);
		break;
	case BPF_MISC:
		if (BPF_MISCOP(insn->code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
		break;
	}
}

/* How many instructions a jump leaves out. */
static uint32_t
jump_distance(const struct machine *machine, const struct sbx_insn *insn)
{
	uint32_t operand = BPF_SRC(insn->code) == BPF_X ? machine->x : insn->k;

	if (BPF_OP(insn->code) == BPF_JA)
		return insn->k;
	return jump_is_taken(insn->code, machine->a, operand) ? insn->jt :
								insn->jf;
}

uint32_t
bpf_run_counted(const struct sbx_insn *insns, const struct syscall_data *data,
    size_t *steps)
{
	struct machine machine = { 0 };

	__builtin_memcpy(machine.data, data, sizeof machine.data);
	for (*steps = 1;; insns++, ++*steps) {
		switch (BPF_CLASS(insns->code)) {
		case BPF_RET:
			return BPF_RVAL(insns->code) == BPF_A ? machine.a :
								insns->k;
		case BPF_JMP:
			insns += jump_distance(&machine, insns);
			break;
		default:
			if (is_division_by_zero(&machine, insns->code))
				return 0;
			machine_step(&machine, insns);
		}
	}
}

uint32_t
bpf_run_loaded(const struct sbx_insn *insns, const struct syscall_data *data)
{
	size_t steps;

	return bpf_run_counted(insns, data, &steps);
}

bool
bpf_is_runnable(const struct sbx_insn *insns, size_t count)
{
	if (count == 0 || count > SBX_MAX_INSNS ||
	    BPF_CLASS(insns[count - 1].code) != BPF_RET)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct sbx_insn *insn = &insns[i];
		size_t left = count - i - 1;

		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
		case BPF_LDX:
			if ((BPF_MODE(insn->code) == BPF_ABS &&
				(insn->k >= DATA_SIZE || insn->k % 4 != 0)) ||
			    (BPF_MODE(insn->code) == BPF_MEM &&
				insn->k >= SCRATCH_WORDS))
				return false;
			break;
		case BPF_ST:
		case BPF_STX:
			if (insn->k >= SCRATCH_WORDS)
				return false;
			break;
		case BPF_ALU:
			if (BPF_OP(insn->code) == BPF_DIV &&
			    BPF_SRC(insn->code) != BPF_X && insn->k == 0)
				return false;
			break;
		case BPF_JMP:
			if (BPF_OP(insn->code) == BPF_JA ?
				insn->k >= left :
				insn->jt >= left || insn->jf >= left)
				return false;
			break;
		}
	}
	return true;
}
