/*
 * What the probe does to start another process or another program, by every way
 * that there is, and to pass for the loader.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum { EMPTY_PATH = 0x1000, STACK = 16384 };

extern char **environ;

/* --- processes ------------------------------------------------------------ */

/* A child ends at once, and is waited for. */
static int
became(long child)
{
	if (child == 0)
		_exit(0);
	if (child < 0)
		return errno;
	waitpid((pid_t)child, NULL, 0);
	return 0;
}

static int
try_spawn_fork(char **words, int count)
{
	(void)words;
	(void)count;
#ifdef SYS_fork
	return became(syscall(SYS_fork));
#else
	return became(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#endif
}

static int
end(void *unused)
{
	(void)unused;
	_exit(0);
}

/* As vfork(2) does it, on a stack of its own. */
static int
try_spawn_vfork(char **words, int count)
{
	static char stack[STACK] __attribute__((aligned(16)));
	int child = clone(end, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
	    NULL);

	(void)words;
	(void)count;
	return child < 0 ? errno : became(child);
}

/* The flags of clone(2); with those of a thread it is none. */
static int
try_spawn_clone(char **words, int count)
{
	(void)count;
	return became(
	    syscall(SYS_clone, number(words[0]) | SIGCHLD, 0, 0, 0, 0));
}

static int
try_spawn_clone3(char **words, int count)
{
	uint64_t args[8] = { [4] = SIGCHLD };

	(void)words;
	(void)count;
	return became(syscall(SYS_clone3, args, sizeof args));
}

static int
try_spawn_posix(char **words, int count)
{
	pid_t child;
	int error = posix_spawn(&child, words[0], NULL, NULL, words, environ);

	(void)count;
	if (error == 0)
		waitpid(child, NULL, 0);
	return error;
}

static int
try_spawn_system(char **words, int count)
{
	int status = system(words[0]);

	(void)count;
	if (status < 0)
		return errno;
	/* What glibc says if it could start no shell. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return EPERM;
	return status == 0 ? 0 : EPROTO;
}

static void *
count_one(void *counted)
{
	*(int *)counted = 1;
	return NULL;
}

static int
try_spawn_thread(char **words, int count)
{
	int counted = 0, error;
	pthread_t thread;

	(void)words;
	(void)count;
	error = pthread_create(&thread, NULL, count_one, &counted);
	if (error == 0)
		pthread_join(thread, NULL);
	return error != 0 ? error : counted == 1 ? 0 : EPROTO;
}

/* --- programs ------------------------------------------------------------- */

/* These are replaced by the program, which says so itself. */
static int
try_spawn_execve(char **words, int count)
{
	(void)count;
	execve(words[0], words, environ);
	return errno;
}

static int
try_spawn_execveat(char **words, int count)
{
	(void)count;
	syscall(SYS_execveat, AT_FDCWD, words[0], words, environ, 0);
	return errno;
}

static int
execute_descriptor(int fd, char **words)
{
	syscall(SYS_execveat, fd, "", words, environ, EMPTY_PATH);
	return errno;
}

static int
try_spawn_fexecve(char **words, int count)
{
	(void)count;
	return execute_descriptor(open(words[0], O_PATH), words);
}

/* A copy of the program that has no name. */
static int
try_spawn_memfd(char **words, int count)
{
	int from = open(words[0], O_RDONLY), to = memfd_create("program", 0);
	char bytes[4096];
	ssize_t got;

	(void)count;
	if (from < 0 || to < 0)
		return errno;
	while ((got = read(from, bytes, sizeof bytes)) > 0) {
		if (write(to, bytes, (size_t)got) != got)
			return errno;
	}
	return execute_descriptor(to, words);
}

/* --- what the loader may --------------------------------------------------- */

/* As the loader does it: a path, the flag, and a sixth argument. */
static int
execute_path(int directory, const char *path, char **words, uint64_t key)
{
	syscall(SYS_execveat, directory, path, words, environ, EMPTY_PATH, key);
	return errno;
}

/* With the descriptor of whatever directory: an absolute path needs none. */
static int
try_spawn_path(char **words, int count)
{
	(void)count;
	return execute_path((int)number(words[0]), words[1], words + 1, 0);
}

static int
try_spawn_proc(char **words, int count)
{
	char path[64];

	(void)count;
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(words[0], O_PATH));
	return execute_path(AT_FDCWD, path, words, 0);
}

/* Each word that lies on the stack, what the kernel left there included, and
 * each one beside a bit of it: one more or less, and its halves turned. */
static int
try_spawn_guess(char **words, int count)
{
	const uint64_t *at = (const uint64_t *)__builtin_frame_address(0);
	const uint64_t *end = at;
	int worst = EPERM;

	(void)count;
	for (char **text = environ; *text != NULL; text++)
		end = (const uint64_t *)(uintptr_t)*text;
	for (; at < end && worst == EPERM; at++) {
		const uint64_t keys[] = { *at, *at + 1, *at - 1, ~*at,
			*at << 32 | *at >> 32 };

		for (size_t i = 0; i < countof(keys) && worst == EPERM; i++)
			worst = execute_path(AT_FDCWD, words[0], words,
			    keys[i]);
	}
	return worst;
}

/* clang-format off */
const struct operation spawn_operations[] = {
	{"spawn-fork", 0, 0, try_spawn_fork},
	{"spawn-vfork", 0, 0, try_spawn_vfork},
	{"spawn-clone", 1, 1, try_spawn_clone},
	{"spawn-clone3", 0, 0, try_spawn_clone3},
	{"spawn-posix", 1, 4, try_spawn_posix},
	{"spawn-system", 1, 1, try_spawn_system},
	{"spawn-thread", 0, 0, try_spawn_thread},
	{"spawn-execve", 1, 4, try_spawn_execve},
	{"spawn-execveat", 1, 4, try_spawn_execveat},
	{"spawn-fexecve", 1, 4, try_spawn_fexecve},
	{"spawn-memfd", 1, 4, try_spawn_memfd},
	{"spawn-path", 2, 5, try_spawn_path},
	{"spawn-proc", 1, 4, try_spawn_proc},
	{"spawn-guess", 1, 4, try_spawn_guess},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
