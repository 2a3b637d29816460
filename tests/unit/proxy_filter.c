/*
 * The filters of sbx-proxy's processes alone, without Landlock beside them: who
 * may make which call, and that all else answers ENOSYS.
 */
#include "runtime/base/kernel.h"
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	RELAY = 1 << CONFINED_RELAY | 1 << CONFINED_RELAY_PATH,
	PATH = 1 << CONFINED_RELAY_PATH,
	LOOKUP = 1 << CONFINED_LOOKUP,
	MAKERS = RELAY | LOOKUP | 1 << CONFINED_INSIDE,
	EVERY = MAKERS | 1 << CONFINED_TLS,
	CLONE_THREAD_FLAG = 0x10000,
	PROT_RW = 3,
	PROT_RX = 5,
};

static const struct call {
	const char *name;
	long number, args[3];
	int may; /* bits of kinds */
} calls[] = {
	{ "socket(AF_INET)", SYS_socket, { AF_INET, SOCK_STREAM }, MAKERS },
	{ "socket(AF_INET6)", SYS_socket, { AF_INET6, SOCK_STREAM }, MAKERS },
	{ "socket(AF_UNIX)", SYS_socket, { AF_UNIX, SOCK_STREAM },
	    PATH | LOOKUP },
	{ "socket(AF_NETLINK)", SYS_socket, { AF_NETLINK, SOCK_RAW }, LOOKUP },
	{ "socket(AF_PACKET)", SYS_socket, { AF_PACKET, SOCK_RAW }, 0 },
	{ "socket(AF_VSOCK)", SYS_socket, { 40, SOCK_STREAM }, 0 },
	{ "connect", SYS_connect, { 0 }, RELAY | LOOKUP },
	{ "accept4", SYS_accept4, { 0 }, RELAY },
	{ "bind", SYS_bind, { 0 }, LOOKUP },
	{ "listen", SYS_listen, { 0 }, 0 },
	{ "splice", SYS_splice, { 0 }, RELAY },
	{ "sendmsg", SYS_sendmsg, { 0 }, EVERY },
	{ "read", SYS_read, { 0 }, EVERY },
	{ "openat", SYS_openat, { 0 }, LOOKUP },
	{ "openat2", 437, { 0 }, 0 },
	{ "open_by_handle_at", SYS_open_by_handle_at, { 0 }, 0 },
	{ "getdents64", SYS_getdents64, { 0 }, LOOKUP },
	{ "readlinkat", SYS_readlinkat, { 0 }, LOOKUP },
	{ "unlinkat", SYS_unlinkat, { 0 }, 0 },
	{ "renameat2", SYS_renameat2, { 0 }, 0 },
	{ "linkat", SYS_linkat, { 0 }, 0 },
	{ "mkdirat", SYS_mkdirat, { 0 }, 0 },
	{ "fchmodat", SYS_fchmodat, { 0 }, 0 },
	{ "execve", SYS_execve, { 0 }, 0 },
	{ "execveat", SYS_execveat, { 0 }, 0 },
	{ "clone, a process", SYS_clone, { 17 }, 0 },
	{ "clone, a thread", SYS_clone, { CLONE_THREAD_FLAG }, LOOKUP },
	{ "clone3", 435, { 0 }, 0 },
	{ "mmap, for data", SYS_mmap, { 0, 0, PROT_RW }, EVERY },
	{ "mmap, for code", SYS_mmap, { 0, 0, PROT_RX }, LOOKUP },
	{ "mprotect, for data", SYS_mprotect, { 0, 0, PROT_RW }, EVERY },
	{ "mprotect, for code", SYS_mprotect, { 0, 0, PROT_RX }, LOOKUP },
	{ "memfd_create", SYS_memfd_create, { 0 }, 0 },
	{ "ioctl(FIONREAD)", SYS_ioctl, { 0, 0x541b }, LOOKUP },
	{ "ioctl(TIOCSTI)", SYS_ioctl, { 0, 0x5412 }, 0 },
	{ "prlimit64, to ask", SYS_prlimit64, { 0, 7, 0 }, LOOKUP },
	{ "prlimit64, to set", SYS_prlimit64, { 0, 7, 1 }, 0 },
	{ "kill", SYS_kill, { 0 }, 0 },
	{ "tgkill", SYS_tgkill, { 0 }, 0 },
	{ "ptrace", SYS_ptrace, { 0 }, 0 },
	{ "process_vm_readv", SYS_process_vm_readv, { 0 }, 0 },
	{ "pidfd_getfd", 438, { 0 }, 0 },
	{ "prctl", SYS_prctl, { 0 }, 0 },
	{ "seccomp", SYS_seccomp, { 0 }, 0 },
	{ "bpf", SYS_bpf, { 0 }, 0 },
	{ "io_uring_setup", 425, { 0 }, 0 },
	{ "setns", SYS_setns, { 0 }, 0 },
	{ "unshare", SYS_unshare, { 0 }, 0 },
	{ "mount", SYS_mount, { 0 }, 0 },
	{ "mlock", SYS_mlock, { 0 }, 1 << CONFINED_TLS },
	{ "keyctl", SYS_keyctl, { 0 }, 0 },
	{ "shmget", SYS_shmget, { 0 }, 0 },
};

