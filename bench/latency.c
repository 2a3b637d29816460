/*
 * Starts commands again and again and says how long each took, from before
 * vfork to after wait, and how much CPU time was used for it: by this process,
 * and by all its descendants that were waited for.  What kernel threads do for
 * a command, such as taking down a network namespace, is in neither, nor what a
 * process does that stays.  The commands are interleaved (A B C A B C ...), so
 * that what disturbs the machine disturbs all; everything runs on one CPU.
 *
 *	latency ROUNDS LABEL COMMAND [ARG...] [-- LABEL COMMAND [ARG...]]...
 *
 * The first command is what the others are compared with.  A command may begin
 * with a word that says how it is started, and what that needs:
 *
 *	+join PLAN PID          in the namespaces of that process, by join.c
 *	+spawn POLICY SBXRUN    in a sandbox that libsbx has opened
 *	+then PROGRAM           and PROGRAM ends what it left, untimed
 */
#include "bench/spawn.h"
#include "runtime/library/sbx.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMANDS = 16, WARM_UP = 20 };

struct command {
	const char *label;
	char **argv;
	struct join *join; /* or NULL, as the next */
	struct sbx_sandbox *sandbox;
	char *then;
	double *wall; /* microseconds, a round each */
	double *cpu;
	long faults; /* of the last round */
};

extern char **environ;

