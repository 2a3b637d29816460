/* See spawn.h. */
#include "runtime/apply/spawn.h"

#include "runtime/apply/execute.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h> /* RLIMIT_NOFILE */
#include <unistd.h>

enum {
	/* The kernel's table of descriptors is as long as the greatest number:
	 * a megabyte has room for eight times as many as this. */
	FILES_MAX = 16384,
	FILES_MIN = 8,
	EMPTY_PATH = 0x1000, /* AT_EMPTY_PATH */
};

/* The greatest number that may be used; it becomes the limit. */
static int
free_number(const struct rlimit_pair *limit)
{
	if (limit->hard > FILES_MAX)
		return FILES_MAX;
	if (limit->hard < FILES_MIN)
		refuse(NULL,
		    "deny spawn needs a limit on open files of 8 or "
		    "more",
		    0);
	return (int)limit->hard - 1;
}

/* Moves the descriptor to that number, and lowers the limit to it for good. */
static int
move_out_of_reach(int program)
{
	struct rlimit_pair now, wide, narrow;
	int number;

	if (limit_process(RLIMIT_NOFILE, NULL, &now) != 0)
		refuse(NULL, "cannot read the limit on open files", errno);
	number = free_number(&now);
	wide = (struct rlimit_pair){ (uint64_t)number + 1, now.hard };
	narrow = (struct rlimit_pair){
		now.soft < (uint64_t)number ? now.soft : (uint64_t)number,
		(uint64_t)number,
	};
	if (limit_process(RLIMIT_NOFILE, &wide, NULL) != 0 ||
	    dup3(program, number, O_CLOEXEC) != number ||
	    limit_process(RLIMIT_NOFILE, &narrow, NULL) != 0)
		refuse(NULL, "cannot put the command out of reach", errno);
	close(program);
	return number;
}

/* The policy's filter answers calls of other architectures. */
static void
allow_number(int number)
{
	enum {
		LOAD = 0x20 /* BPF_LD | BPF_W | BPF_ABS */,
		EQUALS = 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */,
		RETURN = 6 /* BPF_RET | BPF_K */,
		ARG_0 = 16, /* the lower half, which is all of an int */
	};
	const struct sbx_insn insns[] = {
		{ LOAD, 0, 0, 0 }, /* the number of the call */
		{ EQUALS, 0, 3, SYS_execveat },
		{ LOAD, 0, 0, ARG_0 },
		{ EQUALS, 1, 0, (uint32_t)number },
		{ RETURN, 0, 0, SECCOMP_RET_ERRNO | EPERM },
		{ RETURN, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = {
		.len = sizeof insns / sizeof *insns,
		.filter = insns,
	};

	if (seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		refuse(NULL, "cannot install the filter that denies spawning",
		    errno);
}

int
spawn_prepare(char **argv, struct environment *environment)
{
	int program = execute_open(argv, environment_get(environment, "PATH"));

	if (program < 0)
		execute_refuse(argv[0], errno);
	program = move_out_of_reach(program);
	allow_number(program);
	return program;
}

/* The interpreter of a script gets a path that leads through the descriptor,
 * and would find it closed; so the kernel says that there is no such file. */
void
spawn_execute(int program, char **argv, struct environment *environment)
{
	syscall(SYS_execveat, program, "", argv, environment->variables,
	    EMPTY_PATH);
	if (errno == ENOENT || errno == ENOEXEC) {
		say(argv[0],
		    "under 'deny spawn' a script is not executed: execute its "
		    "interpreter, as in 'sh SCRIPT'",
		    0);
		_exit(EXIT_NOT_EXECUTABLE);
	}
	execute_refuse(argv[0], errno);
}
