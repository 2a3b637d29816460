/*
 * What the probe does to the scheduling of other processes, and to queues that
 * it shares with them.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	IOPRIO_PROCESS = 1, /* then groups and users */
	IOPRIO_BEST_EFFORT = 2 << 13 | 4,
};

static const struct name targets[] = {
	{ "process", PRIO_PROCESS },
	{ "group", PRIO_PGRP },
	{ "user", PRIO_USER },
};

/* They get the priority that this process has. */
static int
try_nice(char **words, int count)
{
	(void)count;
	return result(setpriority((int)LOOK_UP(targets, words[0]),
	    (id_t)process(words[1]), getpriority(PRIO_PROCESS, 0)));
}

static int
try_ioprio(char **words, int count)
{
	(void)count;
	return result(
	    syscall(SYS_ioprio_set, IOPRIO_PROCESS + LOOK_UP(targets, words[0]),
		(long)process(words[1]), IOPRIO_BEST_EFFORT));
}

enum { AFFINITY, ATTRIBUTES, PARAMETER, SCHEDULER };

static int
try_schedule(char **words, int count)
{
	static const struct name calls[] = {
		{ "affinity", AFFINITY },
		{ "attributes", ATTRIBUTES },
		{ "parameter", PARAMETER },
		{ "scheduler", SCHEDULER },
	};
	uint64_t cpus[16] = { 0 }, attributes[6] = { 0 };
	long who = process(words[1]);
	int priority = 0;

	(void)count;
	syscall(SYS_sched_getaffinity, 0, sizeof cpus, cpus);
	syscall(SYS_sched_getattr, 0, attributes, sizeof attributes, 0L);
	switch (LOOK_UP(calls, words[0])) {
	case AFFINITY:
		return result(
		    syscall(SYS_sched_setaffinity, who, sizeof cpus, cpus));
	case ATTRIBUTES:
		return result(syscall(SYS_sched_setattr, who, attributes, 0L));
	case PARAMETER:
		return result(syscall(SYS_sched_setparam, who, &priority));
	default:
		return result(
		    syscall(SYS_sched_setscheduler, who, 0L, &priority));
	}
}

/* The system call takes the name without its slash. */
static int
try_mq_open(char **words, int count)
{
	(void)count;
	return opened(
	    syscall(SYS_mq_open, words[0], O_RDWR | O_CREAT, 0600L, NULL));
}

static int
try_mq_unlink(char **words, int count)
{
	(void)count;
	return result(syscall(SYS_mq_unlink, words[0]));
}

/* clang-format off */
const struct operation other_operations[] = {
	{"nice", 2, 2, try_nice},
	{"ioprio", 2, 2, try_ioprio},
	{"schedule", 2, 2, try_schedule},
	{"mq-open", 1, 1, try_mq_open},
	{"mq-unlink", 1, 1, try_mq_unlink},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
