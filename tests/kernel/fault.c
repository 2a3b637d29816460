/*
 * Runs a loader once under ptrace and writes down each system call that it
 * makes; then once more for each of them, in which that one call, and no other,
 * fails.  A call is known by its process (0, 1 ... in the order in which they
 * were made), its number, and how many times that process had made it before.
 * strace counts for each process too, but cannot tell one process from another:
 * an error for the command's seccomp(2) would end its parent before.
 *
 * Counted is from the opening of the policy, which is the first file whose name
 * ends in ".bin", to each process's execve(2) of the command.
 *
 *	fault [-e ERRNO]... [-k TIMES] MARKER LOADER [ARG...]
 *
 * The command is to write MARKER: "ran", then a line for each thing that it
 * could do and should not, then "end".  What is wrong is printed, a line each;
 * what was tried is said on standard error.  -k: no more than so many calls of
 * one name in one process, but for those that confine, which are tried all.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	GET_SYSCALL_INFO = 0x420e,
	INFO_ENTRY = 1,
	INFO_EXIT = 2,
	MAX_NUMBER = 512,
	MAX_PROCESSES = 16,
	MAX_CALLS = 8192,
	MAX_ERRORS = 8,
	PATIENCE = 10, /* seconds for one run */
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

struct call {
	int process, number, time;
};

struct process {
	pid_t pid; /* 0: over, or not there yet */
	bool counted, is_command, failing;
	int times[MAX_NUMBER];
};

/* One run: what is to fail, and what was seen. */
struct run {
	struct call fault; /* process -1: nothing */
	int error;
	bool hit, hung, began;
	int status;
	struct process processes[MAX_PROCESSES];
	int process_count;
	struct call *calls; /* where they are written down, or NULL */
	int call_count;
	char said[4096];
};

struct session {
	const char *marker;
	char **command;
	struct {
		const char *name;
		int value;
	} errors[MAX_ERRORS];
	int error_count;
	int most; /* of one name in one process; 0: all */
	int runs, refused, ran, other;
};

static const struct {
	const char *name;
	int value;
} known_errors[] = {
	{ "EPERM", EPERM },
	{ "EIO", EIO },
	{ "ENOMEM", ENOMEM },
	{ "EINVAL", EINVAL },
	{ "ENOSYS", ENOSYS },
	{ "EACCES", EACCES },
	{ "EAGAIN", EAGAIN },
	{ "EINTR", EINTR },
	{ "EMFILE", EMFILE },
};

/* Each of these is tried, however often it is made. */
static const char *const confining[] = {
	"landlock_create_ruleset",
	"landlock_add_rule",
	"landlock_restrict_self",
	"seccomp",
	"prctl",
	"capset",
	"capget",
	"clone",
	"fork",
	"mount",
	"umount2",
	"mount_setattr",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsconfig",
	"fsmount",
	"pivot_root",
	"chdir",
	"fchdir",
	"unshare",
	"setns",
	"prlimit64",
	"setrlimit",
	"close_range",
	"dup2",
	"dup3",
	"clone3",
};

static volatile sig_atomic_t expired;

__attribute__((noreturn)) static void
die(const char *what)
{
	fprintf(stderr, "fault: %s: %s\n", what, strerror(errno));
	exit(2);
}

static const char *
call_name(int number)
{
	static char text[32];
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

	if (name != NULL)
		snprintf(text, sizeof text, "%s", name);
	else
		snprintf(text, sizeof text, "call %d", number);
	free(name);
	return text;
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
	process = &run->processes[run->process_count++];
	process->pid = pid;
	process->counted = run->began;
	return process;
}

static bool
opens_policy(pid_t pid, const struct stop *stop)
{
	char path[4096] = "";
	uint64_t address = stop->args[0];
	struct iovec local = { path, sizeof path - 1 }, remote;
	size_t room;

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
	return room > 4 && strcmp(path + room - 4, ".bin") == 0;
}

