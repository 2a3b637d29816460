/*
 * The simulator against the kernel, and the writer of programs against the
 * rules: shapes that no policy has yet (hundreds of ranges, thousands of
 * clauses), and programs broken on purpose, which must be found out.
 */
#include "compiler/lower/lower.h"
#include "tests/lib/ask_kernel.h"
#include "tests/lib/tap.h"

#include <linux/audit.h>

enum {
	PROGRAMS = 300,
	PROGRAM_MAX = 24,
	/* Distance of denied numbers: a border may move by less unnoticed. */
	DENIED_EACH = 11,
};

/* A small generator: the same numbers everywhere. */
static uint32_t
random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* --- what the kernel loads ------------------------------------------------ */

/* Tries to install; what was installed lets everything pass. */
static bool
kernel_loads(const struct sbx_insn *insns, size_t count)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(kernel_install(insns, count) ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0;
}

/* Every opcode, with constants at the edges; in one child per outcome. */
static void
test_codes(struct tap *tap)
{
	static const uint32_t constants[] = { 0, 1, 4, 15, 16, 31, 32, 60, 64 };
	size_t tried = 0, loaded = 0;

	for (uint32_t code = 0; code <= 0x1ff; code++) {
		for (size_t i = 0; i < countof(constants); i++) {
			struct sbx_insn insns[] = {
				{ .code = BPF_LDX | BPF_IMM, .k = 1 },
				{ .code = BPF_ST, .k = 15 },
				{ .code = (uint16_t)code, .k = constants[i] },
				{ .code = BPF_RET | BPF_K, .k = FILTER_ALLOW },
			};
			bool ours = bpf_is_loadable(insns, countof(insns));

			/* A verdict of its own would kill the child. */
			if (BPF_CLASS(code) == BPF_RET)
				continue;
			tried++;
			loaded += ours;
			if (ours != kernel_loads(insns, countof(insns))) {
				tap_ok(tap, false, "loading code %#x with %u",
				    code, constants[i]);
				return;
			}
		}
	}
	tap_ok(tap, loaded > 100 && tried > 4 * loaded,
	    "%zu instructions load as in the kernel, %zu of them do", tried,
	    loaded);
}

