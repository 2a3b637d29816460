/*
 * What the probe does with modes, owners, times and attributes: by every call
 * there is, as the kernel has it.
 */
#include "runtime/base/kernel.h"
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MODE = 0640, THREADS = 32, ROUNDS = 100, TRIES = 2000, EMPTY = 0x1000 };

static const struct timespec times[2] = { { 1000, 5 }, { 2000, 6 } };
static const struct timeval halves[2] = { { 1000, 5 }, { 2000, 6 } };
static const long seconds[2] = { 1000, 2000 };

static const struct timeval too_many[2] = { { 1, 0 }, { 1, 1000000 } };
static const struct timeval too_few[2] = { { 1, -1 }, { 1, 0 } };
static char long_name[300];

/* struct xattr_args */
static const struct {
	uint64_t value;
	uint32_t size, flags;
} attribute = { 0, 0, 0 };

/* How a call names the file. */
enum naming { PATH, DESCRIPTOR, BELOW, PATH_AT, EMPTY_AT };

#define P(pointer) ((long)(uintptr_t)(pointer))
/* In place of what is known only when it runs. */
enum { OWN = -0x1001, AT_FLAGS = -0x1002 };

/* What is there afterwards. */
enum effect {
	MODE_SET,
	OWNER_SET,
	SECONDS_SET,
	MICROSECONDS_SET,
	NANOSECONDS_SET,
	TIME_NOW,
	VALUE_SET,
	VALUE_EMPTY,
	VALUE_GONE,
};

static const struct call {
	const char *name;
	long number;
	enum naming naming;
	enum effect effect;
	long args[4]; /* after the file */
} calls[] = {
	{ "chmod", SYS_chmod, PATH, MODE_SET, { MODE } },
	{ "fchmod", SYS_fchmod, DESCRIPTOR, MODE_SET, { MODE } },
	{ "fchmodat", SYS_fchmodat, BELOW, MODE_SET, { MODE } },
	{ "fchmodat2", SYS_fchmodat2, PATH_AT, MODE_SET, { MODE, AT_FLAGS } },
	{ "fchmodat2-empty", SYS_fchmodat2, EMPTY_AT, MODE_SET,
	    { MODE, AT_FLAGS } },
	{ "chown", SYS_chown, PATH, OWNER_SET, { OWN, -1 } },
	{ "fchown", SYS_fchown, DESCRIPTOR, OWNER_SET, { OWN, -1 } },
	{ "lchown", SYS_lchown, PATH, OWNER_SET, { OWN, -1 } },
	{ "fchownat", SYS_fchownat, PATH_AT, OWNER_SET, { OWN, -1, AT_FLAGS } },
	{ "fchownat-empty", SYS_fchownat, EMPTY_AT, OWNER_SET,
	    { OWN, -1, AT_FLAGS } },
	{ "utime", SYS_utime, PATH, SECONDS_SET, { P(seconds) } },
	{ "utime-now", SYS_utime, PATH, TIME_NOW, { 0 } },
	{ "utimes", SYS_utimes, PATH, MICROSECONDS_SET, { P(halves) } },
	{ "futimesat", SYS_futimesat, BELOW, MICROSECONDS_SET, { P(halves) } },
	{ "utimensat", SYS_utimensat, PATH_AT, NANOSECONDS_SET,
	    { P(times), AT_FLAGS } },
	{ "utimensat-now", SYS_utimensat, PATH_AT, TIME_NOW, { 0, AT_FLAGS } },
	{ "futimens", SYS_utimensat, DESCRIPTOR, NANOSECONDS_SET,
	    { 0, P(times), 0 } },
	{ "setxattr", SYS_setxattr, PATH, VALUE_SET,
	    { P("user.sbx"), P("v"), 1, 0 } },
	{ "lsetxattr", SYS_lsetxattr, PATH, VALUE_SET,
	    { P("user.sbx"), P("v"), 1, 0 } },
	{ "fsetxattr", SYS_fsetxattr, DESCRIPTOR, VALUE_SET,
	    { P("user.sbx"), P("v"), 1, 0 } },
	{ "removexattr", SYS_removexattr, PATH, VALUE_GONE, { P("user.sbx") } },
	{ "lremovexattr", SYS_lremovexattr, PATH, VALUE_GONE,
	    { P("user.sbx") } },
	{ "fremovexattr", SYS_fremovexattr, DESCRIPTOR, VALUE_GONE,
	    { P("user.sbx") } },
	{ "setxattrat", SYS_setxattrat, PATH_AT, VALUE_EMPTY,
	    { AT_FLAGS, P("user.sbx"), P(&attribute), sizeof attribute } },
	{ "removexattrat", SYS_removexattrat, PATH_AT, VALUE_GONE,
	    { AT_FLAGS, P("user.sbx") } },
};