static void
see_entry(struct run *run, struct process *process, const struct stop *stop)
{
	int number = (int)stop->number, index;
	const struct call *fault = &run->fault;

	if (!run->began && opens_policy(process->pid, stop))
		run->began = process->counted = true;
	if (!process->counted || process->is_command || number < 0 ||
	    number >= MAX_NUMBER)
		return;
	index = (int)(process - run->processes);
	process->times[number]++;
	if (run->calls != NULL && run->call_count < MAX_CALLS)
		run->calls[run->call_count++] = (struct call){ index, number,
			process->times[number] };
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

static void
kill_all(struct run *run)
{
	run->hung = true;
	for (int i = 0; i < run->process_count; i++) {
		if (run->processes[i].pid > 0)
			kill(run->processes[i].pid, SIGKILL);
	}
}

/* A stop of one process, which then goes on. */
static void
see_stop(struct run *run, struct process *process, int status)
{
	int signal = 0;

	if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		see_call(run, process);
	else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		process->is_command = run->began;
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

/* Carries a run out: what it says on standard error is kept. */
static void
run_command(const struct session *session, struct run *run)
{
	char name[] = "/tmp/sbx-fault-XXXXXX";
	int output = mkstemp(name);
	ssize_t len;
	pid_t first;

	if (output < 0)
		die(name);
	unlink(name);
	unlink(session->marker);
	expired = 0;
	alarm(PATIENCE);
	first = start(session->command, output);
	process_of(run, first);
	watch(run, first);
	alarm(0);
	len = pread(output, run->said, sizeof run->said - 1, 0);
	run->said[len < 0 ? 0 : len] = '\0';
	close(output);
}

/* --- judging it ------------------------------------------------------------ */

enum ending { RAN, REFUSED, OTHER, WRONG };

static int
lines_in(const char *text)
{
	int lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

/* What the command wrote; false: there is nothing, it did not run. */
static bool
read_marker(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	if (file == NULL)
		return false;
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return true;
}

/*
 * Good is that the command ran and found itself confined, and that it did not
 * run and one line says so: with 125, or with 126 or 127 if it is the command
 * that the view or the rules do not give.  An end of another kind, without the
 * command, is no danger but not what users are promised.
 */
static enum ending
judge(const struct session *session, const struct run *run, char *why,
    size_t size)
{
	static const char good[] = "ran\nend\n";
	char text[sizeof run->said] = "";
	int status = run->status;

	if (run->hung) {
		snprintf(why, size, "hung");
		return WRONG;
	}
	if (read_marker(session->marker, text, sizeof text) ||
	    strncmp(run->said, "ran\n", 4) == 0) {
		if (strncmp(run->said, "ran\n", 4) == 0)
			memcpy(text, run->said, sizeof text);
		if (strcmp(text, good) == 0)
			return RAN;
		/* A supervisor that cannot go on ends what has just begun. */
		if (strncmp(text, good, strlen(text)) == 0 && status != 0)
			return RAN;
		for (char *at = text; *at != '\0'; at++)
			*at = *at == '\n' ? ' ' : *at;
		snprintf(why, size, "NOT CONFINED: %.900s", text);
		return WRONG;
	}
	snprintf(why, size,
	    "no command, wait status %#x, said %d lines: %.200s",
	    (unsigned)status, lines_in(run->said), run->said);
	if (WIFEXITED(status) && WEXITSTATUS(status) >= 125 &&
	    WEXITSTATUS(status) <= 127 && lines_in(run->said) == 1)
		return REFUSED;
	return status == 0 ? WRONG : OTHER;
}

static bool
is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Which ends without a line are as they have to be. */
static bool
is_silent(const char *name)
{
	/* The line itself cannot be written.  The first process, which has
	 * nobody to tell, and the supervisor end all if they cannot wait.
	 * The libraries of a sanitizer die of what they cannot have. */
	static const char *const names[] = { "write", "writev", "poll", "ppoll",
		"mmap", "munmap", "mprotect", "brk", "sigaltstack", "getrlimit",
		"rt_sigprocmask", "rt_sigaction" };

	return is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* --- all runs -------------------------------------------------------------- */

static bool
is_wanted(const struct session *session, const struct call *call)
{
	const char *name = call_name(call->number);

	/* These do not come back, or cannot fail, or but for a signal. */
	static const char *const never[] = { "exit_group", "exit",
		"rt_sigreturn", "restart_syscall", "wait4", "getpid", "getppid",
		"gettid", "getuid", "geteuid", "getgid", "getegid" };

	if (is_one_of(name, never, sizeof never / sizeof never[0]))
		return false;
	return session->most == 0 || call->time <= session->most ||
	    is_one_of(name, confining, sizeof confining / sizeof confining[0]);
}

static void
try_call(struct session *session, const struct call *call, int error)
{
	static struct run run;
	char why[1024] = "";
	enum ending ending;

	memset(&run, 0, sizeof run);
	run.fault = *call;
	run.error = session->errors[error].value;
	run_command(session, &run);
	/* The order of events may differ from run to run. */
	if (!run.hit)
		return;
	session->runs++;
	ending = judge(session, &run, why, sizeof why);
	session->ran += ending == RAN;
	session->refused += ending == REFUSED;
	session->other += ending == OTHER;
	if (ending == WRONG ||
	    (ending == OTHER && !is_silent(call_name(call->number)))) {
		printf("process %d, %s number %d, %s: %s\n", call->process,
		    call_name(call->number), call->time,
		    session->errors[error].name, why);
		fflush(stdout);
	}
}

static void
try_all(struct session *session)
{
	static struct call calls[MAX_CALLS];
	static struct run good;
	char why[1024] = "";

	good.fault.process = -1;
	good.calls = calls;
	run_command(session, &good);
	if (judge(session, &good, why, sizeof why) != RAN || !good.began) {
		printf("without a fault: %s\n", why);
		return;
	}
	for (int i = 0; i < good.call_count; i++) {
		for (int e = 0;
		     e < session->error_count && is_wanted(session, &calls[i]);
		     e++)
			try_call(session, &calls[i], e);
	}
	fprintf(stderr,
	    "# %d calls, %d faults: %d refused, %d ran confined, "
	    "%d ended otherwise\n",
	    good.call_count, session->runs, session->refused, session->ran,
	    session->other);
}

static void
add_error(struct session *session, const char *name)
{
	for (size_t i = 0; i < sizeof known_errors / sizeof known_errors[0];
	     i++) {
		if (strcmp(known_errors[i].name, name) != 0 ||
		    session->error_count == MAX_ERRORS)
			continue;
		session->errors[session->error_count].name = name;
		session->errors[session->error_count++].value =
		    known_errors[i].value;
		return;
	}
	errno = EINVAL;
	die(name);
}

int
main(int argc, char **argv)
{
	static struct session session;
	struct sigaction action = { .sa_handler = expire };
	int option;

	while ((option = getopt(argc, argv, "+e:k:")) != -1) {
		if (option == 'e')
			add_error(&session, optarg);
		else if (option == 'k')
			session.most = atoi(optarg);
		else
			return 2;
	}
	if (session.error_count == 0)
		add_error(&session, "EIO");
	if (argc - optind < 2) {
		fputs("usage: fault [-e ERRNO]... [-k TIMES] MARKER LOADER "
		      "[ARG...]\n",
		    stderr);
		return 2;
	}
	sigaction(SIGALRM, &action, NULL);
	session.marker = argv[optind];
	session.command = argv + optind + 1;
	try_all(&session);
	return 0;
}
