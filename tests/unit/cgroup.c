/*
 * Which control group a sandbox may have, by what the kernel says of this process,
 * and what becomes of one that cannot be had (runtime/watch/cgroup.c).  The kernel
 * is a directory here, and what single calls answer is the test's word.
 */
#include "runtime/watch/cgroup.h"
#include "runtime/base/file.h"
#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MEMORY = 1 << SBX_LIMIT_MEMORY,
	PROCESSES = 1 << SBX_LIMIT_PROCESSES,
	BOTH = MEMORY | PROCESSES,
	REFUSED = 125,
	ALWAYS = 1 << 20,
};

static struct tap tap;
static char top[] = "/var/tmp/sbx-cgroup-XXXXXX";

/* What is answered, and what was written: `NAME=TEXT;` each. */
static struct {
	const char *membership; /* NULL: it cannot be read */
	int unread;             /* why */
	const char *type;       /* of a group that is made */
	const char *unwritten;  /* no file whose name begins so can be */
	int write_error, mkdir_error, remove_error, removes_failing;
	char written[512];
} kernel;

bool
file_read(int directory, const char *name, char *text, size_t size)
{
	ssize_t len = -1;
	int fd;

	*text = '\0';
	if (strcmp(name, "/proc/self/cgroup") == 0) {
		errno = kernel.unread;
		if (kernel.membership == NULL)
			return false;
		snprintf(text, size, "%s", kernel.membership);
		return true;
	}
	if (strcmp(name, "cgroup.type") == 0) {
		snprintf(text, size, "%s",
		    kernel.type != NULL ? kernel.type : "");
		return kernel.type != NULL;
	}
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, text, size - 1);
		close(fd);
	}
	text[len < 0 ? 0 : len] = '\0';
	return len >= 0;
}

bool
file_write(int directory, const char *name, const char *text)
{
	size_t used = strlen(kernel.written);

	(void)directory;
	if (kernel.unwritten != NULL &&
	    strncmp(name, kernel.unwritten, strlen(kernel.unwritten)) == 0) {
		errno = kernel.write_error;
		return false;
	}
	snprintf(kernel.written + used, sizeof kernel.written - used, "%s=%s;",
	    name, text);
	return true;
}

int
open(const char *path, int flags, ...)
{
	static const char mount[] = "/sys/fs/cgroup";
	char text[512];
	va_list rest;
	int fd;

	if (strncmp(path, mount, sizeof mount - 1) == 0)
		snprintf(text, sizeof text, "%s%s", top,
		    path + sizeof mount - 1);
	else
		snprintf(text, sizeof text, "%s", path);
	va_start(rest, flags);
	fd = openat(AT_FDCWD, text, flags, va_arg(rest, mode_t));
	va_end(rest);
	return fd;
}

int
mkdirat(int directory, const char *name, mode_t mode)
{
	errno = kernel.mkdir_error;
	return errno != 0 ? -1 :
			    (int)syscall(SYS_mkdirat, directory, name, mode);
}

int
unlinkat(int directory, const char *name, int flags)
{
	if (kernel.removes_failing > 0) {
		kernel.removes_failing--;
		errno = kernel.remove_error;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, directory, name, flags);
}

int
poll(struct pollfd *fds, nfds_t count, int timeout)
{
	(void)fds;
	(void)count;
	(void)timeout;
	return 0;
}

static void
write_text(const char *path, const char *text)
{
	int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	tap_must(fd >= 0 &&
		write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		close(fd) == 0,
	    path);
}

/* --- which group ---------------------------------------------------------- */

static const struct timespec begin = { 1, 2 };
static const char none_mounted[] = "no control groups of version 2 are "
				   "mounted at /sys/fs/cgroup";
static const char none_delegated[] =
    "the control group above this process's is not delegated to its user; see "
    "Control groups in sbxrun(1)";
static const char no_controllers[] =
    "the control group above this process's cannot switch on the controllers "
    "pids and memory";
static const char in_sandbox[] = "this process is in a sandbox's control group";

