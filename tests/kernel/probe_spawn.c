/*
 * What the probe does to start another process or another program, by every way
 * that there is, and to get back the number of a descriptor.
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
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

/* --- the number ----------------------------------------------------------- */

/* The least one that no limit lets this process have. */
static int
forbidden(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) != 0 ? -1 : (int)limit.rlim_max;
}

static int
reach_by_dup(int fd, int wanted)
{
	return dup2(fd, wanted) < 0 ? errno : 0;
}

static int
reach_by_dupfd(int fd, int wanted)
{
	return fcntl(fd, F_DUPFD, wanted) < 0 ? errno : 0;
}

static int
reach_by_limit(int fd, int wanted)
{
	struct rlimit limit = { (rlim_t)wanted + 1, (rlim_t)wanted + 1 };

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return errno;
	return reach_by_dup(fd, wanted);
}

/* Whether descriptors that come get the number when all others are taken:
 * 0, or the errno of the first that did not come. */
static int
fill(int fd, int wanted, int (*get)(int fd))
{
	struct rlimit limit = { (rlim_t)wanted, (rlim_t)wanted };

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return errno;
	for (;;) {
		int got = get(fd);

		if (got < 0)
			return errno;
		if (got >= wanted)
			return 0;
	}
}

/* By SCM_RIGHTS, from ourselves. */
static int
get_message(int fd)
{
	static int ends[2] = { -1, -1 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof fd), SOL_SOCKET,
			  SCM_RIGHTS } };
	char byte = 0;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};

	if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return -1;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	if (sendmsg(ends[0], &message, 0) != 1 ||
	    recvmsg(ends[1], &message, 0) != 1)
		return -1;
	if ((message.msg_flags & MSG_CTRUNC) != 0 ||
	    message.msg_controllen == 0) {
		errno = EMFILE;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
	return fd;
}

static int
get_copy(int fd)
{
	static int self = -1;

	if (self < 0)
		self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return (int)syscall(SYS_pidfd_getfd, self, fd, 0);
}

static int
reach_by_message(int fd, int wanted)
{
	return fill(fd, wanted, get_message);
}

static int
reach_by_copy(int fd, int wanted)
{
	return fill(fd, wanted, get_copy);
}

/* By a listener of our own: a thread asks, and is given a descriptor. */
struct addition {
	uint64_t id;
	uint32_t flags, ours, its, its_flags;
};

static void *
ask(void *unused)
{
	syscall(SYS_getppid);
	return unused;
}

static int
reach_by_listener(int fd, int wanted)
{
	struct {
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} insns[] = {
		{ 0x20, 0, 0, 0 },
		{ 0x15, 0, 1, SYS_getppid },
		{ 6, 0, 0, 0x7fc00000 /* USER_NOTIF */ },
		{ 6, 0, 0, 0x7fff0000 /* ALLOW */ },
	};
	struct {
		uint16_t len;
		void *filter;
	} program = { 4, insns };
	struct {
		uint64_t id;
		uint32_t thread, flags;
		int32_t call;
		uint32_t arch;
		uint64_t rest[7];
	} asked = { .id = 0 };
	struct addition addition = {
		.flags = 1 /* SETFD */,
		.ours = (uint32_t)fd,
		.its = (uint32_t)wanted,
	};
	pthread_t thread;
	int listener;

	listener = (int)syscall(SYS_seccomp, 1, 8 /* NEW_LISTENER */, &program);
	if (listener < 0)
		return errno;
	if (pthread_create(&thread, NULL, ask, NULL) != 0 ||
	    ioctl(listener, 0xc0502100 /* RECV */, &asked) != 0)
		return errno;
	addition.id = asked.id;
	/* ADDFD */
	return ioctl(listener, 0x40182103, &addition) < 0 ? errno : 0;
}

/* A descriptor of the program at that number, and then the program. */
static int
try_spawn_number(char **words, int count)
{
	static const struct {
		const char *name;
		int (*reach)(int fd, int wanted);
	} ways[] = {
		{ "dup", reach_by_dup },
		{ "dupfd", reach_by_dupfd },
		{ "limit", reach_by_limit },
		{ "message", reach_by_message },
		{ "copy", reach_by_copy },
		{ "listener", reach_by_listener },
	};
	int fd = open(words[1], O_PATH), wanted = forbidden(), error;

	(void)count;
	if (fd < 0 || wanted < 0)
		return errno;
	for (size_t i = 0; i < countof(ways); i++) {
		if (strcmp(ways[i].name, words[0]) != 0)
			continue;
		error = ways[i].reach(fd, wanted);
		return error != 0 ? error :
				    execute_descriptor(wanted, words + 1);
	}
	misuse("no such way", words[0]);
}

/* The number itself, without having it. */
static int
try_spawn_unheld(char **words, int count)
{
	(void)count;
	return execute_descriptor(forbidden(), words);
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
	{"spawn-number", 2, 5, try_spawn_number},
	{"spawn-unheld", 1, 4, try_spawn_unheld},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
