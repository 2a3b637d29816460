/*
 * Asks the running kernel what a program answers, without letting any call
 * happen: in the copy that is installed every verdict is an errno of its own,
 * "allow" too.  So every number may be tried with any arguments, reboot(2) and
 * exit(2) included.  The child can do nothing any more after that; it leaves
 * its answers in shared memory and waits to be killed.
 */
#ifndef SBX_TEST_ASK_KERNEL_H
#define SBX_TEST_ASK_KERNEL_H

#include "compiler/lower/lower.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define KERNEL_AUDIT AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define KERNEL_AUDIT AUDIT_ARCH_AARCH64
#else
#define KERNEL_AUDIT 0 /* not a machine of ours */
#endif

enum {
	KERNEL_ALLOWED = 1,    /* stands for "allow" */
	KERNEL_NOTIFIED = 2,   /* and for what a supervisor answers */
	KERNEL_ERRNO = 1000,   /* added to a denial's errno */
	KERNEL_UNANSWERED = 1, /* no system call returns this here */
};

struct kernel_answers {
	int ready; /* 1: all answers are there; -1: not installed */
	int64_t items[];
};

static inline int64_t
kernel_call(const struct syscall_data *data)
{
	int64_t result = -ENOSYS;
#if defined(__x86_64__)
	register uint64_t r10 __asm__("r10") = data->args[3];
	register uint64_t r8 __asm__("r8") = data->args[4];
	register uint64_t r9 __asm__("r9") = data->args[5];

	if (data->audit == AUDIT_ARCH_I386) {
		int low;

		__asm__ volatile("int $0x80"
				 : "=a"(low)
				 : "a"(data->number), "b"(data->args[0]),
				 "c"(data->args[1]), "d"(data->args[2])
				 : "memory", "r8", "r9", "r10", "r11");
		return low;
	}
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"((int64_t)data->number), "D"(data->args[0]),
			 "S"(data->args[1]), "d"(data->args[2]), "r"(r10),
			 "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register uint64_t x8 __asm__("x8") = (uint64_t)(int64_t)data->number;
	register uint64_t x0 __asm__("x0") = data->args[0];
	register uint64_t x1 __asm__("x1") = data->args[1];
	register uint64_t x2 __asm__("x2") = data->args[2];
	register uint64_t x3 __asm__("x3") = data->args[3];
	register uint64_t x4 __asm__("x4") = data->args[4];
	register uint64_t x5 __asm__("x5") = data->args[5];

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	result = (int64_t)x0;
#else
	(void)data;
#endif
	return result;
}

/* Whether this machine takes calls of 32-bit programs; where it takes none, the
 * processor ends who tries. */
static inline bool
kernel_takes_int80(void)
{
	struct syscall_data getpid = { .number = 20, .audit = AUDIT_ARCH_I386 };
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		kernel_call(&getpid);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static inline bool
kernel_install(const struct sbx_insn *insns, size_t count)
{
	struct sock_fprog program = {
		.len = (unsigned short)count,
		.filter = (struct sock_filter *)(uintptr_t)insns,
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

__attribute__((noreturn)) static inline void
kernel_child(struct sbx_insn *insns, size_t count,
    const struct syscall_data *calls, size_t call_count,
    struct kernel_answers *answers)
{
	for (size_t i = 0; i < count; i++) {
		if (insns[i].code != (BPF_RET | BPF_K))
			continue;
		if (insns[i].k == FILTER_ALLOW)
			insns[i].k = FILTER_ERRNO | KERNEL_ALLOWED;
		else if (insns[i].k == FILTER_NOTIFY)
			insns[i].k = FILTER_ERRNO | KERNEL_NOTIFIED;
		else if ((insns[i].k & 0xffff0000) == FILTER_ERRNO)
			insns[i].k += KERNEL_ERRNO;
	}
	if (!kernel_install(insns, count)) {
		__atomic_store_n(&answers->ready, -1, __ATOMIC_RELEASE);
		_exit(1);
	}
	for (size_t i = 0; i < call_count; i++)
		answers->items[i] = kernel_call(&calls[i]);
	__atomic_store_n(&answers->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* The action behind an answer; FILTER_KILL if there was none. */
static inline uint32_t
kernel_action(int64_t answer)
{
	if (answer == -KERNEL_ALLOWED)
		return FILTER_ALLOW;
	if (answer == -KERNEL_NOTIFIED)
		return FILTER_NOTIFY;
	if (answer < -KERNEL_ERRNO && answer > -4096)
		return FILTER_ERRNO | (uint32_t)(-answer - KERNEL_ERRNO);
	return (uint32_t)FILTER_KILL;
}

/* Fills in an action for each call; false if the program was not loaded. */
static inline bool
kernel_verdicts(const struct bpf_program *program,
    const struct syscall_data *calls, size_t count, uint32_t *actions)
{
	static struct sbx_insn copy[SBX_MAX_INSNS];
	size_t size = sizeof(struct kernel_answers) + count * sizeof(int64_t);
	struct kernel_answers *answers = mmap(NULL, size,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ready = 0;
	pid_t child;

	if (answers == MAP_FAILED)
		return false;
	for (size_t i = 0; i < count; i++)
		answers->items[i] = KERNEL_UNANSWERED;
	memcpy(copy, program->insns, program->count * sizeof *copy);
	child = fork();
	if (child == 0)
		kernel_child(copy, program->count, calls, count, answers);
	while (ready == 0 && waitpid(child, NULL, WNOHANG) == 0) {
		ready = __atomic_load_n(&answers->ready, __ATOMIC_ACQUIRE);
		usleep(200);
	}
	if (ready != 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	for (size_t i = 0; i < count; i++)
		actions[i] = kernel_action(answers->items[i]);
	munmap(answers, size);
	return ready >= 0;
}

#endif
