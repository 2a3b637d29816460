/*
 * Names and tables, then what policies mean: single verdicts that somebody
 * could get wrong, the variants, every verdict against the running kernel, and
 * a process that really lives under the default filter.
 */
#include "tests/lib/ask_kernel.h"
#include "tests/lib/samples.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <termios.h>

#define HIGH (1ULL << 32)
#define ERR(name) (FILTER_ERRNO | (name))

enum {
	NUMBERS_END = 1024,
	X32 = 0x40000000,
	CALLS_MAX = 4096,
	NO_RULE = 0,
	ALLOWED_AT = 100,
	DENIED_AT = 200,
	NETWORK_AT = 300,
};

/* --- names ---------------------------------------------------------------- */

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

		for (int n = -2; n < NUMBERS_END; n++) {
			const char *name = syscall_name(arch, n);

			wrong += name != NULL &&
			    (syscall_number(arch, name) != n ||
				(uint32_t)n >= arch->number_limit);
		}
		wrong += syscall_name(arch, (int)arch->number_limit - 1) ==
		    NULL;
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
	    (filter->min_abi == 0 &&
		is_among(name, denied_without_landlock,
		    countof(denied_without_landlock)));
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
			    entry->action != FILTER_ALLOW;

			if (entry->name == NULL)
				continue;
			count += is_denied;
			/* Some variants open no socket at all. */
			if (strcmp(entry->name, "socket") != 0 &&
			    is_denied != name_is_denied(filter, entry->name))
				tap_ok(tap, false, "'%s' on %s", entry->name,
				    filter->arch->name);
		}
		tap_ok(tap, count > 45, "%s denies %zu calls",
		    filter->arch->name, count);
	}
	arena_release(arena);
}

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
		bool ok;

		for (; data.number < 470; data.number++) {
			bpf_run(program->insns, program->count, &data, &ok,
			    &steps);
			total += steps;
			most = steps > most ? steps : most;
		}
		tap_ok(tap, program->count <= 90 && total <= 4600 && most <= 18,
		    "%s, flags %#x: %zu instructions, %zu steps "
		    "for all numbers, %zu at most",
		    filter->arch->name, filter->flags, program->count, total,
		    most);
	}
	arena_release(arena);
}

/* --- verdicts ------------------------------------------------------------- */

static const struct sample *
sample_find(const char *name)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++) {
		if (strcmp(samples[i].name, name) == 0)
			return &samples[i];
	}
	abort();
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
			(SBX_PROGRAM_FULL | SBX_PROGRAM_LOOPBACK)) == kind &&
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

/* For which level a filter is: full may have a network of its own. */
enum {
	BELOW = 0,
	FULL = SBX_PROGRAM_FULL,
	LOOPBACK = SBX_PROGRAM_FULL | SBX_PROGRAM_LOOPBACK,
};

struct expectation {
	const char *sample;
	uint32_t kind;
	uint32_t abi;
	const char *name;
	uint64_t args[4];
	uint32_t action;
};

