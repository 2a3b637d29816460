/*
 * The floor for a join of a prepared sandbox.  Two children are made:
 *
 *	this process --> enters the namespaces --> the command
 *
 * A process that has entered a PID namespace is not in it, only its children
 * are; the command is made with CLONE_PARENT, so that this process waits for
 * it.
 */
#include "bench/plan.h"
#include "bench/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NR_LANDLOCK_RESTRICT_SELF = 446,
	SECCOMP_MODE_FILTER = 1,
	STACK_SIZE = 64 * 1024,
	BORROWED = CLONE_VM | CLONE_VFORK | SIGCHLD,
};

struct program {
	unsigned short len;
	const void *insns;
};

struct join {
	const struct plan *plan;
	struct program filter;
	int init;       /* a pidfd */
	int namespaces; /* CLONE_NEW* */
	int ruleset;
	char directory[4096];
	char stacks[2][STACK_SIZE];
};

/* One command that is being started. */
struct start {
	struct join *join;
	char **argv;
	int child;
};

extern char **environ;

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static char *
stack(struct join *join, int which)
{
	return join->stacks[which] + STACK_SIZE;
}

static int
run_command(void *data)
{
	const struct start *start = data;
	const struct join *join = start->join;
	const struct plan *plan = join->plan;

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	must(syscall(NR_LANDLOCK_RESTRICT_SELF, join->ruleset,
	    plan->restrict_flags));
	must(syscall(SYS_seccomp, SECCOMP_MODE_FILTER, plan->filter_flags,
	    &join->filter));
	execve(start->argv[0], start->argv, environ);
	_exit(127);
}

static int
enter(void *data)
{
	struct start *start = data;
	struct join *join = start->join;

	must(setns(join->init, join->namespaces));
	must(chdir(join->directory));
	start->child = clone(run_command, stack(join, 1),
	    BORROWED | CLONE_PARENT, start);
	must(start->child);
	_exit(0);
}

/* Paths are those of the sandbox's view.  The descriptor is left to us. */
static int
make_ruleset(void *data)
{
	struct start *start = data;
	struct join *join = start->join;

	must(setns(join->init, join->namespaces & ~CLONE_NEWPID));
	must(chdir(join->directory));
	join->ruleset = plan_ruleset(join->plan,
	    (const char *)(join->plan + 1));
	_exit(0);
}

static int
wait_status(int pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		fail("waitpid");
	return status;
}

struct join *
join_prepare(const char *plan, const char *init)
{
	struct join *join = calloc(1, sizeof *join);
	struct start start = { .join = join };
	const char *steps;
	int pid;

	if (join == NULL || getcwd(join->directory, 4096) == NULL)
		fail("join");
	join->plan = plan_read(plan);
	join->filter.len = (unsigned short)join->plan->insns;
	steps = plan_after_rules(join->plan, (const char *)(join->plan + 1));
	join->filter.insns = plan_after_steps(join->plan, steps);
	join->namespaces = (int)join->plan->namespaces;
	join->init = (int)syscall(SYS_pidfd_open, atoi(init), 0);
	if (join->init < 0)
		fail("pidfd_open");
	/* As root sbxrun makes no user namespace: that is its own. */
	pid = clone(make_ruleset, stack(join, 0), BORROWED | CLONE_FILES,
	    &start);
	if (pid < 0 || wait_status(pid) != 0)
		fail("the ruleset of a join");
	return join;
}

int
join_run(const struct join *prepared, char **argv)
{
	struct join *join = (struct join *)prepared;
	struct start start = { .join = join, .argv = argv };
	int pid = clone(enter, stack(join, 0), BORROWED, &start), status;

	if (pid < 0)
		fail("clone");
	status = wait_status(pid);
	return status != 0 ? status : wait_status(start.child);
}
