/*
 * libseccomp as the oracle: the same rules, built with it, must give the same
 * verdicts as ours for every number, and for every argument that some test
 * looks at.
 *
 * Two things it cannot say, and how that is met.  It has no lists of which the
 * first rule that holds decides; so for a call that arguments decide, it says of
 * each rule alone whether that holds.  And "every number without a name" does
 * not exist for it, so there and for calls younger than the library this test
 * asks for the errno itself.
 *
 * Includes <seccomp.h> besides compiler/tables/syscalls.c, which is the point.
 */
#include "compiler/lower/lower.h"
#include "tests/lib/samples.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NUMBERS_END = 1100, VALUES_MAX = 320 };

struct oracle {
	const struct filter *filter;
	const struct bpf_program *ours;
	struct bpf_program theirs;
	size_t compared, different;
};

static uint32_t
library_action(uint32_t action)
{
	if (action == FILTER_ALLOW)
		return SCMP_ACT_ALLOW;
	if (action == FILTER_NOTIFY)
		return SCMP_ACT_NOTIFY;
	return SCMP_ACT_ERRNO(action & 0xffff);
}

/* A context for one machine only; ends the test when it cannot be had. */
static scmp_filter_ctx
context_new(const struct arch *arch, uint32_t otherwise)
{
	scmp_filter_ctx context = seccomp_init(library_action(otherwise));

	if (context == NULL ||
	    seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH,
		SCMP_ACT_KILL_PROCESS) != 0 ||
	    seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0)
		abort();
	if (seccomp_arch_native() != arch->scmp &&
	    (seccomp_arch_add(context, arch->scmp) != 0 ||
		seccomp_arch_remove(context, seccomp_arch_native()) != 0))
		abort();
	return context;
}

static struct bpf_program
context_export(scmp_filter_ctx context, struct arena *arena)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct bpf_program program;
	off_t size;

	if (fd < 0 || seccomp_export_bpf(context, fd) != 0)
		abort();
	size = lseek(fd, 0, SEEK_END);
	program.count = (size_t)size / sizeof *program.insns;
	program.insns = arena_alloc(arena, (size_t)size);
	if (pread(fd, program.insns, (size_t)size, 0) != size ||
	    !bpf_is_loadable(program.insns, program.count))
		abort();
	close(fd);
	seccomp_release(context);
	return program;
}

static void
compare(struct oracle *oracle, const struct syscall_data *data,
    uint32_t expected)
{
	uint32_t ours = bpf_run_loaded(oracle->ours->insns, data);

	oracle->compared++;
	if (ours == expected)
		return;
	oracle->different++;
	printf("# call %d of machine %#x (%#lx, %#lx, %#lx): %#x, not %#x\n",
	    data->number, data->audit, (unsigned long)data->args[0],
	    (unsigned long)data->args[1], (unsigned long)data->args[2], ours,
	    expected);
}

/* --- numbers -------------------------------------------------------------- */

/* Whatever the machine, the library wants a number of the host's: it goes from
 * there to the name and to the machine's number.  -1: it knows no such name. */
static int
library_number(const struct filter_entry *entry)
{
	return entry->name == NULL ? __NR_SCMP_ERROR :
				     seccomp_syscall_resolve_name(entry->name);
}

/* What a number gets that the library has no name for. */
static uint32_t
nameless_verdict(const struct filter *filter, int number)
{
	const struct filter_entry *entry;

	if ((uint32_t)number >= filter->entry_count)
		return FILTER_ERRNO | ENOSYS;
	entry = &filter->entries[number];
	return entry->name == NULL ? FILTER_ERRNO | ENOSYS : entry->action;
}