static long
call_value(const struct call *call, int at)
{
	long value = call->args[at];

	if (value == OWN)
		return (long)geteuid();
	if (value == AT_FLAGS)
		return call->naming == EMPTY_AT ? EMPTY : 0;
	return value;
}

static bool
has_times(const struct stat *status, long part)
{
	return status->st_atim.tv_sec == 1000 &&
	    status->st_mtim.tv_sec == 2000 &&
	    status->st_atim.tv_nsec == 5 * part &&
	    status->st_mtim.tv_nsec == 6 * part;
}

/* Whether the file is now as it was to be. */
static bool
has_changed(const struct call *call, const char *path)
{
	struct stat status;
	char value[8] = "";
	ssize_t len = getxattr(path, "user.sbx", value, sizeof value);

	if (stat(path, &status) != 0)
		return false;
	switch (call->effect) {
	case MODE_SET:
		return (status.st_mode & 07777) == MODE;
	case OWNER_SET:
		return call->number == SYS_lchown || status.st_uid == geteuid();
	case SECONDS_SET:
		return has_times(&status, 0);
	case MICROSECONDS_SET:
		return has_times(&status, 1000);
	case NANOSECONDS_SET:
		return has_times(&status, 1);
	case TIME_NOW:
		return status.st_atim.tv_sec > 2000 &&
		    status.st_mtim.tv_sec > 2000;
	case VALUE_SET:
		return len == 1 && *value == 'v';
	case VALUE_EMPTY:
		return len == 0;
	case VALUE_GONE:
		return len < 0;
	}
	return false;
}

/* EPROTO: it did something else. */
static int
change(const struct call *call, const char *path)
{
	long args[6] = { 0 };
	int count = 0, fd = -1, error;

	if (call->naming == DESCRIPTOR || call->naming == EMPTY_AT) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return errno;
		args[count++] = fd;
	} else if (call->naming != PATH) {
		args[count++] = AT_FDCWD;
	}
	if (call->naming != DESCRIPTOR)
		args[count++] = P(fd < 0 ? path : "");
	for (int i = 0; i < 4 && count < 6; i++)
		args[count++] = call_value(call, i);
	error = syscall(call->number, args[0], args[1], args[2], args[3],
		    args[4], args[5]) != 0 ?
	    errno :
	    0;
	if (fd >= 0)
		close(fd);
	/* Not on this machine, or older than the call; or there was nothing to
	 * remove. */
	if (error == ENOSYS || error == ENODATA)
		return 0;
	return error == 0 && !has_changed(call, path) ? EPROTO : error;
}

static const struct call *
call_of(const char *name)
{
	for (size_t i = 0; i < countof(calls); i++) {
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	}
	misuse("not a call:", name);
}

/* change CALL PATH */
static int
try_change(char **words, int count)
{
	(void)count;
	return change(call_of(words[0]), words[1]);
}

/* By all calls: if one differs from the first one, its name is said. */
static int
try_change_all(char **words, int count)
{
	int first = change(&calls[2], words[0]);

	(void)count;
	for (size_t i = 0; i < countof(calls); i++) {
		int error = change(&calls[i], words[0]);

		if (error == first)
			continue;
		say(calls[i].name);
		return error == 0 ? EPROTO : error;
	}
	return first;
}

/* Calls that are wrong in themselves, or name the current directory: each has the
 * answer of the kernel.  The path is the first argument, or the second one. */
static const struct odd {
	const char *name;
	long number;
	bool below;
	int error;
	long args[5]; /* those that are not the path */
} odd_calls[] = {
	{ "flags", SYS_fchmodat2, true, EINVAL, { AT_FDCWD, MODE, 0x100000 } },
	{ "owner-flags", SYS_fchownat, true, EINVAL,
	    { AT_FDCWD, -1, -1, 0x100000 } },
	{ "times", SYS_utimensat, true, EFAULT, { AT_FDCWD, 1, 0 } },
	{ "seconds", SYS_utime, false, EFAULT, { 1 } },
	{ "microseconds", SYS_utimes, false, EFAULT, { 1 } },
	{ "too-many", SYS_utimes, false, EINVAL, { P(too_many) } },
	{ "too-few", SYS_utimes, false, EINVAL, { P(too_few) } },
	{ "no-name", SYS_removexattr, false, ERANGE, { P("") } },
	{ "long-name", SYS_removexattr, false, ERANGE, { P(long_name) } },
	{ "name", SYS_removexattr, false, EFAULT, { 1 } },
	{ "value", SYS_setxattr, false, EFAULT, { P("user.sbx"), 1, 1, 0 } },
	{ "size", SYS_setxattr, false, E2BIG, { P("user.sbx"), 1, 65537, 0 } },
	{ "attribute", SYS_setxattrat, true, EFAULT,
	    { AT_FDCWD, 0, P("user.sbx"), 1, sizeof attribute } },
	{ "attribute-size", SYS_setxattrat, true, EINVAL,
	    { AT_FDCWD, 0, P("user.sbx"), P(&attribute), 8 } },
};