enum { CALLS = sizeof calls / sizeof *calls };

/* All that they may make, with arguments of zero: what stands in no list here is
 * nobody's. */
static const int of_every[] = {
	SYS_sendto,
	SYS_recvfrom,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_read,
	SYS_write,
	SYS_writev,
	SYS_close,
	SYS_fcntl,
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_futex,
	SYS_getrandom,
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_exit,
	SYS_getpid,
	SYS_gettid,
#ifdef SYS_time
	SYS_time,
#endif
};
static const int of_relays[] = {
	SYS_epoll_pwait,
	SYS_splice,
	SYS_accept4,
	SYS_epoll_ctl,
	SYS_pipe2,
	SYS_shutdown,
	SYS_getsockname,
	SYS_connect,
	SYS_setsockopt,
	SYS_getsockopt,
	SYS_ppoll,
#ifdef SYS_poll
	SYS_poll,
	SYS_epoll_wait,
#endif
};
static const int of_tls[] = {
	SYS_epoll_pwait,
	SYS_epoll_ctl,
	SYS_shutdown,
	SYS_setsockopt,
	SYS_mlock,
#ifdef SYS_poll
	SYS_epoll_wait,
#endif
};
static const int of_lookup[] = {
	SYS_getsockname,
	SYS_getpeername,
	SYS_connect,
	SYS_setsockopt,
	SYS_getsockopt,
	SYS_sendmmsg,
	SYS_recvmmsg,
	SYS_bind,
	SYS_ppoll,
	SYS_pselect6,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_set_robust_list,
	SYS_sched_getaffinity,
	SYS_sched_yield,
	SYS_openat,
	SYS_readv,
	SYS_pread64,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_fstatfs,
	SYS_faccessat,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_uname,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_eventfd2,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_prlimit64,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_poll
	SYS_poll,
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_select,
#endif
};

enum { NUMBERS = 600, X32 = 0x40000000 };

/* What a process of a kind was answered. */
struct answers {
	int listed[CALLS], plain[NUMBERS], x32[NUMBERS];
};

/* Those that end a process which makes them: exit_group(2), and the kernel's own
 * uretprobe(2) and uprobe(2), of which no filter is asked. */
static bool
is_tried(int number)
{
#ifdef __x86_64__
	if (number == 335 || number == 336)
		return false;
#endif
	return number != SYS_exit_group;
}

static int
error_of(long number, const long args[3])
{
	return syscall(number, args[0], args[1], args[2]) == -1 ? errno : 0;
}

/* Beneath the filter lies one that answers EXDEV to all that it lets through: so
 * any call can be tried, and none happens. */
