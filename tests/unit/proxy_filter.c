/*
 * The filters of sbx-proxy's processes alone, without Landlock beside them: who
 * may make which call, and that all else answers ENOSYS.
 */
#include "runtime/base/kernel.h"
#include "runtime/proxy/filter.h"
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
	EVERY = RELAY | LOOKUP | 1 << CONFINED_INSIDE,
	CLONE_THREAD_FLAG = 0x10000,
	PROT_RW = 3,
	PROT_RX = 5,
};

static const struct call {
	const char *name;
	long number, args[3];
	int may; /* bits of kinds */
} calls[] = {
	{ "socket(AF_INET)", SYS_socket, { AF_INET, SOCK_STREAM }, EVERY },
	{ "socket(AF_INET6)", SYS_socket, { AF_INET6, SOCK_STREAM }, EVERY },
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
	{ "keyctl", SYS_keyctl, { 0 }, 0 },
	{ "shmget", SYS_shmget, { 0 }, 0 },
};

enum { CALLS = sizeof calls / sizeof *calls };

/* Beneath the filter lies one that answers EXDEV to all that it lets through: so
 * any call can be tried, and none happens. */
__attribute__((noreturn)) static void
ask_filter(enum confined kind, int *errors)
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
		errors[i] = syscall(calls[i].number, calls[i].args[0],
				calls[i].args[1], calls[i].args[2]) == -1 ?
		    errno :
		    0;
	/* A sanitizer would do more before _exit(2). */
	for (;;)
		syscall(SYS_exit_group, 0);
}

static void
try_filter(struct tap *tap)
{
	int *errors = mmap(NULL, sizeof(int[CONFINED_END][CALLS]),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int kind = 0; kind < CONFINED_END; kind++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			ask_filter((enum confined)kind, errors + kind * CALLS);
		tap_ok(tap, waitpid(pid, &status, 0) == pid && status == 0,
		    "kind %d: it has its filter", kind);
	}
	for (int i = 0; i < CALLS; i++) {
		bool held = true;

		for (int kind = 0; kind < CONFINED_END; kind++)
			held &= errors[kind * CALLS + i] ==
			    ((calls[i].may & 1 << kind) != 0 ? EXDEV : ENOSYS);
		tap_ok(tap, held, "%s: only by whom it is needed",
		    calls[i].name);
	}
	munmap(errors, sizeof(int[CONFINED_END][CALLS]));
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
	if (end_of_other_machine(false) != 0) {
		tap_skip(tap, "this kernel has none", "calls of 32 bits");
		return;
	}
	int status = end_of_other_machine(true);

	tap_ok(tap, WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
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
