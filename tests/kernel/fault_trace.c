/*
 * One run of the loader under ptrace, in which one call may fail.
 */
#include "tests/kernel/fault.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	GET_SYSCALL_INFO = 0x420e,
	INFO_ENTRY = 1,
	INFO_EXIT = 2,
	PATIENCE = 60, /* seconds for one run */
};

/* struct ptrace_syscall_info, which older headers lack. */
struct stop {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	uint64_t number;
	uint64_t args[6];
	uint64_t room[4];
};

static volatile sig_atomic_t expired;

void
die(const char *what)
{
	fprintf(stderr, "fault: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void
expire(int number)
{
	(void)number;
	expired = 1;
}

/* --- the machine ----------------------------------------------------------- */

/* Makes the call that a process is about to make one that is not there. */
static void
call_skip(pid_t pid)
{
#if defined __x86_64__
	long value = -1;

	if (ptrace(PTRACE_POKEUSER, pid,
		(void *)offsetof(struct user_regs_struct, orig_rax),
		(void *)value) != 0)
		die("PTRACE_POKEUSER");
#elif defined __aarch64__
	int value = -1;
	struct iovec io = { &value, sizeof value };

	if (ptrace((enum __ptrace_request)PTRACE_SETREGSET, pid,
		(void *)0x404L /* NT_ARM_SYSTEM_CALL */, &io) != 0)
		die("PTRACE_SETREGSET");
#else
#error "no way to skip a call on this machine"
#endif
}

static void
call_answer(pid_t pid, int error)
{
	struct user_regs_struct registers;
	struct iovec io = { &registers, sizeof registers };

	if (ptrace((enum __ptrace_request)PTRACE_GETREGSET, pid,
		(void *)(long)NT_PRSTATUS, &io) != 0)
		die("PTRACE_GETREGSET");
#if defined __x86_64__
	registers.rax = (unsigned long long)-error;
#else
	registers.regs[0] = (unsigned long long)-error;
#endif
	if (ptrace((enum __ptrace_request)PTRACE_SETREGSET, pid,
		(void *)(long)NT_PRSTATUS, &io) != 0)
		die("PTRACE_SETREGSET");
}

/* --- one run --------------------------------------------------------------- */

/* Of a process that has just been made, so its parent is there. */
static pid_t
parent_of(pid_t pid)
{
	char path[64];
	FILE *file;
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

/* What the command starts is not counted, nor what has begun before. */
static bool
is_counted(const struct run *run, pid_t pid)
{
	pid_t parent = run->began ? parent_of(pid) : 0;

	for (int i = 0; parent > 0 && i < run->process_count; i++) {
		if (run->processes[i].pid == parent)
			return run->processes[i].counted &&
			    !run->processes[i].is_command;
	}
	return false;
}

static struct process *
process_of(struct run *run, pid_t pid)
{
	struct process *process;

	for (int i = 0; i < run->process_count; i++) {
		if (run->processes[i].pid == pid)
			return &run->processes[i];
	}
	if (run->process_count == MAX_PROCESSES)
		return NULL;
	process = &run->processes[run->process_count];
	process->counted = is_counted(run, pid);
	run->process_count++;
	process->pid = pid;
	return process;
}

static bool
opens_policy(const struct run *run, pid_t pid, const struct stop *stop)
{
	char path[4096] = "";
	uint64_t address = stop->args[0];
	struct iovec local = { path, sizeof path - 1 }, remote;
	size_t room, end = strlen(run->begin);

	if (stop->number == SYS_openat || stop->number == SYS_openat2)
		address = stop->args[1];
#ifdef SYS_open
	else if (stop->number != SYS_open)
#else
	else
#endif
		return false;
	/* Up to the end of its page, as the next need not be there. */
	room = 4096 - address % 4096;
	remote = (struct iovec){ (void *)(uintptr_t)address, room };
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0)
		return false;
	room = strlen(path);
	return room >= end && strcmp(path + room - end, run->begin) == 0;
}

static void
see_entry(struct run *run, struct process *process, const struct stop *stop)
{
	int number = (int)stop->number, index;
	const struct call *fault = &run->fault;

	if (!run->began && opens_policy(run, process->pid, stop))
		run->began = process->counted = true;
	if (!process->counted || process->is_command || number < 0 ||
	    number >= MAX_NUMBER)
		return;
	index = (int)(process - run->processes);
	process->times[number]++;
	if (run->calls != NULL && run->call_count < MAX_CALLS)
		run->calls[run->call_count++] = (struct call){ index, number,
			process->times[number],
			fault_site(process->pid, stop->stack_pointer), false };
	if (fault->process != index || fault->number != number ||
	    fault->time != process->times[number])
		return;
	run->hit = process->failing = true;
	call_skip(process->pid);
}

static void
see_call(struct run *run, struct process *process)
{
	struct stop stop = { 0 };

	if (ptrace((enum __ptrace_request)GET_SYSCALL_INFO, process->pid,
		(void *)sizeof stop, &stop) < 0)
		return;
	if (stop.op == INFO_ENTRY)
		see_entry(run, process, &stop);
	if (stop.op == INFO_EXIT && process->failing) {
		process->failing = false;
		call_answer(process->pid, run->error);
	}
}

static pid_t
start(char **command, int output)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
		/* What must not reach the command. */
		dup2(null, 9);
		setenv("SBX_FAULT", "1", 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(command[0], command);
		_exit(99);
	}
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	    (void *)(long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
		PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		PTRACE_O_TRACECLONE));
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	return pid;
}

