/*
 * The namespaces of level full: for mounts, processes, System V IPC and mostly
 * the network, and a user namespace, which gives the right to make the others.
 * A caller that has this right already (root outside of containers) gets no
 * user namespace.
 */
#include "runtime/apply/apply.h"

#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* The steps of the way, in their order; at which of them it ended. */
enum step {
	STEP_PROC,
	STEP_CLONE,
	STEP_MAPS,
	STEP_MOUNT,
	STEP_ROOT,
	STEP_NETWORK,
	STEP_DONE
};

/* What the child tells its parent. */
struct report {
	enum step step;
	int error; /* errno of a step that failed */
};

static const char *const reasons[] = {
	[STEP_PROC] = "no /proc is mounted here, by which level full is set up",
	[STEP_CLONE] = "this kernel, a sysctl (user.max_*_namespaces, "
		       "kernel.unprivileged_userns_clone), AppArmor or a "
		       "container's filter forbids new namespaces; on Ubuntu "
		       "install the profile that comes with sbxrun",
	[STEP_MAPS] =
	    "a user namespace can be made but not used: AppArmor's restriction "
	    "(kernel.apparmor_restrict_unprivileged_userns); install the "
	    "profile that comes with sbxrun",
	[STEP_MOUNT] = "mounting is forbidden in a new namespace: AppArmor's "
		       "restriction or a container's; on Ubuntu install the "
		       "profile that comes with sbxrun",
	[STEP_ROOT] =
	    "the root is the kernel's first one (an initramfs), which "
	    "pivot_root(2) cannot leave; boot with another root file system",
	[STEP_NETWORK] =
	    "the loopback device of a new network namespace cannot be set up: "
	    "a container's filter or a security module forbids it",
};

/*
 * To map number 0 takes CAP_SETFCAP outside, from Linux 5.12 on: a file's
 * capabilities inside would count for the superuser outside.
 */
static bool
lacks_setfcap(void)
{
	enum { CAP_SETFCAP = 31 };
	struct cap_header header = { LINUX_CAPABILITY_VERSION_3, 0 };
	struct cap_data data[2];

	return geteuid() == 0 && syscall(SYS_capget, &header, data) == 0 &&
	    (data[0].effective >> CAP_SETFCAP & 1) == 0;
}

static const char *
reason_of(enum step step)
{
	if (step == STEP_MAPS && lacks_setfcap())
		return "root has no CAP_SETFCAP, which Linux asks of it for a "
		       "user namespace: a container has taken it, or "
		       "securebits (noroot)";
	return reasons[step];
}

/*
 * The errors with which a machine says that it does not offer namespaces: they
 * would come back at the next run, and they alone lower the level.  Whatever
 * else is a shortage, which another process of the user can bring about and
 * which may be over in a moment: EAGAIN (too many processes of the user or of
 * its control group), ENOMEM, EMFILE, ENFILE.  ENOSPC is either.
 */
static const int lasting[] = {
	EPERM,        /* a filter, a sysctl, a security module, a chroot */
	EACCES,       /* a security module */
	ENOSYS,       /* a filter, or a kernel without the call */
	EOPNOTSUPP,   /* likewise */
	EINVAL,       /* a kernel that was built without such namespaces */
	ENODEV,       /* fsopen(2): one without tmpfs */
	EAFNOSUPPORT, /* socket(2): one without IPv4 */
	ENOENT,       /* no /proc is mounted here, or not all of it */
	EROFS,        /* /proc is read-only here */
};

/* The sysctls that limit the number of namespaces: 0 forbids them, and clone(2)
 * says ENOSPC as it does when others have used up a number. */
