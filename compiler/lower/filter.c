/*
 * What every system call gets: a decision list for each number of a machine.
 *
 * Everything is open but the baseline (tables/baseline.def), which a policy's
 * `allow syscalls` lifts entry by entry; `deny syscalls` takes more and beats
 * both.  Some calls are decided by their arguments (tables/baseline.c), in
 * every policy but one that allows everything.  Numbers without a name answer
 * ENOSYS, as on a kernel that does not have them, so that libc falls back
 * instead of walking round the rules by a call that nobody had thought of; so
 * does every call in the 32-bit ways of calling (int 0x80, x32).
 *
 * Why seccomp decides about the network: sockets are refused when they are
 * made, by family, type and protocol.  Without one there is nothing to connect
 * or send with, while socketpairs, which every build tool needs, stay whole.
 * What may be opened depends on what else confines it, so there are variants
 * (struct variant) of which the loader picks one and changes nothing.
 *
 * libseccomp takes part in two ways: it gives names and numbers
 * (tables/syscalls.c), and it is the oracle of tests/model/seccomp_oracle.c,
 * which builds the same rules with it and compares.  The program itself is
 * bpf.c's: it installs in 30 us where libseccomp's tree takes 45 and its list
 * 97, and libseccomp has no way to say "every number from here on".
 */
#include "compiler/lower/lower.h"

#include "compiler/tables/tables.h"

#include <errno.h>
#include <string.h>

/*
 * The circumstances that the loader may find: the kind of level, and the least
 * Landlock ABI that it applies.  Level full needs 4.
 */
static const struct variant {
	bool full;
	uint32_t abi;
} variants[] = {
	{ false, 0 },
	{ false, 1 }, /* tracing is held */
	{ false, 4 }, /* TCP ports are held */
	{ false, 9 }, /* sockets in the file system are held */
	{ true, 4 },
	{ true, 6 }, /* abstract sockets are held */
	{ true, 9 },
};

/* One machine's filter without argument rules, and what they depend on. */
struct machine {
	const struct policy *policy;
	const struct arch *arch;
	struct programs *programs;
	const struct bare_machine *bare;
	struct filter_entry *entries;
	enum sbx_net net;
	struct origin net_origin;
	uint16_t circumstances; /* those that no variant changes */
	bool view_has_sockets;  /* at level full */
	bool shows_interfaces;
};

/* --- numbers -------------------------------------------------------------- */

/* Applies the policy's own rules of one effect; of two the stronger one
 * counts. */
static void
set_rules(struct machine *machine, bool allow)
{
	struct ranked_syscalls ranked = { 0 };

	policy_rank_syscalls(machine->policy, allow, machine->arch->platforms,
	    &ranked);
	for (size_t i = ranked.rules.count; i-- > 0;) {
		const struct rule *rule = ranked.rules.items[i].rule;

		entries_set(machine->entries, machine->arch, rule->syscall.name,
		    rule->syscall.group,
		    &(struct filter_entry){
			.action = allow ? FILTER_ALLOW : FILTER_DENY(EPERM),
			.loc = rule->origin.loc,
			.from = rule->origin.from,
			.reason = rule->syscall.group ?
			    arena_printf(machine->policy->arena, "@%s",
				rule->syscall.name) :
			    rule->syscall.name,
		    });
	}
}

static struct filter_entry *
machine_entry(const struct machine *machine, const char *name)
{
	int number = syscall_number(machine->arch, name);

	return number >= 0 ? &machine->entries[number] : NULL;
}

static void
machine_fill(struct machine *machine)
{
	size_t size = machine->arch->number_limit * sizeof *machine->entries;
	struct filter_entry *clone3;

	machine->entries = arena_alloc(machine->policy->arena, size);
	memcpy(machine->entries, machine->bare->entries, size);
	set_rules(machine, true);
	set_rules(machine, false);
	clone3 = machine_entry(machine, "clone3");
	if (clone3 != NULL && clone3->action != FILTER_ALLOW)
		clone3->action = FILTER_DENY(ENOSYS);
}

