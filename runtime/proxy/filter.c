/*
 * A list of what is allowed.  All else answers ENOSYS, with which libc tries
 * another way, and modules of the resolver do without.
 */
#include "runtime/proxy/proxy.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Of classic BPF. */
enum {
	BPF_LOAD = 0x20,
	BPF_IF_EQUAL = 0x15,
	BPF_IF_BITS = 0x45,
	BPF_RETURN = 0x06,
	RET_KILL = (int)0x80000000,
};

/* The fields of struct seccomp_data; arguments are looked at by their low half,
 * as the kernel does with an int. */
enum { DATA_NUMBER = 0, DATA_ARCH = 4, DATA_ARGS = 16, ARG_SIZE = 8 };

enum {
	RELAY = 1 << CONFINED_RELAY | 1 << CONFINED_RELAY_PATH,
	PATH = 1 << CONFINED_RELAY_PATH,
	LOOKUP = 1 << CONFINED_LOOKUP,
	INSIDE = 1 << CONFINED_INSIDE,
	TLS = 1 << CONFINED_TLS,
	EVERY = RELAY | LOOKUP | INSIDE | TLS,
};

static const struct call {
	int number;
	int who;
} calls[] = {
	/* Waiting and relaying. */
	{ SYS_epoll_pwait, RELAY | TLS },
	{ SYS_splice, RELAY },
	{ SYS_accept4, RELAY },
	{ SYS_epoll_ctl, RELAY | TLS },
	{ SYS_pipe2, RELAY },
	{ SYS_shutdown, RELAY | TLS },
	{ SYS_getsockname, RELAY | LOOKUP },
	{ SYS_getpeername, LOOKUP },
	{ SYS_connect, RELAY | LOOKUP },
	{ SYS_setsockopt, RELAY | LOOKUP | TLS },
	{ SYS_getsockopt, RELAY | LOOKUP },
	{ SYS_sendto, EVERY },
	{ SYS_recvfrom, EVERY },
	{ SYS_sendmsg, EVERY },
	{ SYS_recvmsg, EVERY },
	{ SYS_sendmmsg, LOOKUP },
	{ SYS_recvmmsg, LOOKUP },
	{ SYS_bind, LOOKUP },
	{ SYS_ppoll, RELAY | LOOKUP },
#ifdef SYS_poll
	{ SYS_poll, RELAY | LOOKUP },
	{ SYS_epoll_wait, RELAY | TLS },
	{ SYS_time, EVERY },
	{ SYS_open, LOOKUP },
	{ SYS_stat, LOOKUP },
	{ SYS_lstat, LOOKUP },
	{ SYS_access, LOOKUP },
	{ SYS_readlink, LOOKUP },
	{ SYS_select, LOOKUP },
#endif
	{ SYS_pselect6, LOOKUP },
	{ SYS_read, EVERY },
	{ SYS_write, EVERY },
	{ SYS_writev, EVERY },
	{ SYS_close, EVERY },
	{ SYS_fcntl, EVERY },
	/* Memory, time, the end. */
	{ SYS_brk, EVERY },
	{ SYS_munmap, EVERY },
	{ SYS_mremap, EVERY },
	{ SYS_mlock, TLS },
	{ SYS_madvise, EVERY },
	{ SYS_futex, EVERY },
	{ SYS_getrandom, EVERY },
	{ SYS_clock_gettime, EVERY },
	{ SYS_gettimeofday, EVERY },
	{ SYS_clock_nanosleep, LOOKUP },
	{ SYS_nanosleep, LOOKUP },
	{ SYS_rt_sigprocmask, EVERY },
	{ SYS_rt_sigaction, EVERY },
	{ SYS_rt_sigreturn, EVERY },
	{ SYS_sigaltstack, EVERY },
	{ SYS_restart_syscall, EVERY },
	{ SYS_exit, EVERY },
	{ SYS_exit_group, EVERY },
	{ SYS_getpid, EVERY },
	{ SYS_gettid, EVERY },
	/* Threads of the resolver, its modules and their files. */
	{ SYS_set_robust_list, LOOKUP },
#ifdef SYS_rseq
	{ SYS_rseq, LOOKUP },
#endif
	{ SYS_sched_getaffinity, LOOKUP },
	{ SYS_sched_yield, LOOKUP },
	{ SYS_mmap, LOOKUP },
	{ SYS_mprotect, LOOKUP },
	{ SYS_openat, LOOKUP },
	{ SYS_readv, LOOKUP },
	{ SYS_pread64, LOOKUP },
	{ SYS_lseek, LOOKUP },
	{ SYS_fstat, LOOKUP },
	{ SYS_newfstatat, LOOKUP },
	{ SYS_statx, LOOKUP },
	{ SYS_fstatfs, LOOKUP },
	{ SYS_faccessat, LOOKUP },
	{ SYS_readlinkat, LOOKUP },
	{ SYS_getdents64, LOOKUP },
	{ SYS_getcwd, LOOKUP },
	{ SYS_uname, LOOKUP },
	{ SYS_getuid, LOOKUP },
	{ SYS_geteuid, LOOKUP },
	{ SYS_getgid, LOOKUP },
	{ SYS_getegid, LOOKUP },
	{ SYS_eventfd2, LOOKUP },
	{ SYS_epoll_create1, LOOKUP },
	{ SYS_epoll_ctl, LOOKUP },
	{ SYS_epoll_pwait, LOOKUP },
	{ SYS_timerfd_create, LOOKUP },
	{ SYS_timerfd_settime, LOOKUP },
};