static struct cgroup
found(const char *membership, uint32_t wanted)
{
	struct cgroup group;

	kernel.membership = membership;
	*kernel.written = '\0';
	cgroup_init(&group);
	cgroup_find(&group, wanted, begin);
	return group;
}

static void
finds(const char *what, const char *membership, uint32_t wanted,
    uint32_t offered, const char *why, const char *written)
{
	struct cgroup group = found(membership, wanted);
	bool same = why == NULL ?
	    group.why == NULL :
	    group.why != NULL && strcmp(group.why, why) == 0;

	if (!tap_ok(&tap,
		group.offered == offered &&
		    (group.parent >= 0) == (offered != 0) && same &&
		    strcmp(kernel.written, written) == 0,
		"%s", what))
		printf("# offered %#x, why %s, written %s\n", group.offered,
		    group.why != NULL ? group.why : "none", kernel.written);
	cgroup_forget(&group);
}

static void
check_membership(void)
{
	static const struct {
		const char *what, *text, *why;
	} cases[] = {
		{ "version 1 alone", "1:name=systemd:/a/b\n", none_mounted },
		{ "nothing", "", none_mounted },
		{ "the root", "0::/\n", none_delegated },
		{ "above the root", "0::/../a/b\n", none_delegated },
		{ "one that was removed", "0::/d/own (deleted)\n",
		    none_delegated },
		{ "a sandbox's", "0::/d/sbx-1-2\n", in_sandbox },
		{ "below a slice of systemd's", "0::/u.slice/own\n",
		    none_delegated },
		{ "one that is not there", "0::/gone/own\n", none_mounted },
		{ "one without controllers", "0::/bare/own\n", none_mounted },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		finds(cases[i].what, cases[i].text, BOTH, 0, cases[i].why, "");
	kernel.unread = ENOENT;
	finds("no such file", NULL, BOTH, 0, none_mounted, "");
	finds("nothing is wanted", "0::/d/own\n", 0, 0, NULL, "");
}

static void
check_controllers(void)
{
	static const char own[] = "0::/d/own\n";
	static const char on[] = "cgroup.subtree_control=+pids;"
				 "cgroup.subtree_control=+memory;";
	char path[64];

	snprintf(path, sizeof path, "%s/d/cgroup.subtree_control", top);
	finds("below one that is ours", own, BOTH, BOTH, NULL, "");
	finds("among those of version 1", "2:pids:/x\n0::/d/own\n", BOTH, BOTH,
	    NULL, "");
	finds("mounted beside version 1", "0::/e/own\n", BOTH, BOTH, NULL, on);
	finds("at the top", "0::/own\n", BOTH, BOTH, NULL, "");
	write_text(path, "pidx mem memory2\n");
	finds("others are on", own, MEMORY, MEMORY, NULL,
	    "cgroup.subtree_control=+memory;");
	kernel.unwritten = "cgroup.subtree_control";
	kernel.write_error = ENOENT;
	finds("none can be switched on", own, BOTH, 0, no_controllers, "");
	write_text(path, "cpu memory\n");
	finds("one can not", own, BOTH, MEMORY, no_controllers, "");
	kernel.unwritten = NULL;
	snprintf(path, sizeof path, "%s/d/cgroup.procs", top);
	tap_must(chmod(path, 0444) == 0, path);
	finds("nobody may be moved", own, BOTH, 0, none_delegated, "");
	tap_must(unlink(path) == 0, path);
	finds("nobody can be moved", own, BOTH, 0, none_delegated, "");
	write_text(path, "");
}

/* --- ours ----------------------------------------------------------------- */

static struct sbx_limit limits[] = {
	{ .kind = SBX_LIMIT_OPEN_FILES, .platforms = KERNEL_WHERE, .value = 7 },
	{ .kind = SBX_LIMIT_PROCESSES, .platforms = KERNEL_WHERE, .value = 8 },
	{ .kind = SBX_LIMIT_MEMORY, .platforms = KERNEL_WHERE, .value = 9 },
};
static const struct sbx_blob blob = {
	.limits = limits,
	.limit_count = sizeof limits / sizeof *limits,
};

static struct cgroup
made(uint32_t wanted, const char *type)
{
	struct cgroup group = found("0::/d/own\n", BOTH);

	kernel.type = type;
	*kernel.written = '\0';
	cgroup_make(&group, &blob, wanted);
	return group;
}

/* What it holds, what was written for that; and whether it is there. */
static void
makes(const char *what, uint32_t wanted, const char *type, uint32_t held,
    const char *written)
{
	struct cgroup group = made(wanted, type);
	bool there = faccessat(group.parent, group.name, F_OK, 0) == 0;

	if (!tap_ok(&tap,
		group.held == held && there == (held != 0) &&
		    (group.own >= 0) == there &&
		    strcmp(kernel.written, written) == 0,
		"%s", what))
		printf("# held %#x, written %s\n", group.held, kernel.written);
	if (group.own >= 0)
		close(group.own);
	cgroup_remove(&group);
	cgroup_forget(&group);
}

static void
check_making(void)
{
	static const char domain[] = "domain\n";

	makes("both limits", BOTH, domain, BOTH,
	    "pids.max=8;memory.max=9;memory.swap.max=0;");
	makes("one that is wanted", PROCESSES, domain, PROCESSES,
	    "pids.max=8;");
	makes("none", 0, domain, 0, "");
	makes("below a group of threads", BOTH, "domain threaded\n", 0, "");
	makes("an unknown kind", BOTH, NULL, 0, "");
	kernel.unwritten = "memory.max";
	kernel.write_error = EINVAL;
	makes("a limit that cannot be set", BOTH, domain, PROCESSES,
	    "pids.max=8;");
	makes("the only one", MEMORY, domain, 0, "");
	kernel.unwritten = "memory.swap.max";
	kernel.write_error = ENOENT;
	makes("a machine without swap", MEMORY, domain, MEMORY,
	    "memory.max=9;");
	kernel.write_error = EACCES;
	makes("swap that cannot be forbidden", MEMORY, domain, 0,
	    "memory.max=9;");
	kernel.unwritten = NULL;
	kernel.mkdir_error = EACCES;
	makes("a group that cannot be made", BOTH, domain, 0, "");
	kernel.mkdir_error = 0;
}

static void
tries(const char *what, const char *why)
{
	const char *is;

	kernel.membership = "0::/d/own\n";
	is = cgroup_try();
	tap_ok(&tap,
	    why == NULL ? is == NULL : is != NULL && strcmp(is, why) == 0, "%s",
	    what);
}

static void
check_try(void)
{
	tries("a group can be had", NULL);
	kernel.mkdir_error = EACCES;
	tries("it cannot be made", none_delegated);
	kernel.mkdir_error = 0;
	kernel.remove_error = EPERM;
	kernel.removes_failing = 1;
	tries("it cannot be removed", none_delegated);
	kernel.membership = "0::/d/sbx-1-1\n";
	tap_ok(&tap, strcmp(cgroup_try(), in_sandbox) == 0,
	    "none in a sandbox");
}

static void
removes(const char *what, int error, int times, bool gone, const char *written)
{
	struct cgroup group = made(BOTH, "domain\n");
	bool is;

	*kernel.written = '\0';
	kernel.remove_error = error;
	kernel.removes_failing = times;
	is = cgroup_remove(&group);
	kernel.removes_failing = 0;
	if (!tap_ok(&tap, is == gone && strcmp(kernel.written, written) == 0,
		"%s", what))
		printf("# written %s\n", kernel.written);
	close(group.own);
	cgroup_remove(&group);
	cgroup_forget(&group);
}

static void
check_removing(void)
{
	struct cgroup group = made(BOTH, "domain\n");
	char kill[64], kills[512] = "";

	snprintf(kill, sizeof kill, "%s/cgroup.kill=1;", group.name);
	close(group.own);
	cgroup_remove(&group);
	cgroup_forget(&group);
	for (int i = 0; i < 2; i++)
		strcat(kills, kill);
	removes("it is empty", 0, 0, true, "");
	removes("it is gone", ENOENT, 1, true, "");
	removes("what is in it is killed", EBUSY, 3, true, kill);
	removes("and again", EBUSY, 20, true, kills);
	removes("interrupted", EINTR, 1, true, kill);
	removes("it may not go", EPERM, 1, false, "");
	/* A kill in sixteen of a hundred and twenty. */
	kills[0] = '\0';
	for (int i = 0; i < 8; i++)
		strcat(kills, kill);
	removes("and does not go", EBUSY, ALWAYS, false, kills);
}

/* --- a process in it ------------------------------------------------------ */

/* No directory of this file system is a group, so that clone3(2) fails. */
static int
status_of_fork(void)
{
	struct cgroup group = made(BOTH, "domain\n");
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = cgroup_fork(&group);
	if (pid == 0)
		_exit(
		    strstr(kernel.written, "cgroup.procs=0;") != NULL ? 7 : 8);
	tap_must(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
	close(group.own);
	cgroup_remove(&group);
	cgroup_forget(&group);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
check_fork(void)
{
	int kept = dup(STDERR_FILENO), said = memfd_create("said", 0);
	char text[256] = "";
	static const char line[] =
	    "cannot enter this control group: Permission denied\n";

	tap_ok(&tap, status_of_fork() == 7, "a child enters it itself");
	tap_must(kept >= 0 && said >= 0 && dup2(said, STDERR_FILENO) >= 0,
	    "said");
	kernel.unwritten = "cgroup.procs";
	kernel.write_error = EACCES;
	tap_ok(&tap, status_of_fork() == REFUSED, "or is refused");
	kernel.unwritten = NULL;
	dup2(kept, STDERR_FILENO);
	tap_ok(&tap,
	    pread(said, text, sizeof text - 1, 0) > 0 &&
		strstr(text, line) != NULL,
	    "and says so");
	/* Who has too many descriptors open must not go on without limits. */
	tap_must(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0 &&
		dup2(said, STDERR_FILENO) >= 0,
	    "said");
	fflush(stdout);
	if (fork() == 0) {
		kernel.unread = EMFILE;
		found(NULL, BOTH);
		_exit(0);
	}
	tap_must(wait(&kept) > 0, "wait");
	memset(text, 0, sizeof text);
	tap_ok(&tap,
	    WEXITSTATUS(kept) == REFUSED &&
		pread(said, text, sizeof text - 1, 0) > 0 &&
		strstr(text, "it cannot be had now: Too many open files\n") !=
		    NULL,
	    "a shortage is refused");
}

static void
make_stage(void)
{
	static const struct {
		const char *directory, *enabled;
	} groups[] = {
		{ "", "cpu memory pids\n" },
		{ "/bare", NULL },
		{ "/d", "memory pids\n" },
		{ "/u.slice", "memory pids\n" },
		{ "/unified", NULL },
		{ "/unified/e", "" },
	};

	tap_must(mkdtemp(top) != NULL, top);
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		char path[128];

		snprintf(path, sizeof path, "%s%s", top, groups[i].directory);
		tap_must(i == 0 || mkdir(path, 0755) == 0, path);
		if (groups[i].enabled == NULL)
			continue;
		snprintf(path, sizeof path, "%s%s/cgroup.subtree_control", top,
		    groups[i].directory);
		write_text(path, groups[i].enabled);
		snprintf(path, sizeof path, "%s%s/cgroup.procs", top,
		    groups[i].directory);
		write_text(path, "");
	}
}

int
main(void)
{
	char command[64], path[64];

	make_stage();
	check_membership();
	check_controllers();
	snprintf(path, sizeof path, "%s/d/cgroup.subtree_control", top);
	write_text(path, "memory pids\n");
	check_making();
	check_try();
	check_removing();
	check_fork();
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	tap_must(system(command) == 0, command);
	return tap_done(&tap);
}
