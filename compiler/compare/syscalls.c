/*
 * System calls.  Both policies hold complete filters, so these are compared as
 * programs: every number, in each circumstance in which a loader would take
 * another pair of them, and for a call whose filter looks at arguments, every
 * way in which its tests can come out.
 *
 * Which tests those are is found by following the program with the number
 * known and the arguments not.  A test that sbxc writes asks whether some bits
 * of one argument are a value, so its value and a value beside it tell all that
 * it can.
 */
#include "compiler/compare/compare.h"

#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>

enum {
	NUMBERS_END = 1024, /* at least so many are looked at */
	MOST_STEPS = 8192,  /* of following one number */
	MOST_TESTS = 128,
	MOST_VALUES = 128,    /* of one argument */
	MOST_CALLS = 1 << 14, /* with different arguments, of one number */
};

/* What is in the accumulator: a number, bits of an argument, or anything. */
struct content {
	enum { IS_KNOWN, IS_ARGUMENT, IS_ANYTHING } kind;
	uint32_t known, mask;
	uint8_t arg;
};

struct test {
	uint8_t arg;
	uint16_t op; /* BPF_JEQ, BPF_JSET ... */
	uint32_t mask, value;
};

struct tests {
	struct test items[MOST_TESTS];
	size_t count, steps;
	struct syscall_data data;
};

struct values {
	uint32_t items[ACCESS_MAX_ARGS][MOST_VALUES];
	size_t counts[ACCESS_MAX_ARGS];
	uint8_t arg_count; /* up to the last that is tested; 0: none */
};

/* Two filters in one circumstance; NULL: nothing is filtered. */
struct duel {
	struct pass *pass;
	const struct arch *arch;
	enum sbx_level level;
	int abi;
	const struct sbx_blob *blobs[SIDE_COUNT];
	const struct sbx_program *programs[SIDE_COUNT];
	bool loadable[SIDE_COUNT];
};

/* --- tests of arguments --------------------------------------------------- */

static struct content
load(const struct tests *tests, uint32_t offset)
{
	struct content content = { .kind = IS_KNOWN };

	if (offset >= offsetof(struct syscall_data, args)) {
		size_t at = offset - offsetof(struct syscall_data, args);

		/* The upper half of an argument is none of ours. */
		if (at % 8 == 0)
			content = (struct content){
				.kind = IS_ARGUMENT,
				.mask = UINT32_MAX,
				.arg = (uint8_t)(at / 8),
			};
	} else if (offset == offsetof(struct syscall_data, number)) {
		content.known = (uint32_t)tests->data.number;
	} else if (offset == offsetof(struct syscall_data, audit)) {
		content.known = tests->data.audit;
	}
	return content;
}

static bool
compare_known(const struct sbx_insn *insn, uint32_t value)
{
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return value == insn->k;
	case BPF_JGT:
		return value > insn->k;
	case BPF_JGE:
		return value >= insn->k;
	default:
		return (value & insn->k) != 0;
	}
}

/* What an instruction that neither jumps nor returns leaves. */
static void
content_step(const struct tests *tests, const struct sbx_insn *insn,
    struct content *content)
{
	if (insn->code == (BPF_LD | BPF_W | BPF_ABS))
		*content = load(tests, insn->k);
	else if (insn->code == (BPF_ALU | BPF_AND | BPF_K)) {
		content->known &= insn->k;
		content->mask &= insn->k;
	} else if (BPF_CLASS(insn->code) != BPF_ST &&
	    BPF_CLASS(insn->code) != BPF_STX &&
	    BPF_CLASS(insn->code) != BPF_LDX)
		content->kind = IS_ANYTHING;
}

/* Every way through the program that some arguments can take. */
static void
follow(struct tests *tests, const struct sbx_insn *insn, struct content content)
{
	for (; tests->steps < MOST_STEPS; tests->steps++, insn++) {
		bool taken;

		if (BPF_CLASS(insn->code) == BPF_RET)
			return;
		if (BPF_CLASS(insn->code) != BPF_JMP) {
			content_step(tests, insn, &content);
			continue;
		}
		if (BPF_OP(insn->code) == BPF_JA) {
			insn += insn->k;
			continue;
		}
		taken = compare_known(insn, content.known);
		if (content.kind != IS_KNOWN || BPF_SRC(insn->code) == BPF_X) {
			if (content.kind == IS_ARGUMENT &&
			    tests->count < MOST_TESTS)
				tests->items[tests->count++] = (struct test){
					content.arg,
					BPF_OP(insn->code),
					content.mask,
					insn->k,
				};
			follow(tests, insn + 1 + insn->jt, content);
			taken = false;
		}
		insn += taken ? insn->jt : insn->jf;
	}
}

/* --- values --------------------------------------------------------------- */

