/*
 * sbx-proxy, the program that serves the ways out: where it is, and how it is
 * started.
 */
#include "runtime/network/network.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#ifndef SBX_LIBEXEC_DIR
#define SBX_LIBEXEC_DIR "/usr/local/libexec/sbx"
#endif

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8 /* Linux 6.3, where a sysctl may want it */
#endif

#ifndef MFD_EXEC
#define MFD_EXEC 0x10
#endif

/* --- where it is ---------------------------------------------------------- */

/*
 * Whoever may replace sbxrun need not replace sbx-proxy, so it is looked for
 * where sbxrun lies.  But in a directory such as /tmp others may put a file
 * beside it.
 */
static bool
is_trusted(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (status.st_uid == 0 || status.st_uid == geteuid()) &&
	    (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	    (status.st_mode & S_IXUSR) != 0;
}

static int
open_program(const char *directory, const char *name)
{
	char path[SBX_MAX_PATH + 1];
	struct out out;
	int fd;

	out_into(&out, path, sizeof path);
	out_print(&out, "%s/%s", directory, name);
	if (out.full)
		return -1;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (is_trusted(fd))
		return above_standard(fd);
	close(fd);
	return -1;
}

/*
 * The path by which this program was executed, if that is no link: who may write
 * there need not replace sbx-proxy.  /proc would have to make a directory for
 * this process first, which takes as long as three of the sockets.
 */
static void
find_own_path(char own[SBX_MAX_PATH + 1])
{
	/* What the kernel gave it as a pointer. */
	const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	ssize_t len = -1;

	if (name != NULL && strchr(name, '/') != NULL &&
	    strlen(name) <= SBX_MAX_PATH && readlink(name, own, 1) < 0 &&
	    errno == EINVAL) {
		strcpy(own, name);
		return;
	}
	len = readlink("/proc/self/exe", own, SBX_MAX_PATH);
	own[len > 0 ? len : 0] = '\0';
}

int
proxy_find(const char *name)
{
	static const char *const beside[] = { "", "/../libexec/sbx" };
	char own[SBX_MAX_PATH + 1];
	char *slash;
	int fd = -1;

	find_own_path(own);
	slash = strrchr(own, '/');
	for (size_t i = 0; slash != NULL && fd < 0 && i < 2; i++) {
		if (slash + strlen(beside[i]) >= own + sizeof own)
			break;
		strcpy(slash, beside[i]);
		fd = open_program(own, name);
	}
	if (fd < 0)
		fd = open_program(SBX_LIBEXEC_DIR, name);
	return fd;
}

const char proxy_missing[] =
    "the program sbx-proxy, which opens what the policy allows, is neither "
    "beside sbxrun nor in " SBX_LIBEXEC_DIR ", or others may write it";
const char tls_missing[] =
    "the program sbx-tls, which ends TLS where requests are judged or carry a "
    "secret, is neither beside sbxrun nor in " SBX_LIBEXEC_DIR ", or others "
    "may write it; it is built where OpenSSL 3 is (libssl-dev)";

/* --- a copy of it --------------------------------------------------------- */

/* A file in memory; older kernels do not know the last flag. */
static int
make_file(const char *name, unsigned flag)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | flag);

	return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

static bool
seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS,
		   F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ==
	    0;
}

/* Only root can write a file of root's that nobody else may write. */
static bool
may_change(int fd)
{
	struct stat status;

	return geteuid() == 0 || fstat(fd, &status) != 0 || status.st_uid != 0;
}

static bool
copy_all(int to, int from)
{
	ssize_t len;

	do
		len = sendfile(to, from, NULL, INT_MAX);
	while (len > 0);
	return len == 0;
}

/* -1 and errno */
static int
copy_program(int program, const char *name)
{
	char path[DESCRIPTOR_PATH_SIZE];
	int from, to, error;

	descriptor_path(path, program);
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -1;
	to = make_file(name, MFD_EXEC);
	if (to >= 0 && copy_all(to, from) && seal(to)) {
		close(from);
		return above_standard(to);
	}
	error = errno;
	close(from);
	if (to >= 0)
		close(to);
	errno = error;
	return -1;
}

/* It is started outside, after the command, which may write where it lies. */
int
proxy_open(const char *name, const char *missing)
{
	int program = proxy_find(name), copy;

	if (program < 0)
		refuse("network", missing, 0);
	if (!may_change(program))
		return program;
	copy = copy_program(program, name);
	if (copy < 0)
		refuse(name,
		    "cannot copy the program, which the command might write, "
		    "into memory",
		    errno);
	close(program);
	return copy;
}

/* --- starting it ---------------------------------------------------------- */

int
proxy_policy(const void *bytes, size_t size)
{
	int fd = make_file("sbx-policy", MFD_NOEXEC_SEAL);

	if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size &&
	    lseek(fd, 0, SEEK_SET) == 0 && seal(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The caller may ignore or block signals; the proxy does neither. */
static void
reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* First out of the way of all numbers that are wanted. */
static bool
place_descriptors(struct proxy_start *start)
{
	int end = PROXY_SOCKETS + (int)start->count;

	start->program = fcntl(start->program, F_DUPFD_CLOEXEC, end);
	if (start->program < 0)
		return false;
	for (int i = 0; i < end; i++) {
		int *fd = &start->descriptors[i];

		if (i == STDERR_FILENO)
			continue;
		*fd = fcntl(*fd, F_DUPFD_CLOEXEC, end);
		if (*fd < 0)
			return false;
	}
	for (int i = 0; i < end; i++) {
		if (i != STDERR_FILENO && dup2(start->descriptors[i], i) < 0)
			return false;
	}
	return true;
}

/*
 * Out of the terminal's job: a signal of the terminal is for the command, and it
 * may go on after it.  What has no flag in place_descriptors() is closed by
 * execve(2).
 */
__attribute__((noreturn)) static void
become(const struct proxy_start *wanted, pid_t parent)
{
	static char full[] = "full", standard[] = "standard";
	struct proxy_start start = *wanted;
	char *argv[] = { (char *)(uintptr_t)wanted->name,
		strcmp(start.level, "full") == 0 ? full : standard,
		(char *)start.path, NULL };
	char *none[] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	start.descriptors[STDIN_FILENO] = null;
	start.descriptors[STDOUT_FILENO] = null;
	for (int i = 0; i < PROXY_SOCKETS; i++) {
		if (start.descriptors[i] < 0)
			start.descriptors[i] = null;
	}
	setsid();
	raise_open_files();
	reset_signals();
	if (null >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
	    getppid() == parent && chdir("/") == 0 && place_descriptors(&start))
		syscall(SYS_execveat, start.program, "", argv, none,
		    AT_EMPTY_PATH);
	say(wanted->name, "cannot be started", errno);
	_exit(EXIT_REFUSED);
}

pid_t
proxy_run(const struct proxy_start *start)
{
	pid_t self = getpid(), pid = fork();

	if (pid == 0)
		become(start, self);
	return pid;
}