/* Calls of which only some are allowed. */
static const struct argument {
	int number;
	int who;
	uint8_t index;
	uint8_t test; /* BPF_IF_EQUAL, BPF_IF_BITS */
	bool allows;  /* what the test finds is allowed, else all others are */
	uint32_t value;
} arguments[] = {
	{ SYS_socket, RELAY | LOOKUP | INSIDE, 0, BPF_IF_EQUAL, true, AF_INET },
	{ SYS_socket, RELAY | LOOKUP | INSIDE, 0, BPF_IF_EQUAL, true,
	    AF_INET6 },
	{ SYS_socket, PATH | LOOKUP, 0, BPF_IF_EQUAL, true, AF_UNIX },
	{ SYS_socket, LOOKUP, 0, BPF_IF_EQUAL, true, AF_NETLINK },
	{ SYS_clone, LOOKUP, 0, BPF_IF_BITS, true, CLONE_THREAD },
	{ SYS_ioctl, LOOKUP, 1, BPF_IF_EQUAL, true, 0x541b /* FIONREAD */ },
	{ SYS_mmap, RELAY | INSIDE | TLS, 2, BPF_IF_BITS, false, PROT_EXEC },
	{ SYS_mprotect, RELAY | INSIDE | TLS, 2, BPF_IF_BITS, false,
	    PROT_EXEC },
	/* It is to be asked for alone, and not set. */
	{ SYS_prlimit64, LOOKUP, 2, BPF_IF_EQUAL, true, 0 },
};

enum {
	CALLS = countof(calls),
	ARGUMENTS = countof(arguments),
	INSNS_MAX = 5 + 2 * CALLS + 5 * ARGUMENTS,
};

struct program {
	uint16_t len;
	struct sbx_insn insns[INSNS_MAX];
};

static void
add(struct program *program, uint16_t code, uint32_t k, uint8_t jf)
{
	program->insns[program->len++] = (struct sbx_insn){
		.code = code,
		.jf = jf,
		.k = k,
	};
}

static void
add_call(struct program *program, const struct call *call)
{
	add(program, BPF_IF_EQUAL, (uint32_t)call->number, 1);
	add(program, BPF_RETURN, SECCOMP_RET_ALLOW, 0);
}

/* The number is loaded again behind it, for the next call. */
static void
add_argument(struct program *program, const struct argument *argument)
{
	struct sbx_insn *test;

	add(program, BPF_IF_EQUAL, (uint32_t)argument->number, 4);
	add(program, BPF_LOAD, DATA_ARGS + ARG_SIZE * argument->index, 0);
	add(program, argument->test, argument->value, 1);
	test = &program->insns[program->len - 1];
	if (!argument->allows) {
		test->jt = 1;
		test->jf = 0;
	}
	add(program, BPF_RETURN, SECCOMP_RET_ALLOW, 0);
	add(program, BPF_LOAD, DATA_NUMBER, 0);
}

bool
filter_install(enum confined kind)
{
	struct program program = { .len = 0 };
	struct sock_fprog filter = { .filter = program.insns };

	add(&program, BPF_LOAD, DATA_ARCH, 0);
	add(&program, BPF_IF_EQUAL, KERNEL_ARCH, 0);
	program.insns[1].jt = 1;
	add(&program, BPF_RETURN, (uint32_t)RET_KILL, 0);
	add(&program, BPF_LOAD, DATA_NUMBER, 0);
	for (size_t i = 0; i < CALLS; i++) {
		if ((calls[i].who & 1 << kind) != 0)
			add_call(&program, &calls[i]);
	}
	for (size_t i = 0; i < ARGUMENTS; i++) {
		if ((arguments[i].who & 1 << kind) != 0)
			add_argument(&program, &arguments[i]);
	}
	add(&program, BPF_RETURN, SECCOMP_RET_ERRNO | ENOSYS, 0);
	filter.len = program.len;
	return seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}