/* --- circumstances -------------------------------------------------------- */

/* The command hands its listener to the supervisor under the filter that it
 * comes with.  A policy that does not let it has no listener. */
static bool
may_hand_over(const struct machine *machine)
{
	const struct filter_entry *send = machine_entry(machine, "sendmsg");

	return send != NULL && send->action == FILTER_ALLOW;
}

/* It would connect past the filter. */
static bool
ring_is_open(const struct machine *machine)
{
	const struct filter_entry *ring = machine_entry(machine,
	    "io_uring_setup");

	return ring == NULL || ring->action == FILTER_ALLOW;
}

static struct machine
machine_init(const struct policy *policy, const struct arch *arch,
    struct programs *programs)
{
	struct machine machine = {
		.policy = policy,
		.arch = arch,
		.programs = programs,
		.bare = programs_bare(programs, arch),
	};
	const struct filter_entry *unshare;

	machine.net = policy_net(policy, arch->platforms, &machine.net_origin);
	machine.view_has_sockets = policy_shows_sockets(policy,
	    arch->platforms);
	machine_fill(&machine);
	machine.view_has_sockets |= !may_hand_over(&machine);
	unshare = machine_entry(&machine, "unshare");
	if (unshare == NULL || unshare->action != FILTER_ALLOW)
		machine.circumstances |= WITHOUT_UNSHARE;
	if (!policy_listens(policy, arch->platforms))
		machine.circumstances |= WITHOUT_LISTEN;
	if (machine.net == SBX_NET_FULL)
		machine.circumstances |= WITH_INTERNET | WITH_NETLINK;
	machine.shows_interfaces = policy_shows_interfaces(policy,
	    arch->platforms);
	return machine;
}

/* Below level full the supervisor connects TCP, to what rules name and to the
 * sandbox's own servers, and behind it stands Landlock, which opens no port. */
static bool
connects_tcp(const struct machine *machine, const struct variant *variant,
    uint32_t kind)
{
	return sbx_net_is_own((uint8_t)machine->net) && !variant->full &&
	    variant->abi >= 4 && (kind & SBX_PROGRAM_LISTENER) != 0 &&
	    !ring_is_open(machine);
}

/*
 * What else holds AF_UNIX sockets.  Those with a path: Landlock 9, or a view
 * that has none of the host's.  Abstract ones: Landlock 6, or the network
 * namespace that level full has for a policy that opens nothing in the host's;
 * below 6 the level is not full without it.  A filter with a listener is taken
 * where services of the host may listen in what the view shows to be read.
 */
static bool
sockets_are_held(const struct machine *machine, const struct variant *variant,
    uint32_t kind)
{
	/* There the supervisor connects, and knows stream sockets alone. */
	if (connects_tcp(machine, variant, kind))
		return false;
	if (!variant->full || machine->view_has_sockets ||
	    (kind & SBX_PROGRAM_LISTENER) != 0)
		return variant->abi >= 9;
	return variant->abi >= 6 || machine->net == SBX_NET_NONE ||
	    (kind & SBX_PROGRAM_LOOPBACK) != 0 ||
	    policy_has_blanket(machine->policy, BLANKET_ABSTRACT,
		machine->arch->platforms);
}

static bool
lifts_set_id(const struct machine *machine)
{
	static const char *const calls[] = { "chmod", "fchmod", "fchmodat",
		"fchmodat2" };

	for (size_t i = 0; i < countof(calls); i++) {
		const struct filter_entry *entry = machine_entry(machine,
		    calls[i]);

		if (entry != NULL && entry->action == FILTER_ALLOW &&
		    entry->loc.end != 0)
			return true;
	}
	return false;
}

/* What a variant of some kind (enum sbx_program_flag) opens because of where it
 * runs. */