static int
change_oddly(const struct odd *odd, const char *path)
{
	long args[6] = { 0 };
	int count = 0;

	for (int i = 0; i < 5; i++) {
		if (count == odd->below)
			args[count++] = P(path);
		args[count++] = odd->args[i];
	}
	return syscall(odd->number, args[0], args[1], args[2], args[3], args[4],
		   args[5]) != 0 ?
	    errno :
	    0;
}

static int
try_change_oddly(char **words, int count)
{
	static const char largest[65536];

	(void)count;
	memset(long_name, 'x', sizeof long_name - 1);
	for (size_t i = 0; i < countof(odd_calls); i++) {
		int error = change_oddly(&odd_calls[i], words[0]);

		if (error == odd_calls[i].error || error == ENOSYS)
			continue;
		say(odd_calls[i].name);
		return error == 0 ? EPROTO : error;
	}
	/* The current directory, by no path. */
	if (syscall(SYS_fchownat, AT_FDCWD, "", -1, -1, EMPTY) != 0)
		return errno;
	/* One that is there already. */
	if (setxattr(words[0], "user.sbx", "v", 1, 0) == 0 &&
	    (setxattr(words[0], "user.sbx", "v", 1, XATTR_CREATE) == 0 ||
		errno != EEXIST))
		return EPROTO;
	/* The largest value of all: what it is too large for is the disk. */
	if (setxattr(words[0], "user.sbx-large", largest, sizeof largest, 0) !=
		0 &&
	    errno == E2BIG)
		return E2BIG;
	return 0;
}

/* The path changes while it is judged. */
static int
try_chmod_switch(char **words, int count)
{
	char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t writer = fork();
	struct stat now;

	(void)count;
	for (int i = 0; writer == 0; i ^= 1)
		strcpy(shared, words[i]);
	for (int i = 0; i < TRIES; i++)
		syscall(SYS_fchmodat, AT_FDCWD, shared, MODE);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	if (stat(words[0], &now) != 0)
		return errno;
	return (now.st_mode & 07777) == MODE ? 0 : EACCES;
}

static void *
change_often(void *path)
{
	intptr_t error = 0;

	for (int i = 0; i < ROUNDS && error == 0; i++)
		error = change(&calls[2], path);
	return (void *)error;
}

static int
try_change_threads(char **words, int count)
{
	pthread_t threads[THREADS];
	void *worst = NULL, *error;

	(void)count;
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, change_often, words[0]) !=
		    0)
			return EAGAIN;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &error);
		worst = error != NULL ? error : worst;
	}
	return (int)(intptr_t)worst;
}

/* A superuser who has given something up does not get it back. */
static int
try_change_weaker(char **words, int count)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	uint32_t none[6] = { 0 };

	(void)count;
	if (syscall(SYS_capset, &header, none) != 0)
		return errno;
	return change(&calls[2], words[0]);
}

static int
try_change_as(char **words, int count)
{
	(void)count;
	if (setresuid((uid_t)number(words[0]), (uid_t)number(words[0]),
		(uid_t)number(words[0])) != 0)
		return errno;
	return change(&calls[2], words[1]);
}

static int
try_change_unnamed(char **words, int count)
{
	int fd = open(words[0], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	(void)count;
	if (fd < 0 || unlink(words[0]) != 0)
		return errno;
	return fchmod(fd, MODE) != 0 ? errno : 0;
}

/* clang-format off */
const struct operation metadata_operations[] = {
	{"change", 2, 2, try_change},
	{"change-all", 1, 1, try_change_all},
	{"chmod-switch", 2, 2, try_chmod_switch},
	{"change-oddly", 1, 1, try_change_oddly},
	{"change-threads", 1, 1, try_change_threads},
	{"change-weaker", 1, 1, try_change_weaker},
	{"change-as", 2, 2, try_change_as},
	{"change-unnamed", 1, 1, try_change_unnamed},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
