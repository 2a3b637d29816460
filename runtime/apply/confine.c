/*
 * The steps that take rights away for good, in the order in which
 * start/main.c takes them.  A step that fails ends the program with status 125.
 *
 * Some are there a second time, for a process that has its caller's memory
 * (session/enter.c) and must neither end nor write by itself: these give NULL,
 * or a text that says what they could not do, with errno.
 */
#include "runtime/apply/apply.h"

#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h> /* RLIMIT_* */
#include <sys/vfs.h>

#ifndef PR_CAP_AMBIENT
#define PR_CAP_AMBIENT 47
#define PR_CAP_AMBIENT_CLEAR_ALL 4
#endif

/* One that the caller named, and that the command must not have. */
static void
keep_descriptor(int fd, const char *option)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		refuse(option, "not open for writing", EBADF);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		refuse(option, "cannot keep it open", errno);
}

void
confine_descriptors(const struct options *options, int socket)
{
	int kept[6 + OPTIONS_MAX_PASSED] = { STDIN_FILENO, STDOUT_FILENO,
		STDERR_FILENO, options->status_fd, socket, options->questions };

	if (options->status_fd >= 0)
		keep_descriptor(options->status_fd, "--status-fd");
	if (socket >= 0)
		keep_descriptor(socket, "--keep or --join");
	if (options->questions >= 0)
		keep_descriptor(options->questions, "--questions");
	for (uint32_t i = 0; i < options->passed_count; i++) {
		enum { PIPEFS_MAGIC = 0x50495045 };
		struct statfs status;

		/*
		 * A pipe that the caller means the command to have.  Bytes are
		 * all that goes through a pipe: through a socket descriptors
		 * would come, and a file or a directory would be open whatever
		 * the rules say.  A named pipe is a file.
		 */
		if (fstatfs(options->passed[i], &status) != 0)
			refuse("--pass-fd", "this descriptor is not open",
			    errno);
		if (status.f_type != PIPEFS_MAGIC)
			refuse("--pass-fd",
			    "only a pipe without a name is handed on", 0);
		kept[6 + i] = options->passed[i];
	}
	descriptors_keep(kept, 6 + options->passed_count);
}

void
confine_passed(const struct options *options)
{
	for (uint32_t i = 0; i < options->passed_count; i++)
		close(options->passed[i]);
}

/*
 * What a superuser's ordinary commands need: tar and cp give files away,
 * install changes modes, scripts step down to another user.  Devices, mounts,
 * modules, raw sockets, time, tracing and the rest are not among them.
 */
static const uint8_t kept_capabilities[] = {
	0, /* CAP_CHOWN */
	1, /* CAP_DAC_OVERRIDE */
	3, /* CAP_FOWNER */
	4, /* CAP_FSETID */
	5, /* CAP_KILL */
	6, /* CAP_SETGID */
	7, /* CAP_SETUID */
};

enum { CAP_SETPCAP = 8, CAP_LAST = 63 };

static uint64_t
kept_mask(enum sbx_level level)
{
	uint64_t mask = 0;

	if (level == SBX_LEVEL_FULL)
		return 0;
	for (size_t i = 0; i < sizeof kept_capabilities; i++)
		mask |= UINT64_C(1) << kept_capabilities[i];
	return mask;
}

/*
 * execve(2) gives a superuser everything in the bounding set and whatever is
 * inheritable, so both sets shrink.
 */
static bool
shrink_bounding_set(uint64_t kept)
{
	for (unsigned long cap = 0; cap <= CAP_LAST; cap++) {
		if ((kept >> cap & 1) != 0 ||
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		/* The kernel has no capability of this number. */
		return errno == EINVAL;
	}
	return true;
}

/*
 * Containers take CAP_SETPCAP away, without which the bounding set stays as it
 * is.  Under no_new_privs execve(2) gives nothing of it that is not permitted
 * before, so the other sets are enough; capset(2) may always empty them.
 */
static bool
drop_bounding(struct cap_header *header, struct cap_data data[2], uint64_t kept)
{
	const uint32_t setpcap = 1U << CAP_SETPCAP;

	if ((data[0].permitted & ~data[0].effective & setpcap) != 0) {
		data[0].effective |= setpcap;
		if (syscall(SYS_capset, header, data) != 0)
			return false;
	}
	return (data[0].effective & setpcap) == 0 || shrink_bounding_set(kept);
}

static bool
drop_capabilities(struct cap_header *header, struct cap_data data[2],
    uint64_t kept)
{
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective &= (uint32_t)(kept >> 32 * i);
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, header, data) == 0;
}

