/*
 * What the probe does to the scheduling of other processes, and to objects that
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
	IPC_MAKE = 01000, /* IPC_CREAT */
};

static const struct name targets[] = {
	{ "process", PRIO_PROCESS },
	{ "group", PRIO_PGRP },
	{ "user", PRIO_USER },
};

/* Whatever succeeds leaves things as they are. */
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

static int
try_shmget(char **words, int count)
{
	(void)count;
	return result(
	    syscall(SYS_shmget, number(words[0]), 1L, IPC_MAKE | 0600));
}

static int
try_shmat(char **words, int count)
{
	(void)count;
	return result(syscall(SYS_shmat, number(words[0]), NULL, 0L));
}

static int
try_semget(char **words, int count)
{
	(void)count;
	return result(
	    syscall(SYS_semget, number(words[0]), 1L, IPC_MAKE | 0600));
}

static int
try_msgget(char **words, int count)
{
	(void)count;
	return result(syscall(SYS_msgget, number(words[0]), IPC_MAKE | 0600));
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
	{"shmget", 1, 1, try_shmget},
	{"shmat", 1, 1, try_shmat},
	{"semget", 1, 1, try_semget},
	{"msgget", 1, 1, try_msgget},
	{"mq-open", 1, 1, try_mq_open},
	{"mq-unlink", 1, 1, try_mq_unlink},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
