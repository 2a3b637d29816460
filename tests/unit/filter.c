/*
 * What policies mean to filters: single verdicts that somebody could get wrong,
 * the reasons that are given, the variants, and what all of that costs.
 */
#include "tests/lib/tap.h"
#include "tests/unit/filter_cases.h"

#include <sys/ioctl.h>

enum {
	NO_RULE = 0,
	ALLOWED_AT = 100,
	DENIED_AT = 200,
	NETWORK_AT = 300,
};

/*
 * The shape is paid at each launch: numbers emulated at install cost about 2 ns
 * an instruction, and each instruction 0.1 us to load.
 */
static void
test_shape(struct tap *tap)
{
	struct arena *arena = arena_new();
	struct filter_set set;

	filters_build(sample_policy(arena, &samples[0]), &set);
	for (size_t i = 0; i < set.filters.count; i++) {
		const struct bpf_program *program = &set.programs.items[i];
		const struct filter *filter = &set.filters.items[i];
		struct syscall_data data = { .audit = filter->arch->audit };
		size_t total = 0, most = 0, steps;
		/* Where the supervisor answers more calls. */
		bool answers = (filter->flags &
				   (SBX_PROGRAM_FULL | SBX_PROGRAM_LISTENER)) ==
		    SBX_PROGRAM_LISTENER;

		for (; data.number < 470; data.number++) {
			bpf_run_counted(program->insns, &data, &steps);
			total += steps;
			most = steps > most ? steps : most;
		}
		tap_ok(tap,
		    program->count <= (answers ? 204u : 184u) &&
			total <= 4900 && most <= (answers ? 38u : 37u),
		    "%s, flags %#x: %zu instructions, %zu steps "
		    "for all numbers, %zu at most",
		    filter->arch->name, filter->flags, program->count, total,
		    most);
	}
	arena_release(arena);
}

/* As the loader picks: the greatest ABI not above the kernel's. */
static const struct filter *
filter_pick_for(const struct filter_set *set, size_t arch, uint32_t kind,
    uint32_t abi)
{
	const struct filter *best = NULL;

	for (size_t i = 0; i < set->filters.count; i++) {
		const struct filter *filter = &set->filters.items[i];

		if (filter->arch == &arches[arch] &&
		    (filter->flags &
			(SBX_PROGRAM_FULL | SBX_PROGRAM_LOOPBACK |
			    SBX_PROGRAM_LISTENER)) == kind &&
		    filter->min_abi <= abi)
			best = filter;
	}
	return best;
}

static const struct filter *
filter_pick(const struct filter_set *set, size_t arch, bool full, uint32_t abi)
{
	return filter_pick_for(set, arch, full ? SBX_PROGRAM_FULL : 0, abi);
}

static void
test_expectations(struct tap *tap)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < countof(expectations); i++) {
		const struct expectation *want = &expectations[i];
		struct filter_set set;

		filters_build(sample_policy(arena, sample_find(want->sample)),
		    &set);
		for (size_t arch = 0; arch < arch_count; arch++) {
			struct syscall_data data = {
				.number = syscall_number(&arches[arch],
				    want->name),
				.audit = arches[arch].audit,
			};
			uint32_t got;

			memcpy(data.args, want->args, sizeof want->args);
			got = filter_verdict(filter_pick_for(&set, arch,
						 want->kind, want->abi),
			    &data);
			tap_ok(tap, data.number >= 0 && got == want->action,
			    "%s%s ABI %u: %s(%#lx, %#lx, %#lx, %#lx) on %s: "
			    "%#x",
			    want->sample,
			    want->kind == 0            ? "," :
				want->kind == LOOPBACK ? ", loopback," :
							 ", full,",
			    want->abi, want->name, (unsigned long)data.args[0],
			    (unsigned long)data.args[1],
			    (unsigned long)data.args[2],
			    (unsigned long)data.args[3], arches[arch].name,
			    got);
		}
	}
	arena_release(arena);
}

/* Which rule decided, for `why` and for the blob. */
static void
test_reasons(struct tap *tap)
{
	static const struct {
		const char *sample, *name;
		uint32_t place;
		const char *reason;
	} cases[] = {
		{ "nothing said", "mount", NO_RULE, "@mount" },
		{ "nothing said", "pivot_root", NO_RULE, "@mount" },
		{ "nothing said", "socket", NO_RULE, "network" },
		{ "nothing said", "clone3", NO_RULE, "namespaces" },
		{ "mounts", "mount", ALLOWED_AT, "@mount" },
		{ "mounts", "umount2", DENIED_AT, "umount2" },
		{ "the internet", "socket", NETWORK_AT, "network" },
		{ "a network of its own", "socket", NETWORK_AT, "network" },
		{ "the internet", "ioctl", NO_RULE,
		    "terminals and file systems" },
		{ "no sockets", "socket", DENIED_AT, "@network-io" },
		{ "debuggers", "personality", ALLOWED_AT, "personality" },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < countof(cases); i++) {
		const struct filter *filter;
		const struct filter_entry *entry;
		struct filter_set set;

		filters_build(sample_policy(arena,
				  sample_find(cases[i].sample)),
		    &set);
		filter = filter_pick(&set, 0, false, 0);
		entry = &filter->entries[syscall_number(filter->arch,
		    cases[i].name)];
		tap_ok(tap,
		    entry->loc.begin == cases[i].place &&
			entry->reason != NULL &&
			strcmp(entry->name, cases[i].name) == 0 &&
			strcmp(entry->reason, cases[i].reason) == 0,
		    "%s: who decided about %s", cases[i].sample, cases[i].name);
	}
	arena_release(arena);
}

