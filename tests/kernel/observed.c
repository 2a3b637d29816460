/*
 * What makes it hard to look at a program:
 *
 *	observed threads PATH	32 threads open a file and start programs
 *	observed ticks PATH	opens it under a timer without SA_RESTART
 *	observed vfork PATH	starts it again and again by vfork(2)
 *	observed hidden PATH	nobody may look into the process that opens it
 *	observed flood DIR	20000 names in a directory, as mkstemp(3) has them
 *	observed spread DIR	3000 names, each in a directory of its own
 *	observed long DIR	a path of 4095 bytes that are escape sequences
 *	observed calls DIR	each system call that reads or changes what its path
 *				leads to, for CALL on DIR/CALL/file
 *	observed looks DIR	each that only looks
 *
 * It prints "ok", or what happened.
 */
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 32,
	OPENS = 100,
	STARTS = 5,
	TICKING = 3000,
	NAMES = 20000,
	DIRECTORIES = 3000,
	PATH_SIZE = 4096,
};

static bool
open_once(const char *path)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool
start_once(const char *path)
{
	char *argv[] = { (char *)path, NULL };
	int status = -1;
	pid_t child = vfork();

	if (child == 0) {
		execv(path, argv);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static void *
work(void *path)
{
	for (int i = 0; i < OPENS; i++) {
		if (!open_once(path))
			return path;
	}
	for (int i = 0; i < STARTS; i++) {
		if (!start_once("/bin/true"))
			return path;
	}
	return NULL;
}

static bool
threads(const char *path)
{
	pthread_t all[THREADS];
	bool good = true;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&all[i], NULL, work, (void *)path) != 0)
			return false;
	}
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(all[i], &failed);
		good &= failed == NULL;
	}
	return good;
}

static void
tick(int number)
{
	(void)number;
}

static bool
ticks(const char *path)
{
	static const struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	const struct sigaction action = { .sa_handler = tick };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < TICKING; i++) {
		if (!open_once(path))
			return false;
	}
	return true;
}

static bool
starts(const char *path)
{
	for (int i = 0; i < OPENS; i++) {
		if (!start_once(path))
			return false;
	}
	return true;
}

static bool
hidden(const char *path)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && open_once(path);
}

/* Whether one that is to be denied is. */
static bool
is_denied(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) < 0;
}

static unsigned
shuffled(unsigned number)
{
	return number * 2654435761U & 0xffffff;
}

static bool
flood(const char *directory)
{
	char path[PATH_SIZE];

	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(path, sizeof path, "%s/Gm%06x", directory,
		    shuffled(i));
		if (!is_denied(path))
			return false;
	}
	return true;
}

static bool
spread(const char *directory)
{
	char path[PATH_SIZE];

	for (unsigned i = 0; i < DIRECTORIES; i++) {
		snprintf(path, sizeof path, "%s/%06x/x", directory,
		    shuffled(i));
		if (!is_denied(path))
			return false;
	}
	return true;
}

/* The command cannot make it, and outside nothing has such a name either. */
static bool
overlong(const char *directory)
{
	static const char pattern[] = "\033[31m\033]0;x\a\xff\n";
	char path[PATH_SIZE];
	size_t len = (size_t)snprintf(path, sizeof path, "%s/", directory);

	for (size_t i = 0; len < sizeof path - 1; i++, len++)
		path[len] = i % 200 == 199 ? '/' :
					     pattern[i % (sizeof pattern - 1)];
	path[len] = '\0';
	if (open(path, O_WRONLY | O_CREAT, 0600) >= 0)
		return false;
	path[strlen(directory) + 200] = '\0';
	return open(path, O_WRONLY | O_CREAT, 0600) < 0;
}

/* Words of a call that are known only when it is made. */
enum {
	PATH = -0x1001,
	OTHER = -0x1002,
	ZEROES = -0x1003,
	NAME = -0x1004,
	HERE = AT_FDCWD,
};

struct call {
	const char *name;
	long number;
	long words[6];
};