static void
values_add(struct values *values, uint8_t arg, uint32_t value)
{
	size_t *count = &values->counts[arg];

	for (size_t i = 0; i < *count; i++) {
		if (values->items[arg][i] == value)
			return;
	}
	if (*count < MOST_VALUES)
		values->items[arg][(*count)++] = value;
}

static bool
is_other(const struct tests *tests, uint8_t arg, uint32_t value)
{
	for (size_t i = 0; i < tests->count; i++) {
		const struct test *test = &tests->items[i];

		if (test->arg == arg && test->op == BPF_JEQ &&
		    (value & test->mask) == test->value)
			return false;
	}
	return true;
}

/* Values on both sides of each test, and one that no test is about. */
static void
values_collect(const struct tests *tests, struct values *values)
{
	memset(values->counts, 0, sizeof values->counts);
	values->arg_count = 0;
	for (size_t i = 0; i < tests->count; i++) {
		const struct test *test = &tests->items[i];
		uint32_t lowest = test->mask & -test->mask, value = 0;

		if (test->arg + 1 > values->arg_count)
			values->arg_count = test->arg + 1;
		while (value < MOST_TESTS && !is_other(tests, test->arg, value))
			value++;
		values_add(values, test->arg, value);
		values_add(values, test->arg, test->value);
		if (test->op != BPF_JEQ) {
			values_add(values, test->arg, test->value - 1);
			values_add(values, test->arg, test->value + 1);
			lowest = test->value & -test->value;
		}
		values_add(values, test->arg, test->value ^ lowest);
		values_add(values, test->arg, 0);
	}
	for (unsigned arg = 0; arg < ACCESS_MAX_ARGS; arg++) {
		if (values->counts[arg] == 0)
			values->counts[arg] = 1;
	}
}

/* --- one call ------------------------------------------------------------- */

static uint32_t
answer_of(const struct duel *duel, enum side side,
    const struct syscall_data *data)
{
	const struct sbx_program *program = duel->programs[side];

	if (program == NULL)
		return FILTER_ALLOW;
	if (!duel->loadable[side])
		return (uint32_t)FILTER_KILL;
	return bpf_run_loaded(duel->blobs[side]->bpf + program->first, data);
}

/* What the supervisor answers is done if the other rules let it, as the kernel
 * does it where no supervisor is. */
static bool
is_open(uint32_t answer)
{
	return answer == FILTER_ALLOW || answer == FILTER_NOTIFY;
}

/* The change on one call with its arguments; CHANGE_END: none. */
static enum change
change_of(const struct duel *duel, const struct syscall_data *data)
{
	uint32_t old = answer_of(duel, SIDE_OLD, data);
	uint32_t new = answer_of(duel, SIDE_NEW, data);

	if (is_open(old) != is_open(new))
		return is_open(new) ? CHANGE_WIDER : CHANGE_NARROWER;
	return is_open(old) || old == new ? CHANGE_END : CHANGE_NEUTRAL;
}

/* The rule that came or went: a deny of the side that refuses, the allow of
 * the other, or else what either knows of the call. */
static struct note_key
syscall_key(const struct duel *duel, const char *name, enum change change)
{
	enum side allows = change == CHANGE_WIDER ? SIDE_NEW : SIDE_OLD;
	enum side side = !allows;
	const struct sbx_syscall *refusal = verdict_syscall(duel->blobs[side],
	    duel->arch, name);
	const struct sbx_syscall *record = verdict_syscall(duel->blobs[allows],
	    duel->arch, name);
	const char *reason;
	struct note_key key = {
		.kind = DIFFERENCE_SYSCALL,
		.change = change,
		.side = allows,
		.by = BY_EVERYTHING,
	};

	if (duel->programs[allows] == NULL)
		return key;
	key.by = BY_SYSCALL;
	if (refusal != NULL &&
	    (record == NULL || record->source == SBX_NO_SOURCE ||
		(refusal->source != SBX_NO_SOURCE &&
		    refusal->verdict == SBX_SYSCALL_DENY))) {
		record = refusal;
		key.side = side;
	}
	reason = record != NULL ?
	    sbx_string(duel->blobs[key.side], record->reason) :
	    baseline_arguments(name);
	/* One rule about the network opens some calls and shuts others. */
	if (reason != NULL && strcmp(reason, "network") == 0) {
		key.side = allows;
		record = NULL;
	}
	key.rule = record != NULL ? record->source : SBX_NO_SOURCE;
	key.text = pass_text(duel->pass, reason != NULL ? reason : name);
	return key;
}