static void
test_variants(struct tap *tap)
{
	static const struct {
		const char *sample, *variants; /* "flags@ABI" of one machine */
	} cases[] = {
		{ "nothing said", "0@0 10@1 12@9 50@1 52@9 17@4 55@4" },
		{ "the internet", "0@0 10@1 12@9 50@1 52@9 15@4 17@6 55@4" },
		{ "abstract sockets", "0@0 10@1 12@9 50@1 52@9 17@4 55@4" },
		{ "ports to connect to",
		    "0@0 10@1 18@4 1a@9 50@1 58@4 5a@9 1d@4 1f@6 5d@4" },
		{ "a view of everything",
		    "0@0 14@1 16@9 54@1 56@9 15@4 17@9 55@4" },
		{ "no sockets", "0@0 10@1 15@4" },
		{ "a network of its own",
		    "0@0 10@1 12@9 50@1 58@4 15@4 17@6 55@4 37@4 75@4" },
		{ "both networks", "0@0 10@1 12@9 50@1 52@9 15@4 17@6 55@4" },
		{ "loopback and a view",
		    "0@0 14@1 16@9 54@1 5c@4 15@4 17@9 55@4 35@4 37@9 75@4" },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < countof(cases); i++) {
		struct filter_set set;
		char text[2][128] = { "", "" };

		filters_build(sample_policy(arena,
				  sample_find(cases[i].sample)),
		    &set);
		for (size_t j = 0; j < set.filters.count; j++) {
			const struct filter *filter = &set.filters.items[j];
			char *at = text[filter->arch - arches];

			sprintf(at + strlen(at), "%s%x@%u",
			    *at != '\0' ? " " : "", filter->flags,
			    filter->min_abi);
		}
		tap_ok(tap,
		    strcmp(text[0], cases[i].variants) == 0 &&
			strcmp(text[1], cases[i].variants) == 0,
		    "%s: %s, %s", cases[i].sample, text[0], text[1]);
	}
	arena_release(arena);
}

/* A rule for one machine leaves the other as it is. */
static void
test_one_machine(struct tap *tap)
{
	static const struct {
		const char *name;
		uint32_t here, there;
	} cases[] = {
		{ "keyctl", FILTER_ALLOW, ERR(EPERM) },
		{ "statx", ERR(EPERM), FILTER_ALLOW },
		{ "mlock2", ERR(EPERM), FILTER_ALLOW },
	};
	struct arena *arena = arena_new();
	struct filter_set set;

	filters_build(sample_policy(arena, sample_find("one machine")), &set);
	for (size_t i = 0; i < countof(cases); i++) {
		uint32_t actions[2];

		for (size_t arch = 0; arch < 2; arch++) {
			const struct filter *filter = filter_pick(&set, arch,
			    false, 0);

			actions[arch] =
			    filter
				->entries[syscall_number(filter->arch,
				    cases[i].name)]
				.action;
		}
		tap_ok(tap,
		    actions[0] == cases[i].here && actions[1] == cases[i].there,
		    "on one machine: %s", cases[i].name);
	}
	arena_release(arena);
}

static void
test_everything(struct tap *tap)
{
	struct arena *arena = arena_new();
	struct sample sample = { .name = "full access" };
	struct policy *policy = sample_policy(arena, &sample);
	struct filter_set set;

	sample_blanket(&sample, policy, BLANKET_EVERYTHING, 600);
	filters_build(policy, &set);
	tap_ok(tap, set.filters.count == 0 && set.programs.count == 0,
	    "a policy that allows everything has no filter");
	policy->rules[KIND_BLANKET].items[0].origin.platforms =
	    SBX_ON_LINUX_AARCH64;
	filters_build(policy, &set);
	tap_ok(tap,
	    filter_pick(&set, 0, false, 0) != NULL &&
		filter_pick(&set, 1, false, 0) == NULL,
	    "on one machine: that machine");
	arena_release(arena);
}

int
main(void)
{
	struct tap tap = { 0, 0 };

	test_shape(&tap);
	test_expectations(&tap);
	test_reasons(&tap);
	test_variants(&tap);
	test_one_machine(&tap);
	test_everything(&tap);
	return tap_done(&tap);
}
