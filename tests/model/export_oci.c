/*
 * The filter that `sbxc export -O oci-seccomp` writes, given to libseccomp as a
 * container runtime does, decides as the policy's own: every number, every
 * argument that some test looks at, and random ones.  The errno is the same,
 * too.  Only for another machine, and for the other ways to call this one, the
 * library kills where our filters answer ENOSYS.
 *
 *	tests/model/export_oci [COUNT [SEED]]
 */
#include "compiler/base/base.h"
#include "compiler/export/export.h"
#include "compiler/query/query.h"
#include "tests/lib/samples.h"
#include "tests/lib/tap.h"
#include "tests/model/random_policy.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NUMBERS_END = 1100, VALUES_MAX = 400, TRIES_MAX = 1500, COUNT = 60 };

struct oracle {
	const struct filter *filter;
	struct bpf_program theirs;
	struct chance chance;
	size_t compared, different;
	bool weakened; /* to see that a difference is seen */
};

/* --- as a runtime does it ------------------------------------------------- */

static uint32_t
action_of(const struct json_t *rule, const char *action, const char *error)
{
	const char *word = json_text(rule, action);

	if (strcmp(word, "SCMP_ACT_ALLOW") == 0)
		return SCMP_ACT_ALLOW;
	if (strcmp(word, "SCMP_ACT_ERRNO") != 0)
		abort();
	return SCMP_ACT_ERRNO((uint16_t)json_number(rule, error));
}

static size_t
args_of(const struct json_t *rule, struct scmp_arg_cmp *args)
{
	const struct json_t *list = json_member(rule, "args");
	size_t count = json_count(list);

	for (size_t i = 0; i < count; i++) {
		const struct json_t *arg = json_item(list, i);

		if (strcmp(json_text(arg, "op"), "SCMP_CMP_MASKED_EQ") != 0)
			abort();
		args[i] = (struct scmp_arg_cmp){
			.arg = (unsigned)json_number(arg, "index"),
			.op = SCMP_CMP_MASKED_EQ,
			.datum_a = json_number(arg, "value"),
			.datum_b = json_number(arg, "valueTwo"),
		};
	}
	return count;
}

static void
rule_add(scmp_filter_ctx context, const struct json_t *rule, uint32_t others)
{
	const struct json_t *names = json_member(rule, "names");
	uint32_t action = action_of(rule, "action", "errnoRet");
	struct scmp_arg_cmp args[6];
	size_t count = args_of(rule, args);

	for (size_t i = 0; i < json_count(names); i++) {
		int number = seccomp_syscall_resolve_name(
		    json_text_at(json_item(names, i)));

		if (number == __NR_SCMP_ERROR || action == others)
			continue;
		if (seccomp_rule_add_array(context, action, number,
			(unsigned)count, args) != 0)
			abort();
	}
}

static struct bpf_program
runtime_program(struct arena *arena, const struct arch *arch, const char *text)
{
	struct json_t *root = json_read(text);
	const struct json_t *rules = json_member(root, "syscalls");
	uint32_t others = action_of(root, "defaultAction", "defaultErrnoRet");
	scmp_filter_ctx context = seccomp_init(others);
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct bpf_program program;
	off_t size;

	if (context == NULL || fd < 0 ||
	    (seccomp_arch_native() != arch->scmp &&
		(seccomp_arch_add(context, arch->scmp) != 0 ||
		    seccomp_arch_remove(context, seccomp_arch_native()) != 0)))
		abort();
	for (size_t i = 0; i < json_count(rules); i++)
		rule_add(context, json_item(rules, i), others);
	if (seccomp_export_bpf(context, fd) != 0)
		abort();
	size = lseek(fd, 0, SEEK_END);
	program.count = (size_t)size / sizeof *program.insns;
	program.insns = arena_alloc(arena, (size_t)size);
	if (pread(fd, program.insns, (size_t)size, 0) != size ||
	    !bpf_is_loadable(program.insns, program.count))
		abort();
	close(fd);
	seccomp_release(context);
	json_release(root);
	return program;
}

