/*
 * From the rules for each number to instructions, with start-up cost in mind:
 * the kernel runs a program once for every number when it is installed, so the
 * shape of the way to a number is paid at each launch, while its verdicts on
 * numbers alone are cached and cost nothing afterwards.
 *
 *	ld  arch
 *	jeq native?          ; the 32-bit machine gets ENOSYS, others die
 *	ld  number
 *	jge / jeq ...        ; a tree over ranges of numbers that fare alike
 *	leaves               ; arguments are looked at only here, where the
 *	rets                 ; kernel's cache is of no use anyway
 *
 * Numbers are unsigned in the tree, so that its last range holds the numbers
 * that are too new, those of x32 (bit 30) and -1.
 *
 * Jumps go forward and no further than 255 instructions.  The program is
 * therefore written from its end: whatever an instruction leads to is there
 * already, and a place that has become too far away is first brought near, by
 * another copy of a ret or by a long jump.  A "place" below is an index in this
 * backward order.
 */
#include "compiler/base/base.h"
#include "compiler/lower/lower.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <stddef.h>
#include <string.h>

#define WORD_AT(field) offsetof(struct syscall_data, field)

enum {
	NEAR = 250, /* reach of a jump, less what may come between */
	/* Costs in the unit of one instruction emulated at install; measured,
	 * an instruction costs 113 ns to load and 2.2 ns to emulate. */
	INSN_COST = 52,
	CHAIN = 0, /* a split that is none, since none is before range 0 */
};

struct writer {
	struct arena *arena;
	struct sbx_insn *insns; /* the last of the program first */
	size_t count;
};

/* A clause while it is compiled: a bit for each test still unknown. */
struct pending {
	const struct filter_clause *clause;
	uint8_t unknown;
};

/* Numbers from `first` to the next range's that lead to one place. */
struct range {
	uint32_t first;
	uint32_t weight; /* how many of its numbers the kernel emulates */
	size_t place;
	bool lone; /* exactly one number */
};

/*
 * The cheapest tree for ranges i..j: a split before range `splits`, or a chain
 * of tests for its lone numbers, if all its wide ranges lead to one place.
 * Costs are there twice, so that a search reads both halves in their order.
 */
struct tree {
	struct writer *writer;
	VEC(struct range) ranges;
	uint32_t *splits;   /* [i * ranges.count + j] */
	uint32_t *by_first; /* costs, likewise */
	uint32_t *by_last;  /* [j * ranges.count + i] */
};

/* --- instructions --------------------------------------------------------- */

static bool
insn_equals(const struct sbx_insn *a, const struct sbx_insn *b)
{
	return a->code == b->code && a->jt == b->jt && a->jf == b->jf &&
	    a->k == b->k;
}

static size_t
write_insn(struct writer *writer, struct sbx_insn insn)
{
	if (writer->count == SBX_MAX_INSNS)
		bug("a filter of more than %d instructions", SBX_MAX_INSNS);
	writer->insns[writer->count] = insn;
	return writer->count++;
}

/* A ret with this action at place `from` or nearer. */
static size_t
write_ret(struct writer *writer, uint32_t action, size_t from)
{
	struct sbx_insn ret = { .code = BPF_RET | BPF_K, .k = action };

	for (size_t i = writer->count; i-- > from;) {
		if (insn_equals(&writer->insns[i], &ret))
			return i;
	}
	return write_insn(writer, ret);
}

/* A place from which the next instructions reach what stands at `place`. */
static size_t
write_near(struct writer *writer, size_t place)
{
	size_t distance = writer->count - place;

	if (distance <= NEAR)
		return place;
	if (BPF_CLASS(writer->insns[place].code) == BPF_RET)
		return write_ret(writer, writer->insns[place].k,
		    writer->count - NEAR);
	return write_insn(writer,
	    (struct sbx_insn){
		.code = BPF_JMP | BPF_JA,
		.k = (uint32_t)(distance - 1),
	    });
}

/* Writes a test of the accumulator, or finds the same test near enough to
 * share. */