static const struct expectation expectations[] = {
	/* No network: no family but those that something else confines. */
	{ "nothing said", BELOW, 7, "socket", { 2, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 2 | HIGH, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 16, 3, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 40, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 8, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 9, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 9, "socket", { 16, 3, 0 }, ERR(EACCES) },
	{ "nothing said", FULL, 4, "socket", { 1, 2, 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 4, "socket", { 16, 3, 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 4, "socket", { 16, 0x80003, 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 4, "socket", { 16, 3, 9 }, ERR(EACCES) },
	{ "nothing said", FULL, 10, "socket", { 2, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 1 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 0x80801 },
	    FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 5 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 2 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 3 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socketpair", { 30, 1 }, ERR(EACCES) },
	{ "nothing said", BELOW, 9, "socketpair", { 1, 2 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "listen", { 3, 1 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "sendto", { 3, 0, 0, 0x20000000 },
	    FILTER_ALLOW },
	/* A view that shows the host's sockets is no view without them. */
	{ "a view of everything", FULL, 7, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "a view of everything", FULL, 9, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	/* The network: streams and datagrams of any protocol. */
	{ "the internet", BELOW, 0, "socket", { 2, 1, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 10, 0x80802, 17 },
	    FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 2, 2, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 10, 1, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 16, 2, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 2, 3, 1 }, ERR(EACCES) },
	{ "the internet", BELOW, 0, "socket", { 2, 5, 132 }, ERR(EACCES) },
	{ "the internet", BELOW, 0, "socket", { 17, 3, 0 }, ERR(EACCES) },
	{ "the internet", BELOW, 0, "socket", { 16, 3, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 1, 1, 0 }, ERR(EACCES) },
	/* A network of its own, at level full and if the loader has made it. */
	{ "a network of its own", BELOW, 10, "socket", { 2, 1, 0 },
	    ERR(EACCES) },
	{ "a network of its own", BELOW, 10, "socket", { 10, 2, 0 },
	    ERR(EACCES) },
	{ "a network of its own", FULL, 10, "socket", { 2, 1, 0 },
	    ERR(EACCES) },
	{ "a network of its own", FULL, 10, "socket", { 10, 2, 17 },
	    ERR(EACCES) },
	{ "a network of its own", FULL, 4, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "a network of its own", FULL, 6, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 2, 1, 0 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 10, 0x80802, 17 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 2, 3, 1 },
	    ERR(EACCES) },
	{ "a network of its own", LOOPBACK, 4, "socket", { 17, 3, 0 },
	    ERR(EACCES) },
	{ "a network of its own", LOOPBACK, 4, "socket", { 40, 1, 0 },
	    ERR(EACCES) },
	{ "a network of its own", LOOPBACK, 4, "listen", { 3, 1 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "unshare", { 0x40000000 },
	    ERR(EPERM) },
	{ "loopback and a view", LOOPBACK, 8, "socket", { 1, 1, 0 },
	    ERR(EACCES) },
	{ "loopback and a view", LOOPBACK, 9, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	/* Shared with the host, its abstract sockets need Landlock 6. */
	{ "the internet", FULL, 5, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "the internet", FULL, 6, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	{ "abstract sockets", FULL, 4, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	/* Ports: TCP, where Landlock holds it. */
	{ "ports to connect to", BELOW, 3, "socket", { 2, 1, 0 }, ERR(EACCES) },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 1, 0 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 0x801, 6 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 10, 0x80001, 6 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 10, 1, 0 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 1, 262 },
	    ERR(EACCES) },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 2, 0 }, ERR(EACCES) },
	{ "ports to connect to", BELOW, 4, "sendto", { 3, 0, 0, 0x20000000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "sendto", { 3, 0, 0, 0x20004000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "sendto", { 3, 0, 0, 0x4000 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "sendmsg", { 3, 0, 0x20000000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "sendmmsg", { 3, 0, 1, 0x20000000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "listen", { 3, 1 }, ERR(EACCES) },
	{ "ports both ways", BELOW, 4, "listen", { 3, 1 }, FILTER_ALLOW },
	{ "ports both ways", FULL, 7, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	/* The terminal. */
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x5412 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x5412 | HIGH }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x541c }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x5401 }, FILTER_ALLOW },
	{ "everything known", BELOW, 7, "ioctl", { 0, 0x5412 }, ERR(EPERM) },
	/* Namespaces. */
	{ "nothing said", BELOW, 7, "clone", { 0x11 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "clone", { 0x3d0f00 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "clone", { 0x10000011 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "clone", { 0x20011 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "clone", { 0x2000011 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "clone3", { 0 }, ERR(ENOSYS) },
	{ "nothing said", BELOW, 7, "unshare", { 0 }, ERR(EPERM) },
	{ "namespaces", BELOW, 7, "clone", { 0x10000011 }, FILTER_ALLOW },
	{ "namespaces", BELOW, 7, "clone3", { 0 }, FILTER_ALLOW },
	{ "namespaces", BELOW, 7, "setns", { 0 }, FILTER_ALLOW },
	{ "no clone", BELOW, 7, "clone", { 0x11 }, ERR(EPERM) },
	{ "no clone", BELOW, 7, "clone3", { 0 }, ERR(ENOSYS) },
	{ "no clone", BELOW, 7, "ioctl", { 0, 0x5401 }, ERR(EPERM) },
	/* Personalities. */
	{ "nothing said", BELOW, 7, "personality", { 0xffffffff },
	    FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "prlimit64", { 0, 0, 1 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "prlimit64", { 1, 0, 1 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "personality", { 8 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x20000 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x20008 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x40000 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x40008 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x440000 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "personality", { 0x400000 }, ERR(EPERM) },
	{ "debuggers", BELOW, 7, "personality", { 0x400000 }, FILTER_ALLOW },
	/* The baseline, what lifts it, and what a deny takes back. */
	{ "nothing said", BELOW, 7, "mount", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "open_tree_attr", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 0, "ptrace", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ptrace", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "io_uring_setup", { 0 }, ERR(ENOSYS) },
	{ "nothing said", BELOW, 7, "statmount", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "mbind", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "seccomp", { 0 }, FILTER_ALLOW },
	{ "mounts", BELOW, 7, "mount", { 0 }, FILTER_ALLOW },
	{ "mounts", BELOW, 7, "open_tree_attr", { 0 }, FILTER_ALLOW },
	{ "mounts", BELOW, 7, "umount2", { 0 }, ERR(EPERM) },
	{ "mounts", BELOW, 0, "ptrace", { 0 }, ERR(EPERM) },
	{ "debuggers", BELOW, 0, "ptrace", { 0 }, FILTER_ALLOW },
	{ "debuggers", BELOW, 0, "process_vm_readv", { 0 }, ERR(EPERM) },
	{ "no sockets", BELOW, 7, "socketpair", { 1, 1 }, ERR(EPERM) },
	{ "no sockets", FULL, 9, "socket", { 1, 1, 0 }, ERR(EPERM) },
	{ "everything known", BELOW, 7, "reboot", { 0 }, FILTER_ALLOW },
};

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
		{ "the internet", "ioctl", NO_RULE, "terminal input" },
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

/* --- variants ------------------------------------------------------------- */

static void
test_variants(struct tap *tap)
{
	static const struct {
		const char *sample, *variants; /* "flags@ABI" of one machine */
	} cases[] = {
		{ "nothing said", "0@0 10@1 12@9 17@4" },
		{ "the internet", "0@0 10@1 12@9 15@4 17@6" },
		{ "abstract sockets", "0@0 10@1 12@9 17@4" },
		{ "ports to connect to", "0@0 10@1 18@4 1a@9 1d@4 1f@6" },
		{ "a view of everything", "0@0 10@1 12@9 15@4 17@9" },
		{ "no sockets", "0@0 10@1 17@4" },
		{ "a network of its own", "0@0 10@1 12@9 15@4 17@6 37@4" },
		{ "both networks", "0@0 10@1 12@9 15@4 17@6" },
		{ "loopback and a view", "0@0 10@1 12@9 15@4 17@9 35@4 37@9" },
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

/* --- the kernel ----------------------------------------------------------- */

/* Calls that no filter sees: the kernel answers with a signal. */
static bool
number_is_exempt(const struct arch *arch, int number)
{
	return number >= 0 &&
	    (number == syscall_number(arch, "uretprobe") ||
		number == syscall_number(arch, "uprobe"));
}

static size_t
calls_add(struct syscall_data *calls, size_t count, uint32_t audit, int number,
    const uint64_t *args)
{
	calls[count] = (struct syscall_data){ .number = number,
		.audit = audit };
	memcpy(calls[count].args, args, 4 * sizeof *args);
	return count + 1;
}

/* Every number, the odd ones, and the arguments of the cases above. */
static size_t
calls_collect(const struct arch *arch, struct syscall_data *calls)
{
	static const int odd[] = { -1, X32, X32 | 41, X32 | 520, 0x3fffffff,
		0x7fffffff, -0x7fffffff };
	static const uint64_t none[4];
	size_t count = 0;

	for (int i = 0; i < NUMBERS_END; i++) {
		if (!number_is_exempt(arch, i))
			count = calls_add(calls, count, arch->audit, i, none);
	}
	for (size_t i = 0; i < countof(odd); i++)
		count = calls_add(calls, count, arch->audit, odd[i], none);
	for (size_t i = 0; i < countof(expectations); i++)
		count = calls_add(calls, count, arch->audit,
		    syscall_number(arch, expectations[i].name),
		    expectations[i].args);
	return count;
}

/* int $0x80: in a list of its own, since the kernel may be without it. */
static size_t
calls_collect_compat(const struct arch *arch, struct syscall_data *calls)
{
	static const uint64_t args[4] = { 2, 1, 0, 0 };

	for (int i = 0; i < 500; i++)
		calls_add(calls, (size_t)i, arch->compat_audit, i, args);
	return 500;
}

static size_t
kernel_differs(const struct filter *filter, const struct bpf_program *program,
    const struct syscall_data *calls, size_t count)
{
	static uint32_t actions[CALLS_MAX];
	size_t differ = 0;

	if (!kernel_verdicts(program, calls, count, actions))
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		if (actions[i] == filter_verdict(filter, &calls[i]))
			continue;
		if (differ++ < 5)
			printf("# call %d of %#x: the kernel says %#x\n",
			    calls[i].number, calls[i].audit, actions[i]);
	}
	return differ;
}

static void
test_kernel(struct tap *tap)
{
	static struct syscall_data calls[CALLS_MAX];
	struct arena *arena = arena_new();

	for (size_t i = 0; i < SAMPLE_COUNT; i++) {
		size_t differ = 0, tried = 0;
		struct filter_set set;

		filters_build(sample_policy(arena, &samples[i]), &set);
		for (size_t j = 0; j < set.filters.count; j++) {
			const struct filter *filter = &set.filters.items[j];
			size_t count;

			if (filter->arch->audit != KERNEL_AUDIT)
				continue;
			count = calls_collect(filter->arch, calls);
			differ += kernel_differs(filter, &set.programs.items[j],
			    calls, count);
			tried += count;
#ifdef __x86_64__
			count = calls_collect_compat(filter->arch, calls);
			differ += kernel_differs(filter, &set.programs.items[j],
			    calls, count);
			tried += count;
#endif
		}
		if (tried == 0)
			tap_skip(tap, "not a machine of ours",
			    "%s: the kernel's verdicts", samples[i].name);
		else
			tap_ok(tap, differ == 0,
			    "%s: %zu calls as the kernel "
			    "says",
			    samples[i].name, tried);
	}
	arena_release(arena);
}

/* --- a life under the default filter -------------------------------------- */

static void *
thread_main(void *argument)
{
	return argument;
}

/* 0, or the errno of a raw call. */
static int
raw(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	int number = 0;

	for (size_t i = 0; i < arch_count; i++) {
		if (arches[i].audit == KERNEL_AUDIT)
			number = syscall_number(&arches[i], name);
	}
	return syscall(number, a, b, c, 0, 0, 0) < 0 ? errno : 0;
}

/* One bit for each thing that is not as it should be. */
static unsigned
live(void)
{
	unsigned wrong = 0, bit = 1;
	int pair[2], status;
	pthread_t thread;
	pid_t child;

#define MUST(condition) (wrong |= (condition) ? 0 : bit, bit <<= 1)
	MUST(raw("socket", AF_INET, SOCK_STREAM, 0) == EACCES);
	MUST(raw("socket", AF_INET | HIGH, SOCK_STREAM, 0) == EACCES);
	MUST(raw("socket", AF_INET6, SOCK_DGRAM, 0) == EACCES);
	MUST(raw("socket", AF_UNIX, SOCK_STREAM, 0) == EACCES);
	MUST(raw("ioctl", 0, TIOCSTI, 0) == EPERM);
	MUST(raw("ioctl", 0, TIOCSTI | HIGH, 0) == EPERM);
	MUST(raw("clone", CLONE_NEWUSER | SIGCHLD, 0, 0) == EPERM);
	MUST(raw("clone", CLONE_NEWUSER | SIGCHLD | HIGH, 0, 0) == EPERM);
	MUST(raw("clone3", 0, 0, 0) == ENOSYS);
	MUST(raw("unshare", CLONE_NEWUSER, 0, 0) == EPERM);
	MUST(raw("io_uring_setup", 1, 0, 0) == ENOSYS);
	MUST(raw("mount", 0, 0, 0) == EPERM);
	MUST(raw("personality", 0x400000, 0, 0) == EPERM);
	MUST(personality(0xffffffff) >= 0);
	MUST(syscall(9999) < 0 && errno == ENOSYS);
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 &&
	    send(pair[0], "x", 1, 0) == 1);
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 && errno == EACCES);
	MUST(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
	MUST(pthread_create(&thread, NULL, thread_main, NULL) == 0 &&
	    pthread_join(thread, NULL) == 0);
	child = fork();
	if (child == 0)
		_exit(7);
	MUST(child > 0 && waitpid(child, &status, 0) == child &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 7);
	MUST(system("exit 5") == 5 << 8);
#ifdef __x86_64__
	MUST(syscall(X32 | 39) < 0 && errno == ENOSYS);
	MUST(kernel_call(&(struct syscall_data){ .number = 20,
		 .audit = AUDIT_ARCH_I386 }) == -ENOSYS);
#endif
#undef MUST
	return wrong;
}

static void
test_live(struct tap *tap)
{
	struct arena *arena = arena_new();
	struct filter_set set;

	filters_build(sample_policy(arena, sample_find("nothing said")), &set);
	for (size_t i = 0; i < set.filters.count; i++) {
		const struct filter *filter = &set.filters.items[i];
		unsigned *wrong = mmap(NULL, sizeof *wrong,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pid_t child;

		if (filter->arch->audit != KERNEL_AUDIT || filter->flags != 0)
			continue;
		*wrong = UINT32_MAX;
		child = fork();
		if (child == 0) {
			if (kernel_install(set.programs.items[i].insns,
				set.programs.items[i].count))
				*wrong = live();
			_exit(0);
		}
		waitpid(child, NULL, 0);
		tap_ok(tap, *wrong == 0, "life under the default filter: %#x",
		    *wrong);
	}
	arena_release(arena);
}

int
main(void)
{
	struct tap tap = { 0, 0 };

	test_names(&tap);
	test_list(&tap);
	test_groups(&tap);
	test_baseline(&tap);
	test_shape(&tap);
	test_expectations(&tap);
	test_reasons(&tap);
	test_variants(&tap);
	test_one_machine(&tap);
	test_everything(&tap);
	test_kernel(&tap);
	test_live(&tap);
	return tap_done(&tap);
}