static uint32_t
variant_flags(const struct machine *machine, const struct variant *variant,
    uint32_t kind)
{
	uint32_t flags = kind;

	/* At full the interfaces are those of a network without others. */
	if (variant->full || (machine->shows_interfaces && variant->abi > 0))
		flags |= SBX_PROGRAM_NETLINK;
	if ((machine->net == SBX_NET_PORTS && variant->abi >= 4) ||
	    connects_tcp(machine, variant, kind))
		flags |= SBX_PROGRAM_TCP;
	if (sockets_are_held(machine, variant, kind))
		flags |= SBX_PROGRAM_UNIX;
	if (variant->abi >= 1)
		flags |= SBX_PROGRAM_TRACE;
	if ((kind & SBX_PROGRAM_LISTENER) != 0 && lifts_set_id(machine))
		flags |= SBX_PROGRAM_SET_ID;
	return flags;
}

/*
 * The supervisor knows AF_UNIX alone: where the policy opens the internet,
 * connect(2) is the kernel's.
 */
static bool
supervisor_connects(const struct machine *machine, uint32_t flags)
{
	return (flags & SBX_PROGRAM_LISTENER) != 0 &&
	    (flags & SBX_PROGRAM_UNIX) == 0 &&
	    (machine->net == SBX_NET_NONE || sbx_net_is_own(machine->net)) &&
	    !ring_is_open(machine);
}

static uint16_t
variant_circumstances(const struct machine *machine, uint32_t flags)
{
	uint16_t all = machine->circumstances;

	all |= flags & SBX_PROGRAM_FULL ? WITH_VIEW : WITHOUT_VIEW;
	if (flags & SBX_PROGRAM_TCP)
		all |= WITH_TCP;
	if (flags & SBX_PROGRAM_UNIX)
		all |= WITH_UNIX;
	if (flags & SBX_PROGRAM_NETLINK)
		all |= WITH_NETLINK;
	if (flags & SBX_PROGRAM_LOOPBACK)
		all |= WITH_INTERNET;
	/* The mounts of a view keep metadata as they are. */
	if ((flags & SBX_PROGRAM_LISTENER) && !(flags & SBX_PROGRAM_FULL))
		all |= WITH_METADATA | WITH_OBJECTS | WITH_UNNAMED |
		    WITH_WATCHING;
	else if (!(flags & SBX_PROGRAM_FULL))
		all |= WITHOUT_OBJECTS;
	if (supervisor_connects(machine, flags))
		all |= WITH_CONNECT;
	/* Then listen(2) is judged, too. */
	if (supervisor_connects(machine, flags) && (flags & SBX_PROGRAM_TCP))
		all &= (uint16_t)~WITHOUT_LISTEN;
	if (all & (WITH_METADATA | WITH_CONNECT))
		all |= WITH_ANSWERS;
	if ((all & WITH_ANSWERS) && !(flags & SBX_PROGRAM_SET_ID))
		all |= WITH_GROUP_BIT;
	return all;
}

/* --- arguments ------------------------------------------------------------ */

/* The clauses of one call that count under these circumstances, of its rules
 * from the first one on. */
static void
entry_add_clauses(struct arena *arena, struct filter_entry *entry,
    const char *name, const struct argument_rule *rule, uint16_t circumstances)
{
	const struct argument_rule *end = argument_rules + argument_rule_count;
	VEC(struct filter_clause) clauses = { 0 };

	for (; rule < end && strcmp(rule->name, name) == 0; rule++) {
		if ((rule->when & ~circumstances) == 0)
			*arena_push(arena, &clauses) = rule->clause;
	}
	entry->clauses = clauses.items;
	entry->clause_count = clauses.count;
}