static const struct {
	unsigned long flag;
	const char *path;
} numbers[] = {
	{ CLONE_NEWUSER, "/proc/sys/user/max_user_namespaces" },
	{ CLONE_NEWNS, "/proc/sys/user/max_mnt_namespaces" },
	{ CLONE_NEWPID, "/proc/sys/user/max_pid_namespaces" },
	{ CLONE_NEWIPC, "/proc/sys/user/max_ipc_namespaces" },
	{ CLONE_NEWNET, "/proc/sys/user/max_net_namespaces" },
};

static bool
is_forbidden(unsigned long flags)
{
	char text[32];

	for (size_t i = 0; i < countof(numbers); i++) {
		if ((flags & numbers[i].flag) != 0 &&
		    file_read(AT_FDCWD, numbers[i].path, text, sizeof text) &&
		    strcmp(text, "0\n") == 0)
			return true;
	}
	return false;
}

static bool
is_lasting(unsigned long flags, int error)
{
	if (error == ENOSPC)
		return is_forbidden(flags);
	for (size_t i = 0; i < countof(lasting); i++) {
		if (lasting[i] == error)
			return true;
	}
	return false;
}

/* A lower level that nobody asked for would be less protection than the next
 * run has. */
__attribute__((noreturn)) static void
refuse_shortage(int error)
{
	refuse("level full",
	    "its namespaces cannot be made now; -l standard does without them",
	    error);
}

/* "ID ID 1": the one line that an unprivileged process may write. */
static bool
write_map(const char *path, unsigned id)
{
	struct out line;

	out_init(&line, -1);
	out_print(&line, "%u %u 1", id, id);
	return file_write(AT_FDCWD, path, line.text);
}

/*
 * Maps our own ids and no others: then execve(2) leaves an ordinary user no
 * capability, as outside.  user_namespaces(7): setgroups(2) has to be given up
 * first.
 */
static bool
write_maps(uid_t uid, gid_t gid)
{
	return file_write(AT_FDCWD, "/proc/self/setgroups", "deny") &&
	    write_map("/proc/self/uid_map", uid) &&
	    write_map("/proc/self/gid_map", gid);
}

/*
 * What the view is made with beside that.  Some filters of containers refuse a
 * part of it alone, and what cannot be finished must not be begun.  Each call is
 * made with nothing to work on, which the kernel says of it then.
 */
static bool
may_build(void)
{
	const struct {
		long number, arguments[3];
	} calls[] = {
		{ SYS_open_tree, { -1, (long)"", AT_EMPTY_PATH } },
		{ SYS_fsconfig, { -1, FS_CREATE, 0 } },
		{ SYS_fsmount, { -1, 0, 0 } },
		{ SYS_move_mount, { AT_FDCWD, (long)"", AT_FDCWD } },
		{ SYS_umount2, { (long)"", 0, 0 } },
		{ SYS_pivot_root, { (long)"", (long)"", 0 } },
	};

	for (size_t i = 0; i < countof(calls); i++) {
		const long *given = calls[i].arguments;

		if (syscall(calls[i].number, given[0], given[1], given[2], "",
			0) < 0 &&
		    (errno == EPERM || errno == EACCES || errno == ENOSYS))
			return false;
	}
	return true;
}

static bool
may_mount(void)
{
	static const struct mount_attributes private = {
		.propagation = 1 << 18 /* MS_PRIVATE */
	};
	int context;

	if (set_mount(AT_FDCWD, "/", MOUNT_TREE, &private) != 0)
		return false;
	context = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	if (context >= 0)
		close(context);
	return context >= 0;
}

/* The next number, or 0, and where it ends. */
static const char *
take_number(const char *text, uint64_t *number)
{
	const char *end = sbx_decimal_read(text, text + strlen(text), number);

	return end != NULL ? end : text;
}

/*
 * pivot_root(2) leaves no root that is mounted on nothing, as an initramfs is
 * on most kernels.  The line of such a mount is the first and begins with "ID
 * ID", its own and the same again for its parent.  Only file systems that can be
 * one are looked at, for /proc/self/mountinfo is slow.
 */