static size_t
write_jump(struct writer *writer, uint16_t code, uint32_t k, size_t yes,
    size_t no)
{
	struct sbx_insn jump = { .code = code, .k = k };

	if (yes == no)
		return yes;
	yes = write_near(writer, yes);
	no = write_near(writer, no);
	for (size_t i = writer->count;
	     i-- > 0 && i > yes && i > no && i + NEAR > writer->count;) {
		jump.jt = (uint8_t)(i - yes - 1);
		jump.jf = (uint8_t)(i - no - 1);
		if (insn_equals(&writer->insns[i], &jump))
			return i;
	}
	jump.jt = (uint8_t)(writer->count - yes - 1);
	jump.jf = (uint8_t)(writer->count - no - 1);
	return write_insn(writer, jump);
}

/* Writes an instruction after which the one at `next` runs. */
static size_t
write_before(struct writer *writer, uint16_t code, uint32_t k, size_t next)
{
	struct sbx_insn insn = { .code = code, .k = k };

	if (next + 1 < writer->count &&
	    insn_equals(&writer->insns[next + 1], &insn))
		return next + 1;
	if (next + 1 < writer->count)
		write_insn(writer,
		    (struct sbx_insn){
			.code = BPF_JMP | BPF_JA,
			.k = (uint32_t)(writer->count - next - 1),
		    });
	return write_insn(writer, insn);
}

/* --- arguments ------------------------------------------------------------ */

/* What a fact (that `test` holds, or not) says about another test. */
enum knowledge { UNKNOWN, HOLDS, FAILS };

static enum knowledge
test_implies(const struct filter_test *fact, bool holds,
    const struct filter_test *test)
{
	if (test->arg != fact->arg)
		return UNKNOWN;
	if (!holds)
		return test->mask == fact->mask && test->value == fact->value ?
		    FAILS :
		    UNKNOWN;
	if ((test->mask & ~fact->mask) != 0)
		return UNKNOWN;
	return (fact->value & test->mask) == test->value ? HOLDS : FAILS;
}

/* Updates a clause for a fact; false if it cannot hold any more. */
static bool
pending_update(struct pending *pending, const struct filter_test *fact,
    bool holds)
{
	for (unsigned i = 0; i < pending->clause->test_count; i++) {
		switch (test_implies(fact, holds, &pending->clause->tests[i])) {
		case FAILS:
			return false;
		case HOLDS:
			pending->unknown &= (uint8_t) ~(1u << i);
			break;
		case UNKNOWN:
			break;
		}
	}
	return true;
}

/* The clauses that are left after a fact, as a new list. */
static struct pending *
pending_assume(struct arena *arena, const struct pending *list, size_t *count,
    const struct filter_test *fact, bool holds)
{
	struct pending *left = arena_alloc(arena, (*count + 1) * sizeof *left);
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		left[kept] = list[i];
		kept += pending_update(&left[kept], fact, holds);
	}
	*count = kept;
	return left;
}

/*
 * Code for a decision list: asks the first open question of the first clause
 * and goes on with what is left of the list under either answer.  `loaded` is
 * a test with the argument and mask that the accumulator holds, or NULL.
 */
static size_t
write_clauses(struct writer *writer, const struct pending *list, size_t count,
    uint32_t otherwise, const struct filter_test *loaded)
{
	const struct filter_test *test;
	const struct pending *rest;
	size_t yes, no, left = count;

	if (count == 0)
		return write_ret(writer, otherwise, 0);
	if (list->unknown == 0)
		return write_ret(writer, list->clause->action, 0);
	test = &list->clause->tests[__builtin_ctz(list->unknown)];
	if (loaded == NULL || loaded->arg != test->arg ||
	    loaded->mask != test->mask) {
		size_t next = write_clauses(writer, list, count, otherwise,
		    test);

		if (test->mask != UINT32_MAX)
			next = write_before(writer, BPF_ALU | BPF_AND | BPF_K,
			    test->mask, next);
		return write_before(writer, BPF_LD | BPF_W | BPF_ABS,
		    WORD_AT(args) + 8 * test->arg, next);
	}
	rest = pending_assume(writer->arena, list, &left, test, false);
	no = write_clauses(writer, rest, left, otherwise, loaded);
	left = count;
	rest = pending_assume(writer->arena, list, &left, test, true);
	yes = write_clauses(writer, rest, left, otherwise, loaded);
	return write_jump(writer, BPF_JMP | BPF_JEQ | BPF_K, test->value, yes,
	    no);
}