/* --- questions ------------------------------------------------------------ */

static void
ask(struct oracle *oracle, const struct syscall_data *data)
{
	uint32_t wanted = filter_verdict(oracle->filter, data), got;
	bool killed;

	got = bpf_run_loaded(oracle->theirs.insns, data);
	killed = got == 0 || got == (uint32_t)FILTER_KILL;
	oracle->compared++;
	if (got == wanted || (killed && wanted != FILTER_ALLOW))
		return;
	if (oracle->different++ < 5 && !oracle->weakened)
		printf("# call %d of machine %#x (%#" PRIx64 ", %#" PRIx64
		       ", %#" PRIx64 "): %#x, not %#x\n",
		    data->number, data->audit, data->args[0], data->args[1],
		    data->args[2], got, wanted);
}

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
	if (values->count < VALUES_MAX)
		values->items[values->count++] = value;
}

/* What some test looks for, the values beside it, and other upper halves. */
static void
values_collect(struct oracle *oracle, struct values *values,
    const struct filter_entry *entry, unsigned arg)
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
			values_add(values, value | 1ULL << 32);
			values_add(values, value | (uint32_t)~test->mask);
			values_add(values, test->mask);
			values_add(values,
			    value ^ 1ULL << chance_below(&oracle->chance, 32));
		}
	}
	values_add(values, chance_next(&oracle->chance));
}

static void
ask_arguments(struct oracle *oracle, const struct filter_entry *entry)
{
	struct values values[5];
	struct syscall_data data = { .number = (int32_t)entry->number,
		.audit = oracle->filter->arch->audit };
	size_t combinations = 1;

	for (unsigned i = 0; i < 5; i++) {
		values_collect(oracle, &values[i], entry, i);
		combinations *= values[i].count;
	}
	for (size_t i = 0; i < combinations && i < TRIES_MAX; i++) {
		size_t rest = i;

		for (unsigned arg = 0; arg < 5; arg++) {
			size_t pick = combinations <= TRIES_MAX ?
			    rest % values[arg].count :
			    chance_below(&oracle->chance, values[arg].count);

			data.args[arg] = values[arg].items[pick];
			rest /= values[arg].count;
		}
		ask(oracle, &data);
	}
}

/* A call that the library has no name for is not named to it: ENOSYS. */
static bool
is_unknown(const struct filter *filter, int number)
{
	const char *name = (uint32_t)number < filter->entry_count ?
	    filter->entries[number].name :
	    NULL;

	return name != NULL &&
	    seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR;
}

static void
ask_all(struct oracle *oracle)
{
	const struct filter *filter = oracle->filter;

	for (int i = 0; i < NUMBERS_END; i++) {
		struct syscall_data data = { .number = i,
			.audit = filter->arch->audit };

		if (is_unknown(filter, i))
			continue;
		if ((uint32_t)i < filter->entry_count &&
		    filter->entries[i].clause_count > 0)
			ask_arguments(oracle, &filter->entries[i]);
		else
			ask(oracle, &data);
		data.number |= 0x40000000;
		ask(oracle, &data);
		data.number = i;
		data.audit = filter->arch->compat_audit;
		ask(oracle, &data);
		data.audit = AUDIT_ARCH_RISCV64;
		ask(oracle, &data);
	}
}

/* --- policies ------------------------------------------------------------- */

static struct exporter
exporter_of(const struct policy *policy, const struct arch *arch)
{
	return (struct exporter){
		.arena = policy->arena,
		.policy = policy,
		.arch = arch,
		.net = policy_net(policy, arch->platforms, NULL),
		.everything = policy_has_blanket(policy, BLANKET_EVERYTHING,
		    arch->platforms),
	};
}

