/* See verdict.h. */
#include "compiler/query/verdict.h"

#include "format/select.h"

#include <string.h>

static bool
allows_everything(const struct sbx_blob *blob)
{
	return (blob->meta->flags & SBX_EVERYTHING) != 0;
}

static uint32_t
abi_of(const struct subject *subject)
{
	if (subject->level < SBX_LEVEL_STANDARD)
		return 0;
	return subject->abi > 0 ? (uint32_t)subject->abi : UINT32_MAX;
}

/* What the model says, without the table that holds the rule. */
static struct verdict
verdict_begin(struct sbx_verdict model)
{
	return (struct verdict){
		.allowed = sbx_verdict_allows(model),
		.preferred = model.preferred,
		.source = SBX_NO_SOURCE,
	};
}

/* --- paths ---------------------------------------------------------------- */

static struct verdict
path_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct place_rules rules;
	struct sbx_verdict model;
	struct verdict verdict;

	places_rules_over(&subject->places, subject->arch->platforms,
	    access->path, &rules);
	model = sbx_path_verdict(rules.rules, rules.count, access->detail,
	    access->path);
	verdict = verdict_begin(model);
	verdict.unenforced = !verdict.allowed &&
	    subject->level < SBX_LEVEL_STANDARD;
	if (model.rule == SBX_NO_RULE)
		return verdict;
	verdict.by = BY_PATH;
	verdict.rule = (uint32_t)(rules.paths[model.rule] - blob->paths);
	verdict.source = rules.rules[model.rule].source;
	return verdict;
}

/* --- ports ---------------------------------------------------------------- */

/* Any port is open, in a network that has nobody else in it. */
static struct verdict
loopback_verdict(const struct subject *subject)
{
	return (struct verdict){
		.allowed = subject->level == SBX_LEVEL_FULL,
		.unenforced = subject->level == SBX_LEVEL_NONE,
		.by = BY_NETWORK,
		.source = subject->places.blob->meta->net_source,
	};
}

static struct verdict
port_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model;
	struct verdict verdict;

	if (blob->meta->net == SBX_NET_LOOPBACK)
		return loopback_verdict(subject);
	model = sbx_port_verdict(blob, subject->arch->platforms, access->detail,
	    access->port);
	verdict = verdict_begin(model);
	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_PORT;
		verdict.rule = model.rule;
		verdict.source = blob->ports[model.rule].source;
	} else if (model.reason != SBX_BECAUSE_NOTHING) {
		verdict.by = BY_NETWORK;
		verdict.source = blob->meta->net_source;
	}
	/* Landlock holds the ports, from ABI 4 on: the filter before. */
	if (verdict.allowed && blob->meta->net == SBX_NET_PORTS &&
	    abi_of(subject) < 4) {
		verdict.allowed = false;
		verdict.by = BY_OLD_KERNEL;
	}
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
}

/* --- variables ------------------------------------------------------------ */

static uint32_t
set_rule(const struct subject *subject, const char *name)
{
	const struct sbx_blob *blob = subject->places.blob;
	uint32_t i = 0;

	while (i < blob->set_count &&
	    ((blob->set[i].platforms & subject->arch->platforms) == 0 ||
		strcmp(sbx_string(blob, blob->set[i].name), name) != 0))
		i++;
	return i;
}

static struct verdict
env_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model = sbx_env_verdict(blob,
	    subject->arch->platforms, access->name, strlen(access->name));
	struct verdict verdict = verdict_begin(model);
	uint32_t set = set_rule(subject, access->name);

	if (set < blob->set_count)
		return (struct verdict){
			.allowed = true,
			.by = BY_SET,
			.rule = set,
			.source = blob->set[set].source,
		};
	/* The loader sets it wherever there is a scratch directory. */
	if ((blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED) != 0 &&
	    strcmp(access->name, "TMPDIR") == 0)
		return (struct verdict){
			.allowed = true,
			.by = BY_SCRATCH,
			.source = SBX_NO_SOURCE,
		};
	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_ENV;
		verdict.rule = model.rule;
		verdict.source = blob->env[model.rule].source;
	} else if (verdict.allowed) {
		verdict.by = BY_EVERYTHING;
	}
	return verdict;
}

