/*
 * Runs a command under ptrace and writes down what it asks of Landlock and
 * seccomp before its second exec, as a plan for minload; prints every system
 * call that the loader made, so that what it does beside them is seen too.
 *
 *	record [-b WORDS] PLAN sbxrun POLICY -- /path/to/true
 *
 * -b: where to write the options that make the same view with bubblewrap.
 */
#include "bench/plan.h"
#include "bench/view.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
	NR_LANDLOCK_RESTRICT_SELF = 446,
	SECCOMP_MODE_FILTER = 1,
	GET_SYSCALL_INFO = 0x420e,
	INFO_ENTRY = 1,
	INFO_EXIT = 2,
	MAX_NUMBER = 1024,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUSER |
	    CLONE_NEWNET,
};

/* struct ptrace_syscall_info, which older headers lack.  When the call is over
 * `number` holds what it returned. */
struct syscall_entry {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	uint64_t number;
	uint64_t args[6];
	uint64_t room[4];
};

struct rule {
	struct plan_rule plan;
	char path[4096];
	dev_t device;
	ino_t inode;
};

struct recorder {
	struct plan plan;
	struct rule
	    *rules;   /* behind those that were taken: the one asked for */
	pid_t asking; /* who made that call, which is not over yet */
	char *steps;
	size_t step_size;
	FILE *words; /* for bubblewrap, or NULL */
	uint64_t insns[4096];
	unsigned calls[MAX_NUMBER];
	int execs;
};

static void
die(const char *what)
{
	fprintf(stderr, "record: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
fetch(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)size)
		die("process_vm_readv");
}

static void
see_ruleset(struct recorder *recorder, pid_t pid, const uint64_t *args)
{
	size_t size = args[1];

	if (args[0] == 0) /* asks for the ABI */
		return;
	if (size > sizeof recorder->plan.attr)
		size = sizeof recorder->plan.attr;
	fetch(pid, args[0], recorder->plan.attr, size);
	recorder->plan.attr_size = (uint32_t)size;
	recorder->plan.layers++;
}

/* The process that is watched is gone when the plan is carried out. */
static void
name_self(char *path, size_t size, pid_t pid)
{
	char own[32], rest[4096];
	int len = snprintf(own, sizeof own, "/proc/%d", (int)pid);

	if (strncmp(path, own, (size_t)len) != 0 ||
	    (path[len] != '\0' && path[len] != '/'))
		return;
	snprintf(rest, sizeof rest, "%s", path + len);
	snprintf(path, size, "/proc/self%.4000s", rest);
}

static void
see_rule(struct recorder *recorder, pid_t pid, const uint64_t *args)
{
	struct rule *rule;
	struct stat status;
	char link[64];
	int32_t fd;

	recorder->rules = realloc(recorder->rules,
	    (recorder->plan.rules + 1) * sizeof *recorder->rules);
	if (recorder->rules == NULL)
		die("realloc");
	rule = &recorder->rules[recorder->plan.rules];
	*rule = (struct rule){ .plan = { .type = (uint32_t)args[1] } };
	recorder->asking = pid;
	fetch(pid, args[2], &rule->plan.access, sizeof rule->plan.access);
	if (rule->plan.type == PLAN_PORT) {
		fetch(pid, args[2] + 8, &rule->plan.port,
		    sizeof rule->plan.port);
		return;
	}
	fetch(pid, args[2] + 8, &fd, sizeof fd);
	snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, fd);
	if (readlink(link, rule->path, sizeof rule->path - 1) < 0 ||
	    stat(link, &status) != 0)
		die(link);
	rule->device = status.st_dev;
	rule->inode = status.st_ino;
	name_self(rule->path, sizeof rule->path, pid);
}

static void
see_filter(struct recorder *recorder, pid_t pid, const uint64_t *args)
{
	struct {
		unsigned short len;
		uint64_t insns;
	} program;

	if (args[0] != SECCOMP_MODE_FILTER)
		return;
	fetch(pid, args[2], &program, sizeof program);
	if (recorder->plan.insns > 0 || program.len > 4096)
		die("more than one filter");
	fetch(pid, program.insns, recorder->insns, program.len * 8UL);
	recorder->plan.insns = program.len;
	recorder->plan.filter_flags = (uint32_t)args[1];
}

/* The supervisor drops its own as well. */
static void
see_capability(struct recorder *recorder, uint64_t capability)
{
	if (recorder->plan.capabilities <= capability)
		recorder->plan.capabilities = (uint32_t)capability + 1;
}

/* Who is not dumpable cannot be read by who traces it, and the command's process
 * shares memory with the first one until it executes. */
static void
stay_readable(pid_t pid)
{
#ifdef __x86_64__
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rsi), 1L);
#else
	(void)pid;
#endif
}