/* One policy on one machine; with a policy that was weakened, a difference. */
static struct oracle
compare(const struct policy *policy, const struct policy *exported,
    const struct arch *arch, uint64_t seed)
{
	struct oracle oracle = { .chance = { .state = seed },
		.weakened = policy != exported };
	struct exporter exporter = exporter_of(exported, arch);
	struct filter filter;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		abort();
	oci_write(&exporter, stream);
	fclose(stream);
	filter_alone(policy, arch, 0, &filter);
	oracle.filter = &filter;
	oracle.theirs = runtime_program(policy->arena, arch, text);
	ask_all(&oracle);
	free(text);
	return oracle;
}

static void
test_sample(struct tap *tap, const struct sample *sample,
    const struct arch *arch)
{
	struct arena *arena = arena_new();
	struct policy *policy = sample_policy(arena, sample);
	struct oracle oracle = compare(policy, policy, arch, 1);

	tap_ok(tap,
	    oracle.different == 0 && oracle.compared > NUMBERS_END &&
		oracle.theirs.count <= 4096,
	    "%s on %s: %zu verdicts, %zu instructions", sample->name,
	    arch->name, oracle.compared, oracle.theirs.count);
	arena_release(arena);
}

/* A random policy that compiles; its arena is the policy's. */
static const struct policy *
random_policy(struct arena *arena, uint64_t seed)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	struct maker maker = { .chance = { .state = seed } };
	const char *source;
	char *text = NULL;
	size_t size;
	struct image image;
	bool good;

	maker.stream = open_memstream(&text, &size);
	if (maker.stream == NULL)
		abort();
	make_policy(&maker);
	fclose(maker.stream);
	source = arena_strndup(arena, text, size);
	free(text);
	compilation_init(compilation, arena);
	*arena_push(arena, &compilation->definitions.list) =
	    (struct definition){ "fixed", "/opt/f x" };
	compilation_parse(compilation,
	    sources_add(&compilation->sources, "random.sbx", source, size,
		(struct loc){ 0, 0 }));
	good = compile(compilation, "p", &image);
	return good ? compilation->policy : NULL;
}

static void
test_random(struct tap *tap, unsigned count, uint64_t seed)
{
	size_t compared = 0, different = 0;
	unsigned good = 0;

	for (unsigned tried = 0; good < count && tried < 40 * count; tried++) {
		struct arena *arena = arena_new();
		const struct policy *policy = random_policy(arena,
		    seed + tried);
		const struct arch *arch = &arches[tried % arch_count];
		struct oracle oracle;

		if (policy == NULL ||
		    policy_has_blanket(policy, BLANKET_EVERYTHING,
			arch->platforms) ||
		    policy_denies_spawn(policy, arch->platforms)) {
			arena_release(arena);
			continue;
		}
		oracle = compare(policy, policy, arch, seed + tried);
		good++;
		compared += oracle.compared;
		different += oracle.different;
		if (oracle.different > 0)
			printf("# seed %" PRIu64 "\n", seed + tried);
		arena_release(arena);
	}
	tap_ok(tap, good == count && different == 0,
	    "%u random policies: %zu verdicts, %zu of them differ", good,
	    compared, different);
}

/* A filter that lacks a denial is seen to differ. */
static void
test_weakened(struct tap *tap)
{
	struct sample sample = { .name = "weakened", .deny = { "fchown" } };
	struct arena *arena = arena_new();
	struct policy *policy = sample_policy(arena, &sample);
	struct policy *weaker;
	struct oracle oracle;

	sample.deny[0] = NULL;
	weaker = sample_policy(arena, &sample);
	oracle = compare(policy, weaker, &arches[0], 1);
	tap_ok(tap, oracle.different == 1, "a denial that is left out is seen");
	arena_release(arena);
}

int
main(int argc, char **argv)
{
	struct tap tap = { 0, 0 };
	unsigned count = (unsigned)tap_rounds(COUNT);

	if (argc > 1)
		count = (unsigned)atoi(argv[1]);
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
		test_sample(&tap, &samples[i], &arches[i % arch_count]);
	test_random(&tap, count, argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
	test_weakened(&tap);
	return tap_done(&tap);
}
