/*
 * Every verdict of a filter against the running kernel, and a process that
 * really lives under the default filter.
 */
#include "tests/lib/ask_kernel.h"
#include "tests/lib/tap.h"
#include "tests/unit/filter_cases.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>

enum { NUMBERS_END = 1024, CALLS_MAX = 4096 };

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
	bool has_int80 = kernel_takes_int80();

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
			if (!has_int80)
				continue;
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
live(bool has_int80)
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
	MUST(raw("ioctl", 0, TIOCSETD, 0) == EPERM);
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
	MUST(!has_int80 ||
	    kernel_call(&(struct syscall_data){ .number = 20,
		.audit = AUDIT_ARCH_I386 }) == -ENOSYS);
#endif
#undef MUST
	return wrong;
}

static void
test_live(struct tap *tap)
{
	struct arena *arena = arena_new();
	bool has_int80 = kernel_takes_int80();
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
				*wrong = live(has_int80);
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

	test_kernel(&tap);
	test_live(&tap);
	return tap_done(&tap);
}