static void
see_call(struct recorder *recorder, pid_t pid)
{
	struct syscall_entry entry = { 0 };

	if (ptrace((enum __ptrace_request)GET_SYSCALL_INFO, pid,
		(void *)sizeof entry, &entry) < 0)
		die("PTRACE_GET_SYSCALL_INFO");
	if (entry.op == INFO_EXIT && recorder->asking == pid) {
		/* One that the kernel refused is left out: sbxrun tries what
		 * is right for a directory first. */
		recorder->asking = 0;
		recorder->plan.rules += entry.number == 0;
	}
	if (entry.op != INFO_ENTRY || recorder->execs != 1)
		return;
	if (entry.number < MAX_NUMBER)
		recorder->calls[entry.number]++;
	if (entry.number == NR_LANDLOCK_CREATE_RULESET)
		see_ruleset(recorder, pid, entry.args);
	else if (entry.number == NR_LANDLOCK_ADD_RULE)
		see_rule(recorder, pid, entry.args);
	else if (entry.number == NR_LANDLOCK_RESTRICT_SELF)
		recorder->plan.restrict_flags = (uint32_t)entry.args[1];
	else if (entry.number == SYS_seccomp)
		see_filter(recorder, pid, entry.args);
	else if (entry.number == SYS_clone)
		recorder->plan.namespaces |= entry.args[0] & NAMESPACES;
	else if (entry.number == SYS_prctl && entry.args[0] == PR_CAPBSET_DROP)
		see_capability(recorder, entry.args[1]);
	else if (entry.number == SYS_prctl && entry.args[0] == PR_SET_DUMPABLE)
		stay_readable(pid);
}

/* The command starts: what it sees is what sbxrun has made. */
static void
see_view(struct recorder *recorder, pid_t pid)
{
	FILE *steps = open_memstream(&recorder->steps, &recorder->step_size);

	if (steps == NULL)
		die("open_memstream");
	if (recorder->plan.namespaces & CLONE_NEWNS) {
		if (recorder->words != NULL &&
		    (recorder->plan.namespaces & CLONE_NEWNET))
			fputs("--unshare-net\n", recorder->words);
		recorder->plan.steps = view_write(steps, recorder->words, pid);
		for (uint32_t i = 0; i < recorder->plan.rules; i++) {
			struct rule *rule = &recorder->rules[i];

			if (rule->plan.type == PLAN_PATH)
				view_name(pid, rule->device, rule->inode,
				    rule->path, sizeof rule->path);
		}
	}
	fclose(steps);
}

static pid_t
start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(command[0], command);
		die(command[0]);
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

/* Returns the exit status of the first process. */
static int
watch(struct recorder *recorder, pid_t first)
{
	int status, last = -1;

	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
		int signal = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid == first)
				last = status;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			see_call(recorder, pid);
		else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			if (++recorder->execs == 2)
				see_view(recorder, pid);
		} else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP)
			signal = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal);
	}
	return last;
}

static void
write_rule(FILE *file, struct rule *rule)
{
	uint32_t size = (uint32_t)(strlen(rule->path) / 8 + 1) * 8;

	rule->plan.size = rule->plan.type == PLAN_PATH ? size : 0;
	fwrite(&rule->plan, sizeof rule->plan, 1, file);
	/* Zeros follow the path up to its array's end. */
	fwrite(rule->path, rule->plan.size, 1, file);
}

static void
write_plan(struct recorder *recorder, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die(path);
	fwrite(&recorder->plan, sizeof recorder->plan, 1, file);
	for (uint32_t i = 0; i < recorder->plan.rules; i++)
		write_rule(file, &recorder->rules[i]);
	fwrite(recorder->steps, recorder->step_size, 1, file);
	fwrite(recorder->insns, 8, recorder->plan.insns, file);
	if (fclose(file) != 0)
		die(path);
}

static void
print_calls(const struct recorder *recorder)
{
	unsigned total = 0;

	for (int i = 0; i < MAX_NUMBER; i++)
		total += recorder->calls[i];
	printf("%u Landlock rules, %u instructions, %u steps of the view, %u "
	       "system calls (number x times):",
	    recorder->plan.rules, recorder->plan.insns, recorder->plan.steps,
	    total);
	for (int i = 0; i < MAX_NUMBER; i++) {
		if (recorder->calls[i] > 0)
			printf(" %dx%u", i, recorder->calls[i]);
	}
	putchar('\n');
}

int
main(int argc, char **argv)
{
	struct recorder recorder = { .execs = 0 };
	int status;

	if (argc > 4 && strcmp(argv[1], "-b") == 0) {
		recorder.words = fopen(argv[2], "w");
		if (recorder.words == NULL)
			die(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc < 3) {
		fputs("usage: record [-b WORDS] PLAN COMMAND [ARG...]\n",
		    stderr);
		return 2;
	}
	status = watch(&recorder, start(argv + 2));
	if (status != 0 || recorder.execs < 2) {
		fprintf(stderr, "record: status %d after %d exec\n", status,
		    recorder.execs);
		return 1;
	}
	write_plan(&recorder, argv[1]);
	print_calls(&recorder);
	return 0;
}