static const struct call all_calls[] = {
	{ "open", SYS_open, { PATH } },
	{ "creat", SYS_creat, { PATH } },
	{ "openat", SYS_openat, { HERE, PATH } },
	{ "openat2", SYS_openat2, { HERE, PATH, ZEROES, 24 } },
	{ "execve", SYS_execve, { PATH, ZEROES, ZEROES } },
	{ "execveat", SYS_execveat, { HERE, PATH, ZEROES, ZEROES } },
	{ "truncate", SYS_truncate, { PATH } },
	{ "rename", SYS_rename, { PATH, OTHER } },
	{ "rename-to", SYS_rename, { OTHER, PATH } },
	{ "renameat", SYS_renameat, { HERE, PATH, HERE, OTHER } },
	{ "renameat-to", SYS_renameat, { HERE, OTHER, HERE, PATH } },
	{ "renameat2", SYS_renameat2, { HERE, PATH, HERE, OTHER } },
	{ "renameat2-to", SYS_renameat2, { HERE, OTHER, HERE, PATH } },
	{ "mkdir", SYS_mkdir, { PATH } },
	{ "mkdirat", SYS_mkdirat, { HERE, PATH } },
	{ "mknod", SYS_mknod, { PATH, S_IFIFO } },
	{ "mknodat", SYS_mknodat, { HERE, PATH, S_IFIFO } },
	{ "symlink", SYS_symlink, { OTHER, PATH } },
	{ "symlinkat", SYS_symlinkat, { OTHER, HERE, PATH } },
	{ "link", SYS_link, { OTHER, PATH } },
	{ "linkat", SYS_linkat, { HERE, OTHER, HERE, PATH } },
	{ "rmdir", SYS_rmdir, { PATH } },
	{ "unlink", SYS_unlink, { PATH } },
	{ "unlinkat", SYS_unlinkat, { HERE, PATH } },
	{ "chmod", SYS_chmod, { PATH } },
	{ "fchmodat", SYS_fchmodat, { HERE, PATH } },
	{ "fchmodat2", SYS_fchmodat2, { HERE, PATH } },
	{ "chown", SYS_chown, { PATH } },
	{ "lchown", SYS_lchown, { PATH } },
	{ "fchownat", SYS_fchownat, { HERE, PATH } },
	{ "utime", SYS_utime, { PATH } },
	{ "utimes", SYS_utimes, { PATH } },
	{ "futimesat", SYS_futimesat, { HERE, PATH } },
	{ "utimensat", SYS_utimensat, { HERE, PATH } },
	{ "setxattr", SYS_setxattr, { PATH, NAME, ZEROES, 1 } },
	{ "lsetxattr", SYS_lsetxattr, { PATH, NAME, ZEROES, 1 } },
	{ "setxattrat", SYS_setxattrat, { HERE, PATH, 0, NAME, ZEROES, 16 } },
	{ "removexattr", SYS_removexattr, { PATH, NAME } },
	{ "lremovexattr", SYS_lremovexattr, { PATH, NAME } },
	{ "removexattrat", SYS_removexattrat, { HERE, PATH, 0, NAME } },
	{ "inotify_add_watch", SYS_inotify_add_watch, { 0, PATH, 1 } },
	{ NULL, 0, { 0 } },
};

static const struct call all_looks[] = {
	{ "chdir", SYS_chdir, { PATH } },
	{ "chroot", SYS_chroot, { PATH } },
	{ "stat", SYS_stat, { PATH, ZEROES } },
	{ "lstat", SYS_lstat, { PATH, ZEROES } },
	{ "newfstatat", SYS_newfstatat, { HERE, PATH, ZEROES } },
	{ "statx", SYS_statx, { HERE, PATH, 0, 0, ZEROES } },
	{ "access", SYS_access, { PATH } },
	{ "faccessat", SYS_faccessat, { HERE, PATH } },
	{ "faccessat2", SYS_faccessat2, { HERE, PATH } },
	{ "readlink", SYS_readlink, { PATH, ZEROES, 9 } },
	{ "readlinkat", SYS_readlinkat, { HERE, PATH, ZEROES, 9 } },
	{ "statfs", SYS_statfs, { PATH, ZEROES } },
	{ "getxattr", SYS_getxattr, { PATH, NAME } },
	{ "lgetxattr", SYS_lgetxattr, { PATH, NAME } },
	{ "listxattr", SYS_listxattr, { PATH } },
	{ "llistxattr", SYS_llistxattr, { PATH } },
	{ NULL, 0, { 0 } },
};

static void
call_once(const struct call *call, const char *directory)
{
	char path[PATH_SIZE], other[PATH_SIZE], zeroes[256] = "";
	char name[] = "user.sbx";
	long words[6];

	snprintf(path, sizeof path, "%s/%s/file", directory, call->name);
	snprintf(other, sizeof other, "%s/other", directory);
	for (int i = 0; i < 6; i++) {
		long word = call->words[i];
		const char *place = word == PATH ? path :
		    word == OTHER                ? other :
		    word == ZEROES               ? zeroes :
		    word == NAME                 ? name :
						   NULL;

		words[i] = place != NULL ? (long)(uintptr_t)place : word;
	}
	syscall(call->number, words[0], words[1], words[2], words[3], words[4],
	    words[5]);
}

/* Each in a child, which it may change; what this machine has is named. */
static bool
make_calls(const struct call *call, const char *directory)
{
	for (; call->name != NULL; call++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			call_once(call, directory);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			return false;
		if (call->number >= 0)
			puts(call->name);
	}
	return true;
}

static bool
calls(const char *directory)
{
	return make_calls(all_calls, directory);
}

static bool
looks(const char *directory)
{
	return make_calls(all_looks, directory);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*run)(const char *path);
	} ways[] = {
		{ "threads", threads },
		{ "ticks", ticks },
		{ "vfork", starts },
		{ "hidden", hidden },
		{ "flood", flood },
		{ "spread", spread },
		{ "long", overlong },
		{ "calls", calls },
		{ "looks", looks },
	};

	for (size_t i = 0; argc == 3 && i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(argv[1], ways[i].name) == 0) {
			puts(ways[i].run(argv[2]) ? "ok" : strerror(errno));
			return 0;
		}
	}
	puts("called wrongly");
	return 2;
}
