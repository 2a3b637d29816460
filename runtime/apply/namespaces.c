#include "runtime/apply/namespaces.h"

#include "runtime/base/file.h"
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
#include <sys/wait.h>
#include <unistd.h>

/* How far the child came, in one byte; the steps in their order. */
enum step { STEP_MAPS, STEP_MOUNT, STEP_NETWORK, STEP_DONE, STEP_CLONE };

static const char *const reasons[] = {
	[STEP_CLONE] =
	    "this kernel, a sysctl (user.max_*_namespaces, "
	    "kernel.unprivileged_userns_clone) or a container's filter "
	    "forbids new namespaces",
	[STEP_MAPS] =
	    "a user namespace can be made but not used: AppArmor's "
	    "restriction (kernel.apparmor_restrict_unprivileged_userns); "
	    "install the profile that comes with sbxrun",
	[STEP_MOUNT] =
	    "mounting is forbidden in a new namespace: AppArmor's "
	    "restriction or a container's; on Ubuntu install the profile "
	    "that comes with sbxrun",
	[STEP_NETWORK] =
	    "the loopback device of a new network namespace "
	    "cannot be set up: a container's filter or a security module "
	    "forbids it",
};

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
	uint8_t byte = (uint8_t)step;

	if (write(pipe, &byte, 1) != 1 || step != STEP_DONE)
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
	if (!may_mount())
		tell(pipe, STEP_MOUNT);
	if (loopback && !raise_loopback())
		tell(pipe, STEP_NETWORK);
	tell(pipe, STEP_DONE);
}

static pid_t
fork_into(unsigned long flags, bool loopback, enum step *step)
{
	bool mapped = (flags & CLONE_NEWUSER) != 0;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int ends[2], status;
	uint8_t byte = STEP_CLONE;
	pid_t pid;

	*step = STEP_CLONE;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		close(ends[0]);
		enter(ends[1], mapped, uid, gid, loopback);
		return 0;
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &byte, 1) != 1)
		byte = STEP_MOUNT;
	close(ends[0]);
	*step = (enum step)byte;
	if (pid > 0 && byte != STEP_DONE) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return -1;
	}
	return pid;
}

pid_t
namespaces_fork(enum own_network network, const char **why)
{
	unsigned long own = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
	    (network != NETWORK_OUTER ? CLONE_NEWNET : 0);
	bool loopback = network == NETWORK_LOOPBACK;
	enum step step;
	pid_t pid = -1;

	if (geteuid() == 0)
		pid = fork_into(own, loopback, &step);
	if (pid < 0)
		pid = fork_into(own | CLONE_NEWUSER, loopback, &step);
	if (pid < 0)
		*why = reasons[step];
	return pid;
}