static void
test_shapes(struct tap *tap)
{
	struct sbx_insn allow = { .code = BPF_RET | BPF_K, .k = FILTER_ALLOW };
	struct sbx_insn load = { .code = BPF_LD | BPF_W | BPF_ABS };
	struct sbx_insn read = { .code = BPF_LD | BPF_MEM, .k = 3 };
	struct sbx_insn store = { .code = BPF_ST, .k = 3 };
	struct sbx_insn skip = { .code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 1 };
	struct sbx_insn far = { .code = BPF_JMP | BPF_JA, .k = 1 };
	const struct {
		const char *name;
		struct sbx_insn insns[4];
		size_t count;
	} cases[] = {
		{ "nothing", { allow }, 0 },
		{ "a ret", { allow }, 1 },
		{ "no ret", { load }, 1 },
		{ "a jump past the end", { skip, allow }, 2 },
		{ "a long jump past the end", { far, allow }, 2 },
		{ "a jump to the end", { skip, load, allow }, 3 },
		{ "scratch unwritten", { read, allow }, 2 },
		{ "scratch written", { store, read, allow }, 3 },
		{ "scratch written on one way", { skip, store, read, allow },
		    4 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		bool ours = bpf_is_loadable(cases[i].insns, cases[i].count);

		tap_ok(tap,
		    ours == kernel_loads(cases[i].insns, cases[i].count),
		    "%s: %s", cases[i].name, ours ? "loads" : "does not load");
	}
}

/* The loader runs programs of a blob that it has not compiled: any bytes that are
 * runnable come to an end, and what the kernel loads is runnable. */
static void
test_runnable(struct tap *tap)
{
	enum { TRIES = 200000, LEN = 12 };
	static const struct syscall_data data = { .number = 1 };
	uint64_t state = 2;
	size_t ran = 0;

	for (size_t i = 0; i < TRIES; i++) {
		struct sbx_insn insns[LEN];

		for (size_t j = 0; j < LEN; j++) {
			uint32_t bits = random_next(&state);

			insns[j] = (struct sbx_insn){
				.code = (uint16_t)(bits & 0xff),
				.jt = (uint8_t)(bits >> 8 & 7),
				.jf = (uint8_t)(bits >> 16 & 7),
				.k = random_next(&state) >> (bits >> 24 & 31),
			};
		}
		insns[LEN - 1].code = BPF_RET | BPF_K;
		if (bpf_is_runnable(insns, LEN)) {
			bpf_run_loaded(insns, &data);
			ran++;
		} else if (bpf_is_loadable(insns, LEN)) {
			tap_ok(tap, false, "a program loads and cannot be run");
			return;
		}
	}
	tap_ok(tap, ran > TRIES / 1000, "%zu random programs end", ran);
}

/* Each bound of what can be run, from both sides: an instruction, a ret and
 * what comes of it. */
static void
test_bounds(struct tap *tap)
{
	static const struct {
		struct sbx_insn insn;
		bool runs;
	} cases[] = {
		{ { .code = BPF_LD | BPF_W | BPF_ABS, .k = 60 }, true },
		{ { .code = BPF_LD | BPF_W | BPF_ABS, .k = 64 }, false },
		{ { .code = BPF_LD | BPF_W | BPF_ABS, .k = 58 }, false },
		{ { .code = BPF_LD | BPF_MEM, .k = 15 }, true },
		{ { .code = BPF_LD | BPF_MEM, .k = 16 }, false },
		{ { .code = BPF_LDX | BPF_MEM, .k = 15 }, true },
		{ { .code = BPF_LDX | BPF_MEM, .k = 16 }, false },
		{ { .code = BPF_ST, .k = 15 }, true },
		{ { .code = BPF_ST, .k = 16 }, false },
		{ { .code = BPF_STX, .k = 15 }, true },
		{ { .code = BPF_STX, .k = 16 }, false },
		{ { .code = BPF_ALU | BPF_DIV | BPF_K, .k = 1 }, true },
		{ { .code = BPF_ALU | BPF_DIV | BPF_K, .k = 0 }, false },
		{ { .code = BPF_ALU | BPF_DIV | BPF_X, .k = 0 }, true },
		{ { .code = BPF_ALU | BPF_ADD | BPF_K, .k = 0 }, true },
		{ { .code = BPF_JMP | BPF_JA, .k = 0 }, true },
		{ { .code = BPF_JMP | BPF_JA, .k = 1 }, false },
		{ { .code = BPF_JMP | BPF_JA, .jt = 1, .jf = 1 }, true },
		{ { .code = BPF_JMP | BPF_JEQ | BPF_K, .k = 1 }, true },
		{ { .code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 1 }, false },
		{ { .code = BPF_JMP | BPF_JEQ | BPF_K, .jf = 1 }, false },
	};
	static struct sbx_insn many[SBX_MAX_INSNS + 1];

	for (size_t i = 0; i < countof(cases); i++) {
		struct sbx_insn insns[] = {
			cases[i].insn,
			{ .code = BPF_RET | BPF_K, .k = FILTER_ALLOW },
		};

		tap_ok(tap, bpf_is_runnable(insns, 2) == cases[i].runs,
		    "code %#x, constant %u, jumps %u and %u: %s",
		    cases[i].insn.code, cases[i].insn.k, cases[i].insn.jt,
		    cases[i].insn.jf, cases[i].runs ? "runs" : "does not run");
		tap_ok(tap, !bpf_is_runnable(insns, 1), "not without a ret");
	}
	for (size_t i = 0; i < countof(many); i++)
		many[i].code = BPF_RET | BPF_K;
	tap_ok(tap, !bpf_is_runnable(many, 0), "nothing cannot be run");
	tap_ok(tap, bpf_is_runnable(many, SBX_MAX_INSNS), "the longest can");
	tap_ok(tap, !bpf_is_runnable(many, countof(many)), "a longer cannot");
}

/* --- what they do --------------------------------------------------------- */

/* An instruction for a random program; the last three make it answer. */
static struct sbx_insn
random_insn(uint64_t *state, size_t left)
{
	static const uint16_t codes[] = {
		BPF_LD | BPF_W | BPF_ABS,
		BPF_LD | BPF_IMM,
		BPF_LDX | BPF_IMM,
		BPF_LD | BPF_W | BPF_LEN,
		BPF_LDX | BPF_W | BPF_LEN,
		BPF_LD | BPF_MEM,
		BPF_LDX | BPF_MEM,
		BPF_ST,
		BPF_STX,
		BPF_MISC | BPF_TAX,
		BPF_MISC | BPF_TXA,
		BPF_ALU | BPF_NEG,
		BPF_ALU | BPF_ADD,
		BPF_ALU | BPF_SUB,
		BPF_ALU | BPF_MUL,
		BPF_ALU | BPF_DIV,
		BPF_ALU | BPF_AND,
		BPF_ALU | BPF_OR,
		BPF_ALU | BPF_XOR,
		BPF_ALU | BPF_LSH,
		BPF_ALU | BPF_RSH,
		BPF_JMP | BPF_JEQ,
		BPF_JMP | BPF_JGT,
		BPF_JMP | BPF_JGE,
		BPF_JMP | BPF_JSET,
		BPF_JMP | BPF_JA,
	};
	struct sbx_insn insn = { .k = random_next(state) };

	insn.code = codes[random_next(state) % countof(codes)];
	if (BPF_CLASS(insn.code) == BPF_JMP) {
		insn.jt = (uint8_t)(random_next(state) % left);
		insn.jf = (uint8_t)(random_next(state) % left);
		if (BPF_OP(insn.code) == BPF_JA)
			insn.k %= (uint32_t)left;
		else if (random_next(state) % 2)
			insn.code |= BPF_X;
	} else if (BPF_CLASS(insn.code) == BPF_ALU &&
	    BPF_OP(insn.code) != BPF_NEG) {
		insn.code |= random_next(state) % 2 ? BPF_X : BPF_K;
		insn.k = insn.k % 31 + 1;
	} else if (insn.code == (BPF_LD | BPF_W | BPF_ABS)) {
		insn.k = insn.k % 2 ? 0 : 16 + insn.k % 12 * 4;
	} else if (insn.code != (BPF_LD | BPF_IMM) &&
	    insn.code != (BPF_LDX | BPF_IMM)) {
		insn.k %= BPF_MEMWORDS;
	}
	return insn;
}

/* A program that ends with an errno made of what it computed. */
static size_t
random_program(uint64_t *state, struct sbx_insn *insns)
{
	size_t count = 6 + random_next(state) % (PROGRAM_MAX - 12);

	do {
		for (size_t i = 0; i < count; i++)
			insns[i] = random_insn(state, count - i);
		insns[count] = (struct sbx_insn){ BPF_ALU | BPF_AND | BPF_K, 0,
			0, 0x7ff };
		insns[count + 1] = (struct sbx_insn){ BPF_ALU | BPF_ADD | BPF_K,
			0, 0, FILTER_ERRNO + KERNEL_ERRNO + 1 };
		insns[count + 2] = (struct sbx_insn){ .code = BPF_RET | BPF_A };
	} while (!bpf_is_loadable(insns, count + 3));
	return count + 3;
}

static void
test_programs(struct tap *tap)
{
	uint64_t state = 1;
	size_t differ = 0, distinct = 0;

	for (size_t i = 0; i < PROGRAMS; i++) {
		struct sbx_insn insns[PROGRAM_MAX];
		struct bpf_program program = { insns,
			random_program(&state, insns) };
		struct syscall_data call = { .number = (int32_t)i,
			.audit = KERNEL_AUDIT };
		uint32_t kernel = 0, ours;

		for (size_t j = 0; j < 6; j++)
			call.args[j] = (uint64_t)random_next(&state) << 32 |
			    random_next(&state) >> random_next(&state) % 32;
		ours = bpf_run_loaded(insns, &call);
		/* A division by zero answers 0, which kills. */
		ours = ours == 0 ? (uint32_t)FILTER_KILL : ours - KERNEL_ERRNO;
		if (!kernel_verdicts(&program, &call, 1, &kernel))
			differ++;
		differ += ours != kernel;
		distinct += ours != FILTER_ERRNO + 1;
		if (ours != kernel)
			printf("# program %zu: %#x, kernel %#x\n", i, ours,
			    kernel);
	}
	tap_ok(tap, differ == 0 && distinct > PROGRAMS / 3,
	    "%d random programs answer as in the kernel", PROGRAMS);
}

/* --- the writer ----------------------------------------------------------- */

static struct filter
filter_new(struct arena *arena)
{
	struct filter filter = {
		.arch = &arches[0],
		.entry_count = arches[0].number_limit,
	};

	filter.entries = arena_alloc(arena,
	    filter.entry_count * sizeof *filter.entries);
	for (size_t i = 0; i < filter.entry_count; i++) {
		filter.entries[i].number = (uint32_t)i;
		filter.entries[i].action = FILTER_ALLOW;
	}
	return filter;
}

static void
add_values(struct arena *arena, struct filter_entry *entry, uint8_t arg,
    uint32_t count, uint32_t action)
{
	struct filter_clause *clauses = arena_alloc(arena,
	    count * sizeof *clauses);

	for (uint32_t i = 0; i < count; i++) {
		clauses[i].tests[0] = (struct filter_test){ arg, UINT32_MAX,
			i * 7 };
		clauses[i].test_count = 1;
		clauses[i].action = action;
	}
	entry->clauses = clauses;
	entry->clause_count = count;
}

/* Clauses that overlap, with masks inside masks and several actions. */
static void
add_random(struct arena *arena, struct filter_entry *entry, uint64_t *state)
{
	static const uint32_t masks[] = { UINT32_MAX, 0xf, 0x3, 0xff0, 0x8000 };
	size_t count = 1 + random_next(state) % 6;
	struct filter_clause *clauses = arena_alloc(arena,
	    count * sizeof *clauses);

	for (size_t i = 0; i < count; i++) {
		clauses[i].test_count = (uint8_t)(random_next(state) % 4);
		clauses[i].action = random_next(state) % 2 ?
		    FILTER_ALLOW :
		    FILTER_ERRNO + 1 + random_next(state) % 3;
		for (size_t j = 0; j < clauses[i].test_count; j++) {
			struct filter_test *test = &clauses[i].tests[j];

			test->arg = (uint8_t)(random_next(state) % 3);
			test->mask = masks[random_next(state) % countof(masks)];
			test->value = random_next(state) % 4 & test->mask;
		}
	}
	entry->clauses = clauses;
	entry->clause_count = count;
	entry->action = random_next(state) % 2 ? FILTER_ALLOW :
						 FILTER_ERRNO + 1;
}

/* bpf_emit() compares by itself and would not return. */
static struct bpf_program
emitted(struct tap *tap, struct arena *arena, const struct filter *filter,
    const char *name)
{
	struct bpf_program program = bpf_emit(arena, filter);
	struct syscall_data call;

	tap_ok(tap,
	    bpf_matches(filter, &program, &call) &&
		bpf_is_loadable(program.insns, program.count),
	    "%s: %zu instructions", name, program.count);
	return program;
}

static void
test_writer(struct tap *tap, struct arena *arena)
{
	struct filter filter = filter_new(arena);
	struct bpf_program program, again;
	uint64_t state = 7;

	program = emitted(tap, arena, &filter, "all allowed");
	tap_ok(tap, program.count <= 8, "which takes few");

	for (size_t i = 0; i < filter.entry_count; i++)
		filter.entries[i].action = FILTER_ERRNO | (i % 200 + 1);
	emitted(tap, arena, &filter, "an errno for each number");
	for (size_t i = 0; i < filter.entry_count; i++)
		filter.entries[i].action = i % 2 ? FILTER_ERRNO | 1 :
						   FILTER_ALLOW;
	emitted(tap, arena, &filter, "every other number denied");

	filter = filter_new(arena);
	add_values(arena, &filter.entries[3], 1, 400, FILTER_ERRNO | 1);
	add_values(arena, &filter.entries[300], 0, 300, FILTER_ERRNO | 2);
	program = emitted(tap, arena, &filter, "700 values");
	tap_ok(tap, program.count < 760, "with one test each");
	again = bpf_emit(arena, &filter);
	tap_ok(tap,
	    again.count == program.count &&
		memcmp(again.insns, program.insns,
		    again.count * sizeof *again.insns) == 0,
	    "the same rules give the same bytes");

	filter = filter_new(arena);
	add_values(arena, &filter.entries[3], 1, 5, FILTER_ERRNO | 1);
	program = emitted(tap, arena, &filter, "one call");
	filter.entries[60] = filter.entries[3];
	filter.entries[60].number = 60;
	again = emitted(tap, arena, &filter, "two calls that fare alike");
	tap_ok(tap, again.count <= program.count + 2, "share their code");

	for (size_t i = 0; i < filter.entry_count; i += 5)
		add_random(arena, &filter.entries[i], &state);
	emitted(tap, arena, &filter, "clauses that overlap");
}

/* The kernel's cache of verdicts on numbers reads only these. */
static bool
cache_reads(const struct sbx_insn *insn)
{
	switch (insn->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return insn->k < 8;
	case BPF_JMP | BPF_JA:
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_K:
	case BPF_ALU | BPF_AND | BPF_K:
	case BPF_RET | BPF_K:
		return true;
	default:
		return false;
	}
}

/* Runs every prefix that the number's way takes, one step at a time. */
static bool
number_is_cacheable(const struct bpf_program *program, int32_t number)
{
	uint32_t a = 0;

	for (size_t pc = 0;; pc++) {
		const struct sbx_insn *insn = &program->insns[pc];

		if (!cache_reads(insn))
			return false;
		if (insn->code == (BPF_RET | BPF_K))
			return true;
		if (insn->code == (BPF_LD | BPF_W | BPF_ABS))
			a = insn->k == 0 ? (uint32_t)number : arches[0].audit;
		else if (insn->code == (BPF_JMP | BPF_JA))
			pc += insn->k;
		else if (BPF_OP(insn->code) == BPF_JEQ)
			pc += a == insn->k ? insn->jt : insn->jf;
		else
			pc += a >= insn->k ? insn->jt : insn->jf;
	}
}

static void
test_cache(struct tap *tap, struct arena *arena)
{
	struct filter filter = filter_new(arena);
	struct bpf_program program;
	size_t wrong = 0;

	for (size_t i = 0; i < filter.entry_count; i += 3)
		filter.entries[i].action = FILTER_ERRNO | (i % 5 + 1);
	add_values(arena, &filter.entries[100], 2, 300, FILTER_ERRNO | 9);
	add_values(arena, &filter.entries[101], 1, 3, FILTER_ERRNO | 9);
	program = bpf_emit(arena, &filter);
	for (size_t i = 0; i < filter.entry_count; i++)
		wrong += number_is_cacheable(&program, (int32_t)i) !=
		    (filter.entries[i].clause_count == 0);
	tap_ok(tap, wrong == 0, "arguments are loaded only where they decide");
}

/* --- programs that are wrong ---------------------------------------------- */

/* Whether a change of one instruction is found out. */
static bool
mutant_is_found(const struct filter *filter, struct bpf_program *program,
    size_t at, struct sbx_insn insn)
{
	struct sbx_insn saved = program->insns[at];
	struct syscall_data call;
	bool found;

	if (memcmp(&saved, &insn, sizeof insn) == 0)
		return true;
	program->insns[at] = insn;
	found = !bpf_matches(filter, program, &call);
	program->insns[at] = saved;
	return found;
}

static size_t
mutants_missed(const struct filter *filter, struct bpf_program *program)
{
	size_t missed = 0;

	for (size_t i = 0; i < program->count; i++) {
		struct sbx_insn insn = program->insns[i];

		insn.k += DENIED_EACH;
		missed += !mutant_is_found(filter, program, i, insn);
		insn.k -= 2 * DENIED_EACH;
		missed += !mutant_is_found(filter, program, i, insn);
		if (BPF_CLASS(insn.code) != BPF_JMP)
			continue;
		insn = program->insns[i];
		insn.jt = program->insns[i].jf;
		insn.jf = program->insns[i].jt;
		missed += !mutant_is_found(filter, program, i, insn);
		insn = program->insns[i];
		insn.jt++;
		missed += !mutant_is_found(filter, program, i, insn);
		insn.jt--;
		insn.jf++;
		missed += !mutant_is_found(filter, program, i, insn);
	}
	return missed;
}

static void
test_mutants(struct tap *tap, struct arena *arena)
{
	struct filter filter = filter_new(arena);
	struct bpf_program program;
	size_t missed;

	for (size_t i = 0; i < filter.entry_count; i += DENIED_EACH)
		filter.entries[i].action = FILTER_ERRNO | (i % 3 + 1);
	add_values(arena, &filter.entries[41], 0, 4, FILTER_ERRNO | 9);
	add_values(arena, &filter.entries[16], 1, 2, FILTER_ERRNO | 7);
	program = bpf_emit(arena, &filter);
	missed = mutants_missed(&filter, &program);
	tap_ok(tap, missed == 0,
	    "programs broken in one place are found out, %zu are not", missed);
}

int
main(void)
{
	struct tap tap = { 0, 0 };
	struct arena *arena = arena_new();

	test_codes(&tap);
	test_shapes(&tap);
	test_runnable(&tap);
	test_bounds(&tap);
	test_programs(&tap);
	test_writer(&tap, arena);
	test_cache(&tap, arena);
	test_mutants(&tap, arena);
	arena_release(arena);
	return tap_done(&tap);
}