__attribute__((noreturn)) static void
ask_filter(enum confined kind, struct answers *answers)
{
	static const struct sbx_insn insns[] = {
		{ .code = 0x20 },
		{ .code = 0x15, .k = SYS_seccomp, .jt = 2 },
		{ .code = 0x15, .k = SYS_exit_group, .jt = 1 },
		{ .code = 0x06, .k = SECCOMP_RET_ERRNO | EXDEV },
		{ .code = 0x06, .k = SECCOMP_RET_ALLOW },
	};
	struct sock_fprog beneath = { sizeof insns / sizeof *insns, insns };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    seccomp(SECCOMP_SET_MODE_FILTER, 0, &beneath) != 0 ||
	    !filter_install(kind))
		_exit(1);
	for (int i = 0; i < CALLS; i++)
		answers->listed[i] = error_of(calls[i].number, calls[i].args);
	for (int i = 0; i < NUMBERS; i++) {
		const long zeros[3] = { 0 };

		if (!is_tried(i))
			continue;
		answers->plain[i] = error_of(i, zeros);
		answers->x32[i] = error_of(X32 | i, zeros);
	}
	/* A sanitizer would do more before _exit(2). */
	for (;;)
		syscall(SYS_exit_group, 0);
}

static bool
lists(const int *list, size_t count, int number)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == number)
			return true;
	}
	return false;
}

#define LISTS(list, number) lists(list, sizeof(list) / sizeof *(list), number)

static int
who_may(int number)
{
	return (LISTS(of_every, number) ? EVERY : 0) |
	    (LISTS(of_relays, number) ? RELAY : 0) |
	    (LISTS(of_tls, number) ? 1 << CONFINED_TLS : 0) |
	    (LISTS(of_lookup, number) ? LOOKUP : 0);
}

/* Each number there is, and those behind. */
static void
try_numbers(struct tap *tap, int kind, const struct answers *answers)
{
	bool held = true;

	for (int i = 0; i < NUMBERS; i++) {
		bool may = (who_may(i) & 1 << kind) != 0;

		if (!is_tried(i) ||
		    (answers->plain[i] == (may ? EXDEV : ENOSYS) &&
			answers->x32[i] == ENOSYS))
			continue;
		held = false;
		printf("# call %d: %d, of x32 %d\n", i, answers->plain[i],
		    answers->x32[i]);
	}
	tap_ok(tap, held, "kind %d: the calls of its list, and no others",
	    kind);
}

static void
try_filter(struct tap *tap)
{
	struct answers *answers = mmap(NULL,
	    CONFINED_END * sizeof(struct answers), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int kind = 0; kind < CONFINED_END; kind++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			ask_filter((enum confined)kind, &answers[kind]);
		tap_ok(tap, waitpid(pid, &status, 0) == pid && status == 0,
		    "kind %d: it has its filter", kind);
		try_numbers(tap, kind, &answers[kind]);
	}
	for (int i = 0; i < CALLS; i++) {
		bool held = true;

		for (int kind = 0; kind < CONFINED_END; kind++)
			held &= answers[kind].listed[i] ==
			    ((calls[i].may & 1 << kind) != 0 ? EXDEV : ENOSYS);
		tap_ok(tap, held, "%s: only by whom it is needed",
		    calls[i].name);
	}
	munmap(answers, CONFINED_END * sizeof(struct answers));
}

#ifdef __x86_64__
/* getpid(2) of the 32-bit machine, whose number is another call's here. */
static int
end_of_other_machine(bool filtered)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		long number = 20;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		    (filtered && !filter_install(CONFINED_LOOKUP)))
			_exit(1);
		__asm__ volatile("int $0x80" : "+a"(number) : : "memory");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void
try_other_machine(struct tap *tap)
{
	/* Where the kernel takes none, the processor ends who tries: SIGSEGV. */
	bool taken = end_of_other_machine(false) == 0;
	int status = end_of_other_machine(true);

	tap_ok(tap,
	    WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS || !taken),
	    "a call of 32 bits is the end");
}
#endif

int
main(void)
{
	struct tap tap = { 0 };

	try_filter(&tap);
#ifdef __x86_64__
	try_other_machine(&tap);
#endif
	return tap_done(&tap);
}