static bool
may_leave_root(void)
{
	enum { RAMFS = 0x858458f6, TMPFS = 0x01021994 };
	uint64_t own, parent;
	struct statfs root;
	const char *at;
	char text[64];
	int fd;
	ssize_t got;

	if (statfs("/", &root) != 0 ||
	    ((uint32_t)root.f_type != RAMFS && (uint32_t)root.f_type != TMPFS))
		return true;
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return true;
	text[got] = '\0';
	at = take_number(text, &own);
	at = take_number(at + (*at == ' '), &parent);
	if (at == text || own != parent)
		return true;
	errno = EINVAL;
	return false;
}

/* A new network namespace has one device, lo, which is down.  It gets the
 * addresses 127.0.0.1 and ::1 when it goes up. */
static bool
raise_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo",
		.ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool raised = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;

	if (fd >= 0)
		close(fd);
	return raised;
}

static void
tell(int pipe, enum step step)
{
	struct report report = { step, errno };

	if (write(pipe, &report, sizeof report) != sizeof report ||
	    step != STEP_DONE)
		_exit(1);
	close(pipe);
}

static void
enter(int pipe, bool mapped, uid_t uid, gid_t gid, bool loopback)
{
	/* The parent may be gone already.  Then its end of the pipe is closed,
	 * and tell() ends this process. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (mapped && !write_maps(uid, gid))
		tell(pipe, STEP_MAPS);
	if (!may_mount() || !may_build())
		tell(pipe, STEP_MOUNT);
	if (!may_leave_root())
		tell(pipe, STEP_ROOT);
	if (loopback && !raise_loopback())
		tell(pipe, STEP_NETWORK);
	tell(pipe, STEP_DONE);
}

/* What became of the child, which is reaped if it failed.  One that was killed
 * has told nothing: by a container's filter that does not answer, or, which
 * says nothing about the machine, by somebody else. */
static struct report
hear(int pipe, pid_t pid)
{
	struct report report = { STEP_MOUNT, 0 };
	ssize_t got;
	int status;

	do {
		got = read(pipe, &report, sizeof report);
	} while (got < 0 && errno == EINTR);
	if (got == sizeof report && report.step == STEP_DONE)
		return report;
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) == pid && got != sizeof report)
		report.error = WIFSIGNALED(status) &&
			WTERMSIG(status) == SIGSYS ?
		    ENOSYS :
		    ECHILD;
	return report;
}

/* The process id, or -1 where the machine does not offer these namespaces. */
static pid_t
fork_into(unsigned long flags, bool loopback, const char **why)
{
	struct report report = { STEP_CLONE, 0 };
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse_shortage(errno);
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		close(ends[0]);
		enter(ends[1], (flags & CLONE_NEWUSER) != 0, uid, gid,
		    loopback);
		return 0;
	}
	report.error = errno;
	close(ends[1]);
	if (pid > 0)
		report = hear(ends[0], pid);
	close(ends[0]);
	if (report.step == STEP_DONE)
		return pid;
	if (!is_lasting(flags, report.error))
		refuse_shortage(report.error);
	*why = reason_of(report.step);
	return -1;
}

pid_t
namespaces_fork(enum own_network network, bool own_user, const char **why)
{
	unsigned long own = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
	    (network != NETWORK_OUTER ? CLONE_NEWNET : 0);
	bool loopback = network == NETWORK_LOOPBACK;
	pid_t pid = -1;

	/* The view wants it later, too: of a file that is read, say. */
	if (access("/proc/self/fd", F_OK) != 0) {
		*why = reason_of(STEP_PROC);
		return -1;
	}
	if (geteuid() == 0 && !own_user)
		pid = fork_into(own, loopback, why);
	if (pid < 0)
		pid = fork_into(own | CLONE_NEWUSER, loopback, why);
	return pid;
}

const char *
namespaces_own_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 && may_mount() ?
	    NULL :
	    "cannot make mounts of its own for a file that is read";
}