/* Applies the argument rules to the calls that are open. */
static void
set_arguments(const struct machine *machine, struct filter *filter,
    uint16_t circumstances)
{
	for (size_t i = 0; i < argument_call_count; i++) {
		const struct argument_call *call = &argument_calls[i];
		int number = machine->bare->arguments[i].number;
		struct filter_entry *entry;

		if (number < 0 || (call->when & ~circumstances) != 0)
			continue;
		entry = &filter->entries[number];
		if (entry->action != FILTER_ALLOW ||
		    (call->lifted && entry->loc.end != 0))
			continue;
		entry->action = call->otherwise;
		entry->reason = call->reason;
		entry->loc = (struct loc){ 0, 0 };
		entry->from = NULL;
		if (strcmp(call->reason, "network") == 0) {
			entry->loc = machine->net_origin.loc;
			entry->from = machine->net_origin.from;
		}
		entry_add_clauses(machine->policy->arena, entry, call->name,
		    machine->bare->arguments[i].rules, circumstances);
	}
}

/* What would be open is handed to the supervisor; what is denied, by its
 * arguments or anyway, is not. */
static void
entry_trap(struct arena *arena, struct filter_entry *entry)
{
	struct filter_clause *clauses = arena_alloc(arena,
	    (entry->clause_count + 1) * sizeof *clauses);

	for (size_t i = 0; i < entry->clause_count; i++) {
		clauses[i] = entry->clauses[i];
		if (clauses[i].action == FILTER_ALLOW)
			clauses[i].action = FILTER_NOTIFY;
	}
	entry->clauses = clauses;
	if (entry->action == FILTER_ALLOW)
		entry->action = FILTER_NOTIFY;
}

static void
set_traps(const struct machine *machine, struct filter *filter,
    uint16_t circumstances)
{
	for (size_t i = 0; i < trapped_call_count; i++) {
		const struct trapped_call *call = &trapped_calls[i];
		int number = machine->bare->trapped[i];
		struct filter_entry *entry;

		if (number < 0 || call->in_part ||
		    (call->when & ~circumstances) != 0)
			continue;
		entry = &filter->entries[number];
		if (!call->lifted || entry->loc.end == 0)
			entry_trap(machine->policy->arena, entry);
	}
}

/*
 * Landlock, from its first ABI on, keeps a process from tracing one outside of
 * its domain, by any call; so the baseline need not deny those calls.
 */
static void
open_tracing(struct filter *filter)
{
	const char *const *calls = syscall_group("process-access");

	for (; *calls != NULL; calls++) {
		int number = syscall_number(filter->arch, *calls);
		struct filter_entry *entry;

		if (number < 0)
			continue;
		entry = &filter->entries[number];
		if (entry->action != FILTER_ALLOW && entry->loc.end == 0) {
			entry->action = FILTER_ALLOW;
			entry->reason = NULL;
		}
	}
}

static struct filter
filter_make(const struct machine *machine, uint32_t flags, uint32_t abi)
{
	size_t count = machine->arch->number_limit;
	struct filter filter = {
		.arch = machine->arch,
		.flags = flags,
		.min_abi = abi,
		.entry_count = count,
	};

	filter.entries = arena_alloc(machine->policy->arena,
	    count * sizeof *filter.entries);
	memcpy(filter.entries, machine->entries,
	    count * sizeof *filter.entries);
	if (flags & SBX_PROGRAM_TRACE)
		open_tracing(&filter);
	set_arguments(machine, &filter, variant_circumstances(machine, flags));
	if (policy_denies_spawn(machine->policy, machine->arch->platforms))
		filter_deny_spawn(machine->policy, &filter);
	set_traps(machine, &filter, variant_circumstances(machine, flags));
	return filter;
}

/* --- the whole ------------------------------------------------------------ */

/*
 * Makes the filters of one kind: for level full or those below, for a network
 * of its own or not, with a listener or without.  A filter that equals the one
 * before is left out.
 */
