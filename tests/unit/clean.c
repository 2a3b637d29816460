/*
 * How a scratch directory is removed in which a command may still be busy
 * (runtime/inspect/clean.c): what goes meanwhile is no fault, and what cannot be
 * removed is named.  What single calls answer is the test's word.
 */
#include "runtime/inspect/clean.h"
#include "runtime/bind/scratch.h"
#include "tests/lib/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { NONE, UNLINK, REMOVE, TOP, ENTER, MOVE, READ, SEEK, REOPEN };

/* So many calls of a kind are answered with an error. */
static struct {
	enum call call;
	int error, times;
} fault;

static struct tap tap;
static char top[] = "/var/tmp/sbx-clean-XXXXXX";

/* The place is the caller's to name, and is none of this test. */
int
scratch_open(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace)
{
	(void)path;
	(void)workspace;
	return -1;
}

static bool
fails(enum call call)
{
	if (fault.call != call || fault.times == 0)
		return false;
	fault.times--;
	errno = fault.error;
	return true;
}

int
unlinkat(int directory, const char *name, int flags)
{
	int (*real)(int, const char *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "unlinkat");
	if (fails(flags == 0 ? UNLINK : *name == '/' ? TOP : REMOVE))
		return -1;
	return real(directory, name, flags);
}

off_t
lseek(int fd, off_t offset, int from)
{
	off_t (*real)(int, off_t, int);

	*(void **)&real = dlsym(RTLD_NEXT, "lseek");
	return fails(SEEK) ? -1 : real(fd, offset, from);
}

int
openat(int directory, const char *name, int flags, ...)
{
	int (*real)(int, const char *, int, ...);
	va_list rest;
	int fd;

	*(void **)&real = dlsym(RTLD_NEXT, "openat");
	if (fails(REOPEN))
		return -1;
	va_start(rest, flags);
	fd = real(directory, name, flags, va_arg(rest, mode_t));
	va_end(rest);
	return fd;
}

long
syscall(long number, ...)
{
	long (*real)(long, ...);
	long args[6];
	va_list rest;

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(rest, long);
	va_end(rest);
	if ((number == SYS_openat2 && fails(ENTER)) ||
	    (number == SYS_renameat2 && fails(MOVE)) ||
	    (number == SYS_getdents64 && fails(READ)))
		return -1;
	return real(number, args[0], args[1], args[2], args[3], args[4],
	    args[5]);
}

/* A file, and a directory in another one. */
static int
make_stage(void)
{
	char path[128];
	int place, fd;

	snprintf(path, sizeof path, "%s/x", top);
	tap_must(mkdir(path, 0700) == 0, path);
	place = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	tap_must(place >= 0 && mkdirat(place, "a", 0) == 0, "a");
	tap_must(fchmodat(place, "a", 0700, 0) == 0 &&
		mkdirat(place, "a/b", 0700) == 0 &&
		mkdirat(place, "a/b/c", 0700) == 0,
	    "a/b/c");
	fd = openat(place, "a/b/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	tap_must(fd >= 0 && close(fd) == 0, "a/b/file");
	return place;
}

static void
check(const char *what, enum call call, int times, int error, bool done,
    const char *named)
{
	char path[128], command[160];
	int place = make_stage(), said;
	struct out failed;
	bool right;

	snprintf(path, sizeof path, "%s/x", top);
	out_init(&failed, -1);
	fault.call = call;
	fault.times = times;
	fault.error = error;
	errno = 0;
	right = clean_directory(path, place, &failed) == done;
	said = errno;
	fault.call = NONE;
	/* What is said to have gone has not. */
	if (done && call != TOP)
		right &= access(path, F_OK) != 0;
	if (!done)
		right &= said == error;
	if (!tap_ok(&tap,
		right && failed.used == strlen(named) &&
		    memcmp(failed.text, named, failed.used) == 0,
		"%s", what))
		printf("# errno %d, named %.*s\n", said, (int)failed.used,
		    failed.text);
	snprintf(command, sizeof command, "rm -rf '%s'", path);
	tap_must(system(command) == 0, command);
}

int
main(void)
{
	enum { ALWAYS = 1 << 20 };
	static const struct {
		const char *what;
		enum call call;
		int times, error;
		bool done;
		const char *named;
	} cases[] = {
		{ "all of it", NONE, 0, 0, true, "" },
		{ "it goes meanwhile", TOP, 1, ENOENT, true, "" },
		{ "it may not go", TOP, ALWAYS, EBUSY, false, "" },
		{ "another word for what is not empty", TOP, 1, EEXIST, true,
		    "" },
		{ "a file goes meanwhile", UNLINK, 1, ENOENT, true, "" },
		{ "a directory goes meanwhile", REMOVE, 1, ENOENT, true, "" },
		{ "a directory is not empty, in another word", REMOVE, 1,
		    EEXIST, true, "" },
		{ "or cannot be read by us", REMOVE, 1, EACCES, true, "" },
		{ "a directory may not go", REMOVE, ALWAYS, EROFS, false,
		    "/a" },
		{ "it goes before it is opened", ENTER, 1, ENOENT, true, "" },
		{ "it is a mount", ENTER, ALWAYS, EXDEV, false, "/a" },
		{ "names at the top are taken", MOVE, 3, EEXIST, true, "" },
		{ "by directories that are not empty", MOVE, 3, ENOTEMPTY, true,
		    "" },
		{ "by files", MOVE, 3, ENOTDIR, true, "" },
		{ "nothing can be moved", MOVE, ALWAYS, EROFS, false, "/b" },
		{ "nothing can be read", READ, ALWAYS, EIO, false, "" },
		{ "nor begun again", SEEK, ALWAYS, EIO, false, "" },
		{ "nor opened", REOPEN, ALWAYS, EMFILE, false, "" },
	};

	tap_must(mkdtemp(top) != NULL, top);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(cases[i].what, cases[i].call, cases[i].times,
		    cases[i].error, cases[i].done, cases[i].named);
	tap_must(rmdir(top) == 0, top);
	return tap_done(&tap);
}