/* /proc/PID/syscall begins with the call's number. */
static void
note_stuck(struct run *run, int index)
{
	size_t used = strlen(run->stuck);
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/syscall",
	    (int)run->processes[index].pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(text, sizeof text, file) != NULL)
		snprintf(run->stuck + used, sizeof run->stuck - used,
		    " process %d in %.*s", index, (int)strcspn(text, "\n"),
		    text);
	fclose(file);
}

static void
kill_all(struct run *run)
{
	bool first = !run->hung;

	run->hung = true;
	for (int i = 0; i < run->process_count; i++) {
		if (first && run->processes[i].pid > 0)
			note_stuck(run, i);
		if (run->processes[i].pid > 0)
			kill(run->processes[i].pid, SIGKILL);
	}
}

static void
see_exec(struct run *run, struct process *process)
{
	process->is_command = run->began && !run->follows;
	if (*run->begin == '\0' && !run->began)
		run->began = process->counted = true;
}

/* A stop of one process, which then goes on. */
static void
see_stop(struct run *run, struct process *process, int status)
{
	int signal = 0;

	if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		see_call(run, process);
	else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		see_exec(run, process);
	else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP)
		signal = WSTOPSIG(status);
	ptrace(PTRACE_SYSCALL, process->pid, NULL, (void *)(long)signal);
}

static void
watch(struct run *run, pid_t first)
{
	int status;
	pid_t pid;

	for (;;) {
		struct process *process;

		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == ECHILD)
			return;
		if (expired) {
			expired = 0;
			kill_all(run);
		}
		if (pid < 0)
			continue;
		process = process_of(run, pid);
		if (process == NULL)
			die("too many processes");
		if (WIFSTOPPED(status)) {
			see_stop(run, process, status);
			continue;
		}
		process->pid = 0;
		if (pid == first)
			run->status = status;
	}
}

void
trace(char **command, struct run *run)
{
	struct sigaction action = { .sa_handler = expire };
	/* Again and again, for one may come just before waitpid(2). */
	struct itimerval patience = { { 1, 0 }, { PATIENCE, 0 } };
	char name[] = "/tmp/sbx-fault-XXXXXX";
	int output = mkstemp(name);
	ssize_t len;
	pid_t first;

	if (output < 0)
		die(name);
	unlink(name);
	sigaction(SIGALRM, &action, NULL);
	expired = 0;
	setitimer(ITIMER_REAL, &patience, NULL);
	first = start(command, output);
	process_of(run, first);
	watch(run, first);
	patience = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &patience, NULL);
	len = pread(output, run->said, sizeof run->said - 1, 0);
	run->said[len < 0 ? 0 : len] = '\0';
	close(output);
}
