/*
 * The names and numbers of system calls, the groups of them, and the baseline.
 */
#include "compiler/lower/lower.h"
#include "tests/lib/samples.h"
#include "tests/lib/tap.h"

enum { NUMBERS_END = 1024 };

static void
test_names(struct tap *tap)
{
	const struct arch *x86_64 = &arches[0];
	const struct arch *aarch64 = &arches[1];
	const struct {
		const char *name;
		int x86_64, aarch64;
	} cases[] = {
		{ "read", 0, 63 },
		{ "open", 2, -1 },
		{ "openat", 257, 56 },
		{ "mount", 165, 40 },
		{ "clone3", 435, 435 },
		{ "stime", -1, -1 },
		{ "vm86", -1, -1 },
		{ "socketcall", -1, -1 },
		{ "open_tree_attr", 467, 467 },
		{ "uretprobe", 335, -1 },
		{ "raed", -1, -1 },
		{ "", -1, -1 },
	};
	size_t wrong = 0;

	for (size_t i = 0; i < countof(cases); i++) {
		tap_ok(tap,
		    syscall_number(x86_64, cases[i].name) == cases[i].x86_64 &&
			syscall_number(aarch64, cases[i].name) ==
			    cases[i].aarch64,
		    "number of '%s'", cases[i].name);
	}
	for (size_t i = 0; i < arch_count; i++) {
		const struct arch *arch = &arches[i];

		const char *names[NUMBERS_END];
		const char *const *known = syscall_group("known");

		syscall_names(arch, names);
		for (int n = 0; n < (int)arch->number_limit; n++)
			wrong += names[n] != NULL &&
			    syscall_number(arch, names[n]) != n;
		wrong += names[arch->number_limit - 1] == NULL;
		for (; *known != NULL; known++)
			wrong += syscall_number(arch, *known) >=
			    (int)arch->number_limit;
	}
	tap_ok(tap, wrong == 0, "numbers and names go both ways");
	tap_ok(tap,
	    syscall_is_known("stime") && syscall_is_known("mseal") &&
		syscall_is_known("riscv_hwprobe") &&
		!syscall_is_known("raed") && !syscall_is_known("") &&
		!syscall_is_known("@mount"),
	    "what is a name");
	tap_ok(tap,
	    strcmp(syscall_nearest("raed", false), "read") == 0 &&
		strcmp(syscall_nearest("mounts", true), "mount") == 0 &&
		syscall_nearest("qqqqqqqqqqqq", false) == NULL,
	    "what was meant");
}

/* The library can name numbers that our list of names must hold too. */
static void
test_list(struct tap *tap)
{
	const char *names[NUMBERS_END];
	size_t named[2] = { 0 };

	for (size_t i = 0; i < 2; i++) {
		syscall_names(&arches[i], names);
		for (uint32_t n = 0; n < arches[i].number_limit; n++)
			named[i] += names[n] != NULL;
	}
	/* 0-336 and 424-469; 0-243, 260-294 and 424-469. */
	tap_ok(tap, named[0] == 337 + 46 && named[1] == 244 + 35 + 46,
	    "names for all numbers: %zu and %zu", named[0], named[1]);
}

static bool
group_has(const char *group, const char *name)
{
	const char *const *members = syscall_group(group);

	for (; members != NULL && *members != NULL; members++) {
		if (strcmp(*members, name) == 0)
			return true;
	}
	return false;
}

static void
test_groups(struct tap *tap)
{
	tap_ok(tap,
	    group_has("mount", "open_tree_attr") &&
		group_has("privileged", "chown") &&
		group_has("system-service", "io_uring_setup") &&
		group_has("known", "sysfs") && !group_has("mount", "chown") &&
		syscall_group("none") == NULL &&
		syscall_group("@mount") == NULL,
	    "groups in groups");
}

/*
 * The calls that are denied whatever their arguments when nothing is said, on
 * any machine: written out once more, since nothing else would notice a line of
 * baseline.def or a member of a group that got lost.
 */