static const char *
reduce_capabilities(enum sbx_level level, bool executes)
{
	struct cap_header header = { LINUX_CAPABILITY_VERSION_3, 0 };
	struct cap_data data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return "cannot read capabilities";
	if ((data[0].permitted | data[1].permitted | data[0].inheritable |
		data[1].inheritable) == 0)
		return NULL;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return "cannot clear ambient capabilities";
	return (!executes || drop_bounding(&header, data, kept_mask(level))) &&
		drop_capabilities(&header, data, kept_mask(level)) ?
	    NULL :
	    "cannot drop capabilities";
}

const char *
give_up_capabilities(enum sbx_level level)
{
	return reduce_capabilities(level, true);
}

static const char *
give_up_privileges(enum sbx_level level)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return "cannot set no_new_privs";
	return give_up_capabilities(level);
}

/* A step gives NULL, or what it could not do, with errno. */
static void
insist(const char *failed)
{
	if (failed != NULL)
		refuse(NULL, failed, errno);
}

void
confine_privileges(enum sbx_level level)
{
	insist(give_up_privileges(level));
}

const char *
give_up_permitted(enum sbx_level level)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return "cannot set no_new_privs";
	return reduce_capabilities(level, false);
}

void
confine_supervisor(enum sbx_level level)
{
	insist(give_up_permitted(level));
}

/* The kernel's count of all tasks: the number behind the slash in
 * /proc/loadavg, "0.20 0.18 0.12 1/80 11206"; 0 if it cannot be read. */
uint64_t
tasks_on_machine(void)
{
	char text[128];
	const char *slash;
	uint64_t tasks;

	if (!file_read(AT_FDCWD, "/proc/loadavg", text, sizeof text))
		return 0;
	slash = strchr(text, '/');
	if (slash == NULL ||
	    sbx_decimal_read(slash + 1, text + strlen(text), &tasks) == NULL)
		return 0;
	return tasks;
}

/*
 * RLIMIT_NPROC counts all of the user's tasks, inside and outside, so those
 * that run now are added to the policy's.  From Linux 5.14 on, the tasks of a
 * user namespace are counted apart; level full has one, with process 1 beside
 * those of the command, but root often needs none.
 */
static uint64_t
limit_value(const struct sbx_limit *limit, enum sbx_level level, uint64_t tasks)
{
	if (limit->kind != SBX_LIMIT_PROCESSES)
		return limit->value;
	if (level == SBX_LEVEL_FULL && geteuid() != 0)
		return limit->value + 1;
	return limit->value + (tasks > 0 ? tasks : tasks_on_machine());
}

/*
 * Where core_pattern names a program, the kernel starts it whatever the limit is,
 * unless that is 1 byte: then it makes no core at all.  As the size of a file, too,
 * that is less than the least core.  A caller whose hard limit is 0 cannot have 1.
 */
static bool
allow_no_core(void)
{
	static const struct rlimit_pair one = { 1, 1 }, none = { 0, 0 };

	return limit_process(RLIMIT_CORE, &one, NULL) == 0 ||
	    limit_process(RLIMIT_CORE, &none, NULL) == 0;
}

static bool
set_resource(int resource, const struct sbx_limit *limit, uint64_t value)
{
	struct rlimit_pair now, wanted;

	if (resource == RLIMIT_CORE && value == 0)
		return allow_no_core();
	if (limit_process(resource, NULL, &now) != 0)
		return false;
	/* If the caller's limit is lower, it stays. */
	wanted.soft = value < now.soft ? value : now.soft;
	/* At the hard limit on CPU time the kernel kills without the signal that
	 * says why. */
	value += limit->kind == SBX_LIMIT_CPU_TIME;
	wanted.hard = value < now.hard ? value : now.hard;
	return limit_process(resource, &wanted, NULL) == 0;
}