static void
die(const char *what)
{
	fprintf(stderr, "latency: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double
microseconds(struct timeval time)
{
	return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

/* The last CPU that we may use: the first takes most interrupts. */
static void
pin(void)
{
	cpu_set_t set, one;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return;
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof one, &one);
		return;
	}
}

static int
spawn(const struct command *command)
{
	pid_t pid = -1;
	struct sbx_command what = {
		.size = sizeof what,
		.argv = command->argv,
		.flags = SBX_UNSUPERVISED,
		.pid = &pid,
	};
	struct sbx_error error;
	int pidfd = sbx_spawn(command->sandbox, &what, &error), status;

	if (pidfd < 0) {
		fprintf(stderr, "latency: %s\n", error.text);
		exit(1);
	}
	close(pidfd);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return status;
}

/* The wait status. */
static int
start(const struct command *command)
{
	int status;
	pid_t pid;

	if (command->join != NULL)
		return join_run(command->join, command->argv);
	if (command->sandbox != NULL)
		return spawn(command);
	pid = vfork();
	if (pid < 0)
		die("vfork");
	if (pid == 0) {
		execve(command->argv[0], command->argv, environ);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return status;
}

static void
spent(double *cpu, long *faults)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage usage;

	*cpu = 0;
	for (size_t i = 0; i < 2; i++) {
		if (getrusage(whose[i], &usage) != 0)
			die("getrusage");
		*cpu += microseconds(usage.ru_utime) +
		    microseconds(usage.ru_stime);
		*faults = usage.ru_minflt;
	}
}

static void
run(struct command *command, double *wall, double *cpu)
{
	double begin, cpu_begin, cpu_end;
	long faults_begin, faults_end;
	int status;

	spent(&cpu_begin, &faults_begin);
	begin = now();
	status = start(command);
	*wall = now() - begin;
	spent(&cpu_end, &faults_end);
	*cpu = cpu_end - cpu_begin;
	command->faults = faults_end - faults_begin;
	if (status != 0) {
		fprintf(stderr, "latency: %s: wait status %#x\n",
		    command->label, (unsigned)status);
		exit(1);
	}
	if (command->then != NULL) {
		char *argv[] = { command->then, NULL };
		struct command after = { .argv = argv };

		if (start(&after) != 0)
			die(command->then);
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct sbx_sandbox *
open_sandbox(const char *policy, const char *sbxrun)
{
	struct sbx_options options = {
		.size = sizeof options,
		.policy = policy,
		.sbxrun = sbxrun,
	};
	struct sbx_error error;
	struct sbx_sandbox *sandbox = sbx_open(&options, &error);

	if (sandbox == NULL) {
		fprintf(stderr, "latency: %s\n", error.text);
		exit(1);
	}
	return sandbox;
}

/* Takes the words before the command itself that say how it is started. */
static void
prepare(struct command *command)
{
	char **words = command->argv;

	if (words[0] == NULL || words[1] == NULL)
		return;
	if (strcmp(words[0], "+then") == 0) {
		command->then = words[1];
		command->argv += 2;
	} else if (words[2] == NULL) {
		return;
	} else if (strcmp(words[0], "+join") == 0) {
		command->join = join_prepare(words[1], words[2]);
		command->argv += 3;
	} else if (strcmp(words[0], "+spawn") == 0) {
		command->sandbox = open_sandbox(words[1], words[2]);
		command->argv += 3;
	}
}

/* Splits argv at `--`; returns the number of commands. */
static size_t
split(char **argv, struct command *commands)
{
	size_t count = 0;

	while (*argv && count < MAX_COMMANDS) {
		struct command *command = &commands[count++];

		command->label = *argv++;
		command->argv = argv;
		/* The policy's own `--` is spelled `---` here. */
		for (; *argv && strcmp(*argv, "--") != 0; argv++) {
			if (strcmp(*argv, "---") == 0)
				++*argv;
		}
		if (*argv)
			*argv++ = NULL;
	}
	return count;
}

static void
report(struct command *commands, size_t count, size_t rounds)
{
	double bare_min = 0, bare = 0, bare_cpu = 0;

	printf("%-24s %9s %9s %9s %9s %7s %9s %9s %9s %7s %9s\n",
	    "microseconds", "min", "median", "p99", "added", "ratio", "cpu min",
	    "cpu", "cpu added", "minflt", "p10");
	for (size_t i = 0; i < count; i++) {
		struct command *command = &commands[i];

		qsort(command->wall, rounds, sizeof(double), compare);
		qsort(command->cpu, rounds, sizeof(double), compare);
		if (i == 0) {
			bare_min = command->wall[0];
			bare = command->wall[rounds / 2];
			bare_cpu = command->cpu[rounds / 2];
		}
		printf("%-24s %9.1f %9.1f %9.1f %9.1f %7.2f %9.0f %9.0f %9.0f "
		       "%7ld %9.1f\n",
		    command->label, command->wall[0], command->wall[rounds / 2],
		    command->wall[rounds * 99 / 100],
		    command->wall[rounds / 2] - bare,
		    command->wall[rounds / 2] / bare, command->cpu[0],
		    command->cpu[rounds / 2],
		    command->cpu[rounds / 2] - bare_cpu, command->faults,
		    command->wall[rounds / 10]);
	}
	printf("added to the minimum:");
	for (size_t i = 1; i < count; i++)
		printf("  %s %.1f", commands[i].label,
		    commands[i].wall[0] - bare_min);
	putchar('\n');
}

int
main(int argc, char **argv)
{
	struct command commands[MAX_COMMANDS] = { { .label = NULL } };
	size_t rounds = argc > 3 ? strtoul(argv[1], NULL, 10) : 0, count;
	double unused;

	if (rounds == 0) {
		fputs("usage: latency ROUNDS LABEL COMMAND [ARG...] [-- ...]\n",
		    stderr);
		return 2;
	}
	count = split(argv + 2, commands);
	for (size_t i = 0; i < count; i++) {
		commands[i].wall = calloc(rounds, sizeof(double));
		commands[i].cpu = calloc(rounds, sizeof(double));
		if (!commands[i].wall || !commands[i].cpu)
			die("calloc");
		prepare(&commands[i]);
	}
	pin();
	for (size_t round = 0; round < WARM_UP && round < rounds; round++) {
		for (size_t i = 0; i < count; i++)
			run(&commands[i], &unused, &unused);
	}
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++)
			run(&commands[i], &commands[i].wall[round],
			    &commands[i].cpu[round]);
	}
	report(commands, count, rounds);
	return 0;
}