static void
machine_build(const struct machine *machine, uint32_t kind,
    struct filter_set *set)
{
	bool full = (kind & SBX_PROGRAM_FULL) != 0;
	struct arena *arena = machine->policy->arena;
	struct bpf_program last = { NULL, 0 };
	uint32_t last_flags = UINT32_MAX;

	for (size_t i = 0; i < countof(variants); i++) {
		uint32_t flags = variant_flags(machine, &variants[i], kind);
		struct bpf_program program;
		struct filter filter;

		if (variants[i].full != full || flags == last_flags)
			continue;
		/* What Landlock does not hold is not judged either. */
		if ((kind & SBX_PROGRAM_LISTENER) && variants[i].abi == 0)
			continue;
		/* In a view it does not judge what Landlock holds. */
		if ((kind & SBX_PROGRAM_LISTENER) && full &&
		    (flags & SBX_PROGRAM_UNIX))
			continue;
		filter = filter_make(machine, flags, variants[i].abi);
		program = programs_get(machine->programs, arena, &filter);
		last_flags = flags;
		if (program.count == last.count && last.count > 0 &&
		    memcmp(program.insns, last.insns,
			program.count * sizeof *program.insns) == 0)
			continue;
		*arena_push(arena, &set->filters) = filter;
		*arena_push(arena, &set->programs) = program;
		last = program;
	}
}

static void
machine_build_full(const struct machine *machine, uint32_t kind,
    struct filter_set *set)
{
	machine_build(machine, kind, set);
	if (may_hand_over(machine))
		machine_build(machine, kind | SBX_PROGRAM_LISTENER, set);
}

void
filters_build(const struct policy *policy, struct filter_set *set)
{
	struct programs programs = { .arena = policy->arena };

	filters_build_shared(policy, &programs, set);
}

void
filters_build_shared(const struct policy *policy, struct programs *programs,
    struct filter_set *set)
{
	memset(set, 0, sizeof *set);
	for (size_t i = 0; i < arch_count; i++) {
		const struct arch *arch = &arches[i];
		struct machine machine;

		if (policy_has_blanket(policy, BLANKET_EVERYTHING,
			arch->platforms))
			continue;
		machine = machine_init(policy, arch, programs);
		machine_build(&machine, 0, set);
		if (may_hand_over(&machine))
			machine_build(&machine, SBX_PROGRAM_LISTENER, set);
		machine_build_full(&machine, SBX_PROGRAM_FULL, set);
		if (sbx_net_is_own(machine.net))
			machine_build_full(&machine,
			    SBX_PROGRAM_FULL | SBX_PROGRAM_LOOPBACK, set);
	}
}

void
filter_alone(const struct policy *policy, const struct arch *arch,
    uint32_t flags, struct filter *filter)
{
	struct programs programs = { .arena = policy->arena };
	struct machine machine = machine_init(policy, arch, &programs);

	*filter = filter_make(&machine, flags, 0);
}

static bool
clause_holds(const struct filter_clause *clause,
    const struct syscall_data *data)
{
	for (size_t i = 0; i < clause->test_count; i++) {
		const struct filter_test *test = &clause->tests[i];
		uint32_t low = (uint32_t)data->args[test->arg];

		if ((low & test->mask) != test->value)
			return false;
	}
	return true;
}

uint32_t
filter_verdict(const struct filter *filter, const struct syscall_data *data)
{
	uint32_t number = (uint32_t)data->number;
	const struct filter_entry *entry;

	if (data->audit == filter->arch->compat_audit)
		return FILTER_DENY(ENOSYS);
	if (data->audit != filter->arch->audit)
		return (uint32_t)FILTER_KILL;
	if (number >= filter->entry_count)
		return FILTER_DENY(ENOSYS);
	entry = &filter->entries[number];
	for (size_t i = 0; i < entry->clause_count; i++) {
		if (clause_holds(&entry->clauses[i], data))
			return entry->clauses[i].action;
	}
	return entry->action;
}