const char *
limit_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks)
{
	/* The supervisor holds the kinds that have no resource. */
	enum { SUPERVISED = -1 };
	static const int resources[SBX_LIMIT_END] = {
		[SBX_LIMIT_FILE_SIZE] = RLIMIT_FSIZE,
		[SBX_LIMIT_PROCESSES] = RLIMIT_NPROC,
		[SBX_LIMIT_OPEN_FILES] = RLIMIT_NOFILE,
		[SBX_LIMIT_CPU_TIME] = RLIMIT_CPU,
		[SBX_LIMIT_MEMORY] = RLIMIT_AS,
		[SBX_LIMIT_CORE] = RLIMIT_CORE,
		[SBX_LIMIT_STACK] = RLIMIT_STACK,
		[SBX_LIMIT_TIMEOUT] = SUPERVISED,
		[SBX_LIMIT_OUTPUT] = SUPERVISED,
	};
	const struct sbx_limit *limit = NULL;

	while ((limit = limit_next(blob, limit)) != NULL) {
		if (resources[limit->kind] == SUPERVISED ||
		    (held >> limit->kind & 1) != 0)
			continue;
		if (!set_resource(resources[limit->kind], limit,
			limit_value(limit, level, tasks)))
			return "cannot set a resource limit";
	}
	return NULL;
}

void
confine_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks)
{
	insist(limit_resources(blob, level, held, tasks));
}

const struct sbx_program *
program_for(const struct sbx_blob *blob, const struct machine *machine,
    struct sbx_circumstances here)
{
	const struct sbx_program *program;

	here.arch = KERNEL_ARCH;
	here.landlock_abi = (uint32_t)machine->landlock_abi;
	program = sbx_program_select(blob, &here);
	if (program == NULL)
		refuse(NULL, "the policy holds no filter for this machine", 0);
	return program;
}

int
confine_ruleset(const struct sbx_landlock *row, uint64_t net, uint64_t scoped)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = row->handled_fs,
		.handled_access_net = net,
		.scoped = scoped,
	};
	int ruleset = landlock_create_ruleset(&attr, sizeof attr, 0);

	if (ruleset < 0)
		refuse(NULL, "cannot create a Landlock ruleset", errno);
	return ruleset;
}

const char *
restrict_files(uint32_t flags, int ruleset)
{
	if (landlock_restrict_self(ruleset, flags) == 0)
		return NULL;
	return errno == E2BIG ?
	    "the kernel nests at most 16 Landlock sandboxes" :
	    "cannot restrict this process with Landlock";
}

void
confine_landlock(const struct sbx_landlock *row, int ruleset)
{
	insist(restrict_files(row->restrict_flags, ruleset));
}

/* A filter sees numbers of descriptors, and any may be a copy.  The policy's answers
 * calls of other architectures. */
const char *
filter_shutdown(void)
{
	const struct sbx_insn insns[] = {
		{ 0x20 /* BPF_LD | BPF_W | BPF_ABS */, 0, 0, 0 },
		{ 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */, 0, 1, SYS_shutdown },
		{ 6 /* BPF_RET | BPF_K */, 0, 0, SECCOMP_RET_ERRNO | EPERM },
		{ 6, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = {
		.len = countof(insns),
		.filter = insns,
	};

	return seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ?
	    NULL :
	    "cannot install the filter that keeps standard error open";
}

const char *
filter_calls(const struct sbx_insn *bpf, const struct sbx_program *program,
    int *listener)
{
	bool listens = (program->flags & SBX_PROGRAM_LISTENER) != 0;
	struct sock_fprog filter = {
		.len = (uint16_t)program->count,
		.filter = bpf + program->first,
	};
	unsigned flags = listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER |
		SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV :
				   0;
	int made = seccomp(SECCOMP_SET_MODE_FILTER, flags, &filter);

	/* Before Linux 5.19. */
	if (listens && made < 0 && errno == EINVAL)
		made = seccomp(SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
	if (made < 0)
		return "cannot install the system call filter";
	*listener = listens ? made : -1;
	return NULL;
}

int
confine_syscalls(const struct sbx_blob *blob, const struct sbx_program *program)
{
	int listener = -1;

	insist(filter_calls(blob->bpf, program, &listener));
	return listener;
}