/* What the library has for the calls that no argument decides. */
static void
compare_numbers(struct oracle *oracle, struct arena *arena)
{
	const struct filter *filter = oracle->filter;
	scmp_filter_ctx context = context_new(filter->arch, FILTER_ALLOW);

	for (size_t i = 0; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];

		int number = library_number(entry);

		if (entry->clause_count == 0 && number != __NR_SCMP_ERROR &&
		    entry->action != FILTER_ALLOW &&
		    seccomp_rule_add(context, library_action(entry->action),
			number, 0) != 0)
			abort();
	}
	oracle->theirs = context_export(context, arena);
	for (int i = 0; i < NUMBERS_END; i++) {
		struct syscall_data data = { .number = i,
			.audit = filter->arch->audit };
		bool inside = (uint32_t)i < filter->entry_count;

		if (inside && filter->entries[i].clause_count > 0)
			continue;
		compare(oracle, &data,
		    inside &&
			    library_number(&filter->entries[i]) !=
				__NR_SCMP_ERROR ?
			bpf_run_loaded(oracle->theirs.insns, &data) :
			nameless_verdict(filter, i));
		data.audit = AUDIT_ARCH_RISCV64;
		compare(oracle, &data,
		    bpf_run_loaded(oracle->theirs.insns, &data));
		data.audit = filter->arch->compat_audit;
		compare(oracle, &data, FILTER_ERRNO | ENOSYS);
	}
}

/* --- arguments ------------------------------------------------------------ */

static struct scmp_arg_cmp
library_test(const struct filter_test *test)
{
	return (struct scmp_arg_cmp){
		.arg = test->arg,
		.op = SCMP_CMP_MASKED_EQ,
		.datum_a = test->mask,
		.datum_b = test->value,
	};
}

/* Values of one argument to try, each once. */
struct values {
	uint64_t items[VALUES_MAX];
	size_t count;
};

static void
values_add(struct values *values, uint64_t value)
{
	for (size_t i = 0; i < values->count; i++) {
		if (values->items[i] == value)
			return;
	}
	if (values->count == VALUES_MAX)
		abort();
	values->items[values->count++] = value;
}

/* Those that some test asks for, and others around them. */
static void
values_collect(struct values *values, const struct filter_entry *entry,
    unsigned arg)
{
	values->count = 0;
	values_add(values, 0);
	values_add(values, UINT64_MAX);
	for (size_t i = 0; i < entry->clause_count; i++) {
		for (size_t j = 0; j < entry->clauses[i].test_count; j++) {
			const struct filter_test *test =
			    &entry->clauses[i].tests[j];
			uint64_t value = test->value;

			if (test->arg != arg)
				continue;
			values_add(values, value);
			values_add(values, value + 1);
			values_add(values, value ^ 0x80800);
			values_add(values, value | 1ULL << 32);
			values_add(values, value << 1);
			values_add(values, test->mask);
			values_add(values, (uint32_t)~test->mask);
		}
	}
}

/* One context for each clause, in which that clause alone denies. */
static struct bpf_program *
library_clauses(const struct oracle *oracle, const struct filter_entry *entry,
    struct arena *arena)
{
	struct bpf_program *programs = arena_alloc(arena,
	    entry->clause_count * sizeof *programs);

	for (size_t i = 0; i < entry->clause_count; i++) {
		const struct filter_clause *clause = &entry->clauses[i];
		scmp_filter_ctx context = context_new(oracle->filter->arch,
		    FILTER_ALLOW);
		struct scmp_arg_cmp tests[3];

		for (size_t j = 0; j < clause->test_count; j++)
			tests[j] = library_test(&clause->tests[j]);
		if (seccomp_rule_add_array(context, SCMP_ACT_ERRNO(EPERM),
			library_number(entry), clause->test_count, tests) != 0)
			abort();
		programs[i] = context_export(context, arena);
	}
	return programs;
}

/* The first clause that holds decides, and the library says which hold. */
static uint32_t
clauses_verdict(struct oracle *oracle, const struct filter_entry *entry,
    const struct bpf_program *programs, const struct syscall_data *data)
{
	for (size_t i = 0; i < entry->clause_count; i++) {
		oracle->theirs = programs[i];
		if (bpf_run_loaded(oracle->theirs.insns, data) != FILTER_ALLOW)
			return entry->clauses[i].action;
	}
	return entry->action;
}

/*
 * One call by itself.  The library knows no order of rules, and takes none that
 * says what the default says, so it is asked about one clause at a time.
 */
static void
compare_arguments(struct oracle *oracle, const struct filter_entry *entry,
    struct arena *arena)
{
	const struct bpf_program *programs = library_clauses(oracle, entry,
	    arena);
	struct values values[4];
	struct syscall_data data = { .number = (int32_t)entry->number,
		.audit = oracle->filter->arch->audit };
	size_t combinations = 1;