static size_t
write_entry(struct writer *writer, const struct filter_entry *entry)
{
	struct pending *list = arena_alloc(writer->arena,
	    (entry->clause_count + 1) * sizeof *list);

	for (size_t i = 0; i < entry->clause_count; i++) {
		list[i].clause = &entry->clauses[i];
		list[i].unknown =
		    (uint8_t)((1u << entry->clauses[i].test_count) - 1);
	}
	return write_clauses(writer, list, entry->clause_count, entry->action,
	    NULL);
}

/* --- numbers -------------------------------------------------------------- */

static void
tree_add(struct tree *tree, uint32_t first, size_t place)
{
	struct range *range;

	if (tree->ranges.count > 0 &&
	    tree->ranges.items[tree->ranges.count - 1].place == place)
		return;
	range = arena_push(tree->writer->arena, &tree->ranges);
	range->first = first;
	range->place = place;
}

/*
 * Writes what the numbers lead to, and collects the numbers into ranges.  Calls
 * that are decided by arguments come first, so that their code is farthest from
 * the tree and the rets lie between.
 */
static void
tree_fill(struct tree *tree, const struct filter *filter)
{
	struct writer *writer = tree->writer;
	size_t *places = arena_alloc(writer->arena,
	    filter->entry_count * sizeof *places);

	for (size_t i = 0; i < filter->entry_count; i++) {
		if (filter->entries[i].clause_count > 0)
			places[i] = write_entry(writer, &filter->entries[i]);
	}
	for (size_t i = 0; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];

		if (entry->clause_count == 0)
			places[i] = write_ret(writer, entry->action, 0);
		tree_add(tree, (uint32_t)i, places[i]);
	}
	tree_add(tree, filter->arch->number_limit,
	    write_ret(writer, FILTER_ERRNO | ENOSYS, 0));
	for (size_t i = 0; i + 1 < tree->ranges.count; i++) {
		struct range *range = &tree->ranges.items[i];

		range->weight = range[1].first - range->first;
		range->lone = range->weight == 1;
	}
	/* Few kernels have calls beyond our limit, and never many. */
	tree->ranges.items[tree->ranges.count - 1].weight = 1;
}

/* The place that all wide ranges of i..j lead to; SIZE_MAX if they lead to
 * several. */
static size_t
chain_place(const struct tree *tree, size_t i, size_t j)
{
	const struct range *ranges = tree->ranges.items;
	size_t place = SIZE_MAX;

	for (size_t k = i; k <= j; k++) {
		if (ranges[k].lone)
			continue;
		if (place != SIZE_MAX && place != ranges[k].place)
			return SIZE_MAX;
		place = ranges[k].place;
	}
	return place != SIZE_MAX ? place : ranges[j].place;
}

/* What a chain of equality tests for i..j costs; UINT32_MAX if there is none. */
static uint32_t
chain_cost(const struct tree *tree, size_t i, size_t j, uint32_t weight)
{
	size_t place = chain_place(tree, i, j);
	uint32_t tests = 0, steps = 0;

	if (place == SIZE_MAX)
		return UINT32_MAX;
	for (size_t k = i; k <= j; k++) {
		if (tree->ranges.items[k].place != place)
			steps += ++tests;
	}
	return tests * INSN_COST + steps + (weight - tests) * tests;
}

/*
 * The best tree for every run of ranges, short runs first: the classic
 * dynamic program for alphabetic trees, with the chain as one more way.
 */
static void
tree_plan_all(struct tree *tree)
{
	size_t count = tree->ranges.count, size = count * count;

	tree->splits = arena_alloc(tree->writer->arena, size * 4);
	tree->by_first = arena_alloc(tree->writer->arena, size * 4);
	tree->by_last = arena_alloc(tree->writer->arena, size * 4);
	for (size_t i = count; i-- > 0;) {
		uint32_t weight = tree->ranges.items[i].weight;
		uint32_t *left = tree->by_first + i * count;
		uint32_t chain = 0;

		for (size_t j = i + 1; j < count; j++) {
			uint32_t *right = tree->by_last + j * count;
			uint32_t least = UINT32_MAX;
			size_t split = CHAIN;

			weight += tree->ranges.items[j].weight;
			for (size_t k = i + 1; k <= j; k++) {
				if (left[k - 1] + right[k] < least) {
					least = left[k - 1] + right[k];
					split = k;
				}
			}
			least += INSN_COST + weight;
			/* Where none reaches, none reaches further. */
			if (chain != UINT32_MAX)
				chain = chain_cost(tree, i, j, weight);
			if (chain <= least) {
				least = chain;
				split = CHAIN;
			}
			left[j] = right[i] = least;
			tree->splits[i * count + j] = (uint32_t)split;
		}
	}
}