/* One more call by a rule that is known, or one that it was found by. */
static void
count_call(const struct duel *duel, const struct note_key *key,
    const char *name)
{
	struct difference *difference = pass_known(duel->pass, key);
	const char *call = arena_printf(duel->pass->scratch, "%u %u %s",
	    key->change,
	    (unsigned)(difference - duel->pass->comparison->differences.items),
	    name);
	size_t before = duel->pass->notes->texts.keys.count;

	pass_text(duel->pass, call);
	if (difference->platforms == duel->pass->platforms &&
	    duel->pass->notes->texts.keys.count > before)
		difference->more++;
}

/* The call alone, if that already differs; else with these arguments. */
static struct access
call_access(const struct duel *duel, const char *name, enum change change,
    const struct syscall_data *data, const struct values *values)
{
	struct access access = { .kind = KIND_SYSCALL, .name = name };
	bool allowed[SIDE_COUNT];

	for (unsigned side = 0; side < SIDE_COUNT; side++)
		allowed[side] = pass_ask(duel->pass, (enum side)side, &access,
		    duel->level, duel->abi)
				    .allowed;
	if (values->arg_count == 0 ||
	    (change != CHANGE_NEUTRAL &&
		allowed[SIDE_OLD] != allowed[SIDE_NEW] &&
		allowed[SIDE_NEW] == (change == CHANGE_WIDER)))
		return access;
	access.arg_count = values->arg_count;
	for (unsigned i = 0; i < values->arg_count; i++)
		access.args[i] = (uint32_t)data->args[i];
	return access;
}

/* Numbers that nobody had a name for; where everything is allowed, they are. */
static void
note_nameless(struct duel *duel, enum change change)
{
	const struct explanation says[SIDE_COUNT] = {
		{ .source = SBX_NO_SOURCE },
		{ .source = SBX_NO_SOURCE },
	};

	if (duel->programs[SIDE_OLD] != NULL &&
	    duel->programs[SIDE_NEW] != NULL)
		pass_note_setting(duel->pass, DIFFERENCE_SYSCALL, change,
		    "system calls without a name", says);
}

/* Whether `deny spawn` decided, which is a difference of its own. */
static bool
is_spawn(const struct duel *duel, const struct note_key *key, const char *name)
{
	const struct sbx_blob *blob = duel->blobs[key->side];
	const struct sbx_syscall *call = verdict_syscall(blob, duel->arch,
	    name);

	return call != NULL &&
	    strcmp(sbx_string(blob, call->reason), "deny spawn") == 0;
}

/*
 * Filters also differ in how they enforce what other rules say: whether a
 * supervisor answers, and what it takes to reach a place or a port.  Of these only
 * a socket counts that is not AF_UNIX, and only if no rule about ports or hosts
 * tells of it: see compare_implied().  That of routes, which tells of interfaces,
 * opens where /proc shows these or the network is open.
 */
static bool
is_enforcement(const struct duel *duel, const struct note_key *key,
    const char *name, const struct syscall_data *data)
{
	if (key->by == BY_EVERYTHING)
		return false;
	if (key->rule != SBX_NO_SOURCE)
		return is_spawn(duel, key, name);
	return key->change == CHANGE_NEUTRAL || strcmp(name, "socket") != 0 ||
	    (uint32_t)data->args[0] == AF_UNIX ||
	    (uint32_t)data->args[0] == AF_NETLINK;
}

static void
note_call(struct duel *duel, const char *name, enum change change,
    const struct syscall_data *data, const struct values *values)
{
	struct pass *pass = duel->pass;
	struct access access;
	struct note_key key;

	if (name == NULL) {
		note_nameless(duel, change);
		return;
	}
	key = syscall_key(duel, name, change);
	if (is_enforcement(duel, &key, name, data))
		return;
	if (!pass_again(pass, &key)) {
		access = call_access(duel, name, change, data, values);
		pass_note_access(pass, &key, &access, duel->level, duel->abi)
		    ->implied = key.by == BY_SYSCALL &&
		    key.rule == SBX_NO_SOURCE;
		count_call(duel, &key, name);
		pass_known(pass, &key)->more = 0;
		return;
	}
	count_call(duel, &key, name);
}

/* Gives arguments their next values; false after the last. */
static bool
data_next(const struct values *values, size_t at[ACCESS_MAX_ARGS],
    struct syscall_data *data)
{
	for (unsigned arg = 0; arg < ACCESS_MAX_ARGS; arg++) {
		at[arg] = (at[arg] + 1) % values->counts[arg];
		data->args[arg] = values->items[arg][at[arg]];
		if (at[arg] != 0)
			return true;
	}
	return false;
}