	for (unsigned i = 0; i < 4; i++) {
		values_collect(&values[i], entry, i);
		combinations *= values[i].count;
	}
	for (size_t i = 0; i < combinations; i++) {
		size_t rest = i;

		for (unsigned arg = 0; arg < 4; arg++) {
			data.args[arg] =
			    values[arg].items[rest % values[arg].count];
			rest /= values[arg].count;
		}
		compare(oracle, &data,
		    clauses_verdict(oracle, entry, programs, &data));
	}
}

/* --- names ---------------------------------------------------------------- */

/*
 * Members of groups that the library has no name for, on any machine.  Any
 * other that it does not know is a typing error in groups.def; what stands in
 * newer.def must be newer.
 */
static bool
name_may_be_absent(const char *name)
{
	static const char *const absent[] = {
#define NEWER(name, x86_64, aarch64) name,
#include "compiler/tables/newer.def"
#undef NEWER
		"riscv_hwprobe",
	};

	for (size_t i = 0; i < countof(absent); i++) {
		if (strcmp(absent[i], name) == 0)
			return true;
	}
	return false;
}

static bool
name_is_listed(const char *name)
{
	const char *const *known = syscall_group("known");

	while (*known != NULL && strcmp(*known, name) != 0)
		known++;
	return *known != NULL;
}

static void
compare_groups(struct tap *tap)
{
	static const char *const groups[] = {
#define GROUP(name, about, ...) name,
#include "compiler/tables/groups.def"
#undef GROUP
	};
	size_t members = 0;

	for (size_t i = 0; i < countof(groups); i++) {
		const char *const *names = syscall_group(groups[i]);

		for (; *names != NULL; names++, members++) {
			bool known = seccomp_syscall_resolve_name(*names) !=
			    __NR_SCMP_ERROR;

			if ((!known && !name_may_be_absent(*names)) ||
			    !name_is_listed(*names))
				tap_ok(tap, false, "'%s' of @%s", *names,
				    groups[i]);
		}
	}
	tap_ok(tap, members > 1000, "%zu members of %zu groups have a name",
	    members, countof(groups));
}

/* The other way: whatever the library can name is in our list. */
static void
compare_names(struct tap *tap)
{
	size_t named = 0;

	for (size_t i = 0; i < arch_count; i++) {
		const struct arch *arch = &arches[i];

		for (int n = 0; n < NUMBERS_END; n++) {
			char *name =
			    seccomp_syscall_resolve_num_arch(arch->scmp, n);

			named += name != NULL;
			if (name != NULL &&
			    (!name_is_listed(name) ||
				syscall_number(arch, name) != n ||
				(uint32_t)n >= arch->number_limit))
				tap_ok(tap, false, "'%s' on %s", name,
				    arch->name);
			free(name);
		}
	}
	tap_ok(tap, named > 600, "%zu names of the library are ours", named);
}

/* --- all ------------------------------------------------------------------ */

static void
compare_sample(struct tap *tap, const struct sample *sample)
{
	struct arena *arena = arena_new();
	struct filter_set set;
	size_t calls = 0;

	filters_build(sample_policy(arena, sample), &set);
	for (size_t i = 0; i < set.filters.count; i++) {
		struct oracle oracle = { .filter = &set.filters.items[i],
			.ours = &set.programs.items[i] };

		if (!bpf_is_loadable(oracle.ours->insns, oracle.ours->count))
			abort();
		compare_numbers(&oracle, arena);
		for (size_t j = 0; j < oracle.filter->entry_count; j++) {
			const struct filter_entry *entry =
			    &oracle.filter->entries[j];

			if (entry->clause_count == 0)
				continue;
			compare_arguments(&oracle, entry, arena);
			calls++;
		}
		tap_ok(tap,
		    oracle.different == 0 && oracle.compared > NUMBERS_END,
		    "%s: %s, flags %#x, ABI %u: %zu verdicts", sample->name,
		    oracle.filter->arch->name, oracle.filter->flags,
		    oracle.filter->min_abi, oracle.compared);
	}
	tap_ok(tap, set.filters.count >= 4,
	    "%s: %zu filters, %zu calls with "
	    "arguments",
	    sample->name, set.filters.count, calls);
	arena_release(arena);
}

int
main(void)
{
	struct tap tap = { 0, 0 };

	compare_groups(&tap);
	compare_names(&tap);
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
		compare_sample(&tap, &samples[i]);
	return tap_done(&tap);
}