static const char *const denied[] = {
	/* io_uring, mounts, namespaces */
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
	"chroot",
	"fsconfig",
	"fsmount",
	"fsopen",
	"fspick",
	"mount",
	"mount_setattr",
	"move_mount",
	"open_tree",
	"open_tree_attr",
	"pivot_root",
	"umount2",
	"unshare",
	"setns",
	"clone3",
	"add_key",
	"keyctl",
	"request_key",
	/* the kernel and the machine */
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"reboot",
	"swapon",
	"swapoff",
	"ioperm",
	"iopl",
	"adjtimex",
	"clock_adjtime",
	"clock_settime",
	"settimeofday",
	"modify_ldt",
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"vmsplice",
	"fanotify_init",
	"lookup_dcookie",
	"name_to_handle_at",
	"open_by_handle_at",
	"openat2",
	"quotactl",
	"quotactl_fd",
	"acct",
	"syslog",
	"vhangup",
	"sethostname",
	"setdomainname",
	"nfsservctl",
	/* what few kernels still have */
	"uselib",
	"_sysctl",
	"create_module",
	"get_kernel_syms",
	"query_module",
	"getpmsg",
	"putpmsg",
	"afs_syscall",
	"tuxcall",
	"security",
	"vserver",
	"sysfs",
	"ustat",
};

/* Those that Landlock keeps inside, wherever there is Landlock. */
static const char *const denied_without_landlock[] = {
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"pidfd_getfd",
	"kcmp",
	"process_madvise",
};

/* What the namespaces and mounts of level full hold. */
static const char *const denied_below_full[] = {
	"file_setattr",
	"mq_open",
	"mq_unlink",
};

/* Those that a supervisor answers there, where it can. */
static const char *const answered_below_full[] = {
	"msgctl",
	"msgget",
	"msgrcv",
	"msgsnd",
	"semctl",
	"semget",
	"semop",
	"semtimedop",
	"shmat",
	"shmctl",
	"shmget",
};

static bool
is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static bool
name_is_denied(const struct filter *filter, const char *name)
{
	return is_among(name, denied, countof(denied)) ||
	    ((filter->flags & SBX_PROGRAM_FULL) == 0 &&
		is_among(name, denied_below_full,
		    countof(denied_below_full))) ||
	    ((filter->flags & (SBX_PROGRAM_FULL | SBX_PROGRAM_LISTENER)) == 0 &&
		is_among(name, answered_below_full,
		    countof(answered_below_full))) ||
	    (filter->min_abi == 0 &&
		is_among(name, denied_without_landlock,
		    countof(denied_without_landlock)));
}

/* None of these calls may reach the kernel's own objects below level full. */
static bool
is_let_through(const struct filter *filter, const struct filter_entry *entry)
{
	return (filter->flags & SBX_PROGRAM_FULL) == 0 &&
	    entry->action == FILTER_ALLOW &&
	    is_among(entry->name, answered_below_full,
		countof(answered_below_full));
}

static void
test_baseline(struct tap *tap)
{
	struct arena *arena = arena_new();
	struct filter_set set;

	filters_build(sample_policy(arena, &samples[0]), &set);
	for (size_t i = 0; i < set.filters.count; i++) {
		const struct filter *filter = &set.filters.items[i];
		size_t count = 0;

		for (size_t j = 0; j < filter->entry_count; j++) {
			const struct filter_entry *entry = &filter->entries[j];
			bool is_denied = entry->clause_count == 0 &&
			    entry->action != FILTER_ALLOW &&
			    entry->action != FILTER_NOTIFY;

			if (entry->name == NULL)
				continue;
			count += is_denied;
			/* Some variants open no socket at all. */
			if (strcmp(entry->name, "socket") != 0 &&
			    (is_denied != name_is_denied(filter, entry->name) ||
				is_let_through(filter, entry)))
				tap_ok(tap, false, "'%s' on %s", entry->name,
				    filter->arch->name);
		}
		tap_ok(tap, count > 45, "%s denies %zu calls",
		    filter->arch->name, count);
	}
	arena_release(arena);
}

/* filter.c walks through both tables at once. */
static void
test_order(struct tap *tap)
{
	size_t call = 0;

	for (size_t i = 1; i < argument_call_count; i++)
		tap_ok(tap,
		    strcmp(argument_calls[i - 1].name,
			argument_calls[i].name) <= 0,
		    "'%s' is in its order", argument_calls[i].name);
	for (size_t i = 0; i < argument_rule_count; i++) {
		while (call < argument_call_count &&
		    strcmp(argument_calls[call].name, argument_rules[i].name) !=
			0)
			call++;
		tap_ok(tap, call < argument_call_count,
		    "a rule about '%s' belongs to a call, in its order",
		    argument_rules[i].name);
	}
}

int
main(void)
{
	struct tap tap = { 0, 0 };

	test_names(&tap);
	test_list(&tap);
	test_groups(&tap);
	test_baseline(&tap);
	test_order(&tap);
	return tap_done(&tap);
}