static size_t
write_chain(struct tree *tree, size_t i, size_t j)
{
	size_t otherwise = chain_place(tree, i, j), next = otherwise;

	for (size_t k = j + 1; k-- > i;) {
		const struct range *range = &tree->ranges.items[k];

		if (range->place != otherwise)
			next = write_jump(tree->writer,
			    BPF_JMP | BPF_JEQ | BPF_K, range->first,
			    range->place, next);
	}
	return next;
}

static size_t
write_tree(struct tree *tree, size_t i, size_t j)
{
	size_t split = tree->splits[i * tree->ranges.count + j], yes, no;

	if (split == CHAIN)
		return write_chain(tree, i, j);
	yes = write_tree(tree, split, j);
	no = write_tree(tree, i, split - 1);
	return write_jump(tree->writer, BPF_JMP | BPF_JGE | BPF_K,
	    tree->ranges.items[split].first, yes, no);
}

/* --- the whole ------------------------------------------------------------ */

static void
write_program(struct writer *writer, const struct filter *filter)
{
	struct tree tree = { .writer = writer };
	size_t native, foreign;

	tree_fill(&tree, filter);
	tree_plan_all(&tree);
	native = write_before(writer, BPF_LD | BPF_W | BPF_ABS, WORD_AT(number),
	    write_tree(&tree, 0, tree.ranges.count - 1));
	foreign = write_jump(writer, BPF_JMP | BPF_JEQ | BPF_K,
	    filter->arch->compat_audit,
	    write_ret(writer, FILTER_ERRNO | ENOSYS, 0),
	    write_ret(writer, (uint32_t)FILTER_KILL, 0));
	native = write_jump(writer, BPF_JMP | BPF_JEQ | BPF_K,
	    filter->arch->audit, native, foreign);
	write_before(writer, BPF_LD | BPF_W | BPF_ABS, WORD_AT(audit), native);
}

struct bpf_program
bpf_emit(struct arena *arena, const struct filter *filter)
{
	struct writer writer = { .arena = arena_new() };
	struct bpf_program program;
	struct syscall_data call;

	writer.insns = arena_alloc(writer.arena,
	    SBX_MAX_INSNS * sizeof *writer.insns);
	write_program(&writer, filter);
	program.count = writer.count;
	program.insns = arena_alloc(arena,
	    program.count * sizeof *program.insns);
	for (size_t i = 0; i < program.count; i++)
		program.insns[i] = writer.insns[program.count - 1 - i];
	arena_release(writer.arena);
	if (!bpf_matches(filter, &program, &call))
		bug("the filter for %s differs from its rules for call %" PRId32
		    " of machine %#" PRIx32,
		    filter->arch->name, call.number, call.audit);
	return program;
}

static void
print_insn(FILE *stream, size_t at, const struct sbx_insn *insn)
{
	static const char *const jumps[] = {
		[BPF_JEQ >> 4] = "jeq",
		[BPF_JGT >> 4] = "jgt",
		[BPF_JGE >> 4] = "jge",
		[BPF_JSET >> 4] = "jset",
	};

	switch (insn->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		fprintf(stream, "ld   [%" PRIu32 "]", insn->k);
		break;
	case BPF_ALU | BPF_AND | BPF_K:
		fprintf(stream, "and  #%#" PRIx32, insn->k);
		break;
	case BPF_RET | BPF_K:
		fprintf(stream, "ret  #%#" PRIx32, insn->k);
		break;
	case BPF_JMP | BPF_JA:
		fprintf(stream, "ja   %zu", at + 1 + insn->k);
		break;
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_K:
		fprintf(stream, "%-4s #%#" PRIx32 ", %zu, %zu",
		    jumps[BPF_OP(insn->code) >> 4], insn->k, at + 1 + insn->jt,
		    at + 1 + insn->jf);
		break;
	default:
		fprintf(stream, "code %#x, %u, %u, %#" PRIx32, insn->code,
		    insn->jt, insn->jf, insn->k);
	}
}

void
bpf_print(FILE *stream, const struct sbx_insn *insns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fprintf(stream, "%4zu: ", i);
		print_insn(stream, i, &insns[i]);
		fputc('\n', stream);
	}
}