static void
duel_call(struct duel *duel, int number, const char *name)
{
	struct tests tests = {
		.data = { .number = number, .audit = duel->arch->audit },
	};
	struct syscall_data data = tests.data;
	struct values values = { .arg_count = 0 };
	size_t at[ACCESS_MAX_ARGS] = { 0 }, calls = 0;
	bool noted[CHANGE_END + 1] = { [CHANGE_END] = true };

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_program *program = duel->programs[side];

		tests.steps = 0;
		if (program != NULL && duel->loadable[side])
			follow(&tests, duel->blobs[side]->bpf + program->first,
			    (struct content){ .kind = IS_KNOWN });
	}
	values_collect(&tests, &values);
	for (unsigned arg = 0; arg < ACCESS_MAX_ARGS; arg++)
		data.args[arg] = values.items[arg][0];
	do {
		enum change change = change_of(duel, &data);

		if (!noted[change])
			note_call(duel, name, change, &data, &values);
		noted[change] = true;
	} while (data_next(&values, at, &data) && ++calls < MOST_CALLS);
}

/* --- circumstances -------------------------------------------------------- */

static bool
programs_equal(const struct duel *duel)
{
	const struct sbx_program *old = duel->programs[SIDE_OLD];
	const struct sbx_program *new = duel->programs[SIDE_NEW];

	if (old == NULL || new == NULL)
		return old == new;
	return old->count ==
	    new->count &&memcmp(duel->blobs[SIDE_OLD]->bpf + old->first,
		duel->blobs[SIDE_NEW]->bpf + new->first,
		old->count * sizeof *duel->blobs[SIDE_OLD]->bpf) == 0;
}

static void
duel_run(struct duel *duel, const char *const *names)
{
	uint32_t limit = duel->arch->number_limit;

	if (programs_equal(duel))
		return;
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_program *program = duel->programs[side];

		duel->loadable[side] = program != NULL &&
		    bpf_is_loadable(duel->blobs[side]->bpf + program->first,
			program->count);
	}
	for (uint32_t i = 0; i < NUMBERS_END || i < limit; i++)
		duel_call(duel, (int)i, i < limit ? names[i] : NULL);
}

/* The least ABI with which a level runs, and which both policies accept. */
static int
least_abi(const struct pass *pass, enum sbx_level level)
{
	int abi = level == SBX_LEVEL_FULL ? 4 : 1;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		int floor = pass->comparison->blobs[side]->meta->landlock;

		if (floor > abi)
			abi = floor;
	}
	return abi;
}

static struct duel
duel_make(struct pass *pass, const struct arch *arch, enum sbx_level level,
    int abi)
{
	struct duel duel = {
		.pass = pass,
		.arch = arch,
		.level = level,
		.abi = abi,
	};

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		struct subject subject = pass->subjects[side];

		subject.level = level;
		subject.abi = abi;
		duel.blobs[side] = pass->comparison->blobs[side];
		duel.programs[side] = verdict_program(&subject);
	}
	return duel;
}

/* One level, from the newest ABI down: the usual first. */
static void
compare_level(struct pass *pass, const struct arch *arch, enum sbx_level level,
    const char *const *names)
{
	struct duel last = { .abi = -1 };

	for (int abi = SBX_MAX_ABI + 1; abi >= least_abi(pass, level); abi--) {
		struct duel duel = duel_make(pass, arch, level,
		    abi > SBX_MAX_ABI ? 0 : abi);

		if (last.abi < 0 ||
		    duel.programs[SIDE_OLD] != last.programs[SIDE_OLD] ||
		    duel.programs[SIDE_NEW] != last.programs[SIDE_NEW])
			duel_run(&duel, names);
		last = duel;
	}
}

void
compare_syscalls(struct pass *pass)
{
	const struct arch *arch = pass->subjects[SIDE_OLD].arch;
	const char **names = arena_alloc(pass->scratch,
	    arch->number_limit * sizeof *names);
	enum sbx_level levels[SBX_LEVEL_END];
	size_t count = common_levels(pass->comparison, levels);

	syscall_names(arch, names);
	for (size_t i = 0; i < count; i++)
		compare_level(pass, arch, levels[i], names);
}

/* Whether rules about the network brought a change of this kind. */
static bool
network_changed(const struct comparison *comparison, enum change change)
{
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (difference->change == change &&
		    (difference->kind == DIFFERENCE_PORT ||
			difference->kind == DIFFERENCE_DOMAIN ||
			difference->kind == DIFFERENCE_ENDPOINT))
			return true;
	}
	return false;
}

void
compare_implied(struct comparison *comparison)
{
	bool changed[] = {
		[CHANGE_WIDER] = network_changed(comparison, CHANGE_WIDER),
		[CHANGE_NARROWER] = network_changed(comparison,
		    CHANGE_NARROWER),
	};
	size_t kept = 0;

	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (!difference->implied || !changed[difference->change])
			comparison->differences.items[kept++] = *difference;
	}
	comparison->differences.count = kept;
}