/* --- system calls --------------------------------------------------------- */

const struct sbx_syscall *
verdict_syscall(const struct sbx_blob *blob, const struct arch *arch,
    const char *name)
{
	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		if ((blob->syscalls[i].platforms & arch->platforms) != 0 &&
		    strcmp(sbx_string(blob, blob->syscalls[i].name), name) == 0)
			return &blob->syscalls[i];
	}
	return NULL;
}

const struct sbx_program *
verdict_program(const struct subject *subject)
{
	const struct sbx_blob *blob = subject->places.blob;
	const struct sbx_circumstances where = {
		.arch = subject->arch->audit,
		.level = subject->level,
		.landlock_abi = abi_of(subject),
		.loopback = subject->level == SBX_LEVEL_FULL &&
		    blob->meta->net == SBX_NET_LOOPBACK,
	};

	return sbx_program_select(blob, &where);
}

/* What the filter says whatever the arguments: those that filters look at are
 * families, types and protocols of sockets; what else there is the blob's
 * record knows. */
static void
filter_ask(const struct subject *subject, const struct sbx_program *program,
    int number, struct verdict *verdict)
{
	const struct sbx_insn *insns = subject->places.blob->bpf +
	    program->first;
	bool denied = false;

	if (!bpf_is_loadable(insns, program->count)) {
		verdict->answer = (uint32_t)FILTER_KILL;
		return;
	}
	for (uint64_t i = 0; i < 16 * 8 * 8; i++) {
		struct syscall_data data = {
			.number = number,
			.audit = subject->arch->audit,
			.args = { i & 15, i >> 4 & 7, i >> 7 & 7 },
		};
		uint32_t answer = bpf_run_loaded(insns, &data);

		if (answer == FILTER_ALLOW) {
			verdict->allowed = true;
		} else {
			denied = true;
			verdict->answer = answer;
		}
	}
	verdict->depends = verdict->allowed && denied;
}

static void
filter_ask_args(const struct subject *subject,
    const struct sbx_program *program, int number, const struct access *access,
    struct verdict *verdict)
{
	struct syscall_data data = {
		.number = number,
		.audit = subject->arch->audit,
	};
	bool ok;

	for (unsigned i = 0; i < access->arg_count; i++)
		data.args[i] = access->args[i];
	verdict->answer = bpf_run(subject->places.blob->bpf + program->first,
	    program->count, &data, &ok, NULL);
	verdict->allowed = verdict->answer == FILTER_ALLOW;
}

static struct verdict
syscall_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct verdict verdict = { .source = SBX_NO_SOURCE };
	int number = syscall_number(subject->arch, access->name);
	const struct sbx_program *program = verdict_program(subject);
	const struct sbx_syscall *call;

	if (number < 0) {
		verdict.by = BY_MACHINE;
		return verdict;
	}
	if (program != NULL && access->arg_count > 0)
		filter_ask_args(subject, program, number, access, &verdict);
	else if (program != NULL)
		filter_ask(subject, program, number, &verdict);
	else
		verdict.allowed = true;
	call = verdict_syscall(blob, subject->arch, access->name);
	if (call != NULL) {
		verdict.by = BY_SYSCALL;
		verdict.rule = (uint32_t)(call - blob->syscalls);
		verdict.source = call->source;
		verdict.depends |= verdict.allowed && access->arg_count == 0 &&
		    call->verdict == SBX_SYSCALL_ARGS;
	}
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
}

struct verdict
verdict_of(const struct subject *subject, const struct access *access)
{
	struct verdict everything = {
		.allowed = true,
		.by = BY_EVERYTHING,
		.source = SBX_NO_SOURCE,
	};

	/* The environment has rules of its own beside `everything`. */
	if (access->kind == ACCESS_ENV)
		return env_verdict(subject, access);
	if (allows_everything(subject->places.blob))
		return everything;
	if (access->kind == ACCESS_PATH)
		return path_verdict(subject, access);
	if (access->kind == ACCESS_PORT)
		return port_verdict(subject, access);
	return syscall_verdict(subject, access);
}
