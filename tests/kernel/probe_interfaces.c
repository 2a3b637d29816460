/*
 * Interfaces of the kernel that the probe tries: system calls, namespaces, mounts.
 */
#include "runtime/base/kernel.h"
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

enum {
	OPEN_TREE_CLONED = 1,
	RECURSIVE = 0x8000,
	UFFD_USER_ONLY = 1,
	X32_BIT = 0x40000000,
};

/* clang-format off */
static const struct name clone_flags[] = {
	{"newtime", 0x80}, {"newns", 0x20000}, {"newcgroup", 0x2000000},
	{"newuts", 0x4000000}, {"newipc", 0x8000000},
	{"newuser", 0x10000000}, {"newpid", 0x20000000},
	{"newnet", 0x40000000}, {"none", 0},
};

#define S(name) {#name, SYS_##name}

/* Those that policies speak of; the others are tried by number. */
static const struct name syscalls[] = {
	S(acct), S(add_key), S(adjtimex), S(bpf), S(capset), S(chroot),
	S(clock_adjtime), S(clock_settime), S(clone), S(connect),
	S(delete_module),
	S(execve), S(execveat), S(fanotify_init), S(fchown), S(fchmodat),
	S(finit_module), S(getpid), S(getppid), S(getrandom), S(getuid),
	S(init_module), S(inotify_init1), S(ioctl), S(kcmp), S(kexec_load),
	S(keyctl), S(kill), S(landlock_create_ruleset), S(lookup_dcookie),
	S(mbind), S(memfd_create), S(migrate_pages), S(mknodat),
	S(mlock), S(mount), S(move_pages), S(name_to_handle_at), S(nfsservctl),
	S(open_by_handle_at), S(perf_event_open), S(personality),
	S(pidfd_getfd), S(pidfd_open), S(pidfd_send_signal), S(pivot_root),
	S(prctl), S(process_madvise), S(process_vm_readv),
	S(process_vm_writev), S(ptrace), S(quotactl), S(reboot),
	S(request_key), S(sched_setattr), S(sched_setscheduler), S(seccomp),
	S(set_mempolicy), S(setdomainname), S(setgid), S(setgroups),
	S(sethostname), S(setns), S(setpriority), S(settimeofday), S(setuid),
	S(shutdown), S(socket), S(socketpair), S(swapoff), S(swapon),
	S(syslog), S(umount2), S(unshare), S(userfaultfd), S(vhangup),
	S(vmsplice),
#ifdef __x86_64__
	S(_sysctl), S(arch_prctl), S(chmod), S(create_module), S(fork),
	S(get_kernel_syms), S(ioperm), S(iopl), S(mknod), S(modify_ldt),
	S(query_module), S(sysfs), S(uselib), S(ustat), S(vfork),
#endif
	{"io_uring_setup", SYS_io_uring_setup}, {"io_uring_enter", 426},
	{"io_uring_register", 427}, {"open_tree", SYS_open_tree},
	{"move_mount", 429}, {"fsopen", 430}, {"fsconfig", 431},
	{"fsmount", 432}, {"fspick", 433}, {"clone3", SYS_clone3},
	{"mount_setattr", 442}, {"open_tree_attr", 467},
};
/* clang-format on */

static int
try_io_uring(char **words, int count)
{
	uint32_t params[30] = { 0 };

	(void)words;
	(void)count;
	return opened(syscall(SYS_io_uring_setup, 1, params));
}

/* The number is one of i386. */
static int
run_int80(char **words, int count)
{
	long value = -ENOSYS;

	(void)count;
#ifdef __x86_64__
	__asm__ volatile("int $0x80"
			 : "=a"(value)
			 : "a"((long)number(words[0])), "b"(0L), "c"(0L),
			 "d"(0L), "S"(0L), "D"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
#else
	(void)words;
#endif
	return (int)value < 0 && (int)value > -4096 ? -(int)value : 0;
}

static int
try_int80(char **words, int count)
{
	return in_child(run_int80, words, count);
}

static int
run_x32(char **words, int count)
{
	(void)count;
	return result(
	    syscall((long)number(words[0]) | X32_BIT, 0L, 0L, 0L, 0L, 0L, 0L));
}

static int
try_x32(char **words, int count)
{
	return in_child(run_x32, words, count);
}

static int
try_tiocsti(char **words, int count)
{
	(void)words;
	(void)count;
	return result(syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI, ""));
}

static int
try_tiocsti_high(char **words, int count)
{
	(void)words;
	(void)count;
	return result(
	    syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI | 1UL << 32, ""));
}

static unsigned long
flags_of(char **words, int count)
{
	unsigned long flags = 0;

	for (int i = 0; i < count; i++)
		flags |= LOOK_UP(clone_flags, words[i]);
	return flags;
}

static int
run_unshare(char **words, int count)
{
	return result(syscall(SYS_unshare, flags_of(words, count)));
}

static int
try_unshare(char **words, int count)
{
	return in_child(run_unshare, words, count);
}

static int
try_clone(char **words, int count)
{
	long pid = syscall(SYS_clone, flags_of(words, count) | SIGCHLD, 0L, 0L,
	    0L, 0L);

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	return wait_for((pid_t)pid);
}

static int
try_clone3(char **words, int count)
{
	uint64_t args[11] = {
		[0] = flags_of(words, count),
		[4] = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, args, sizeof args);

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	return wait_for((pid_t)pid);
}

/* EBADF: the call itself went through. */
static int
try_setns(char **words, int count)
{
	(void)words;
	(void)count;
	return result(syscall(SYS_setns, -1, 0));
}

/* By default onto nothing: ENOENT says that the call went through. */
static int
try_mount(char **words, int count)
{
	return result(mount("none", count ? words[0] : "/nonexistent/place",
	    "tmpfs", 0, NULL));
}

static int
try_open_tree(char **words, int count)
{
	return opened(syscall(SYS_open_tree, AT_FDCWD, count ? words[0] : "/",
	    OPEN_TREE_CLONED | RECURSIVE));
}

static int
try_bpf(char **words, int count)
{
	uint32_t attributes[32] = { 2 /* array */, 4, 4, 1 };

	(void)words;
	(void)count;
	return opened(syscall(SYS_bpf, 0, attributes, sizeof attributes));
}

static int
try_perf(char **words, int count)
{
	uint32_t attributes[32] = { 1 /* software */, sizeof attributes };

	(void)words;
	(void)count;
	return opened(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0L));
}

static int
try_userfaultfd(char **words, int count)
{
	(void)words;
	(void)count;
	return opened(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_ONLY));
}

/* The id of the session's keyring, made if it is not there. */
static int
try_keyctl(char **words, int count)
{
	(void)words;
	(void)count;
	return result(syscall(SYS_keyctl, 0, -3, 1));
}

static int
try_syscall(char **words, int count)
{
	unsigned long a[6] = { 0 };

	for (int i = 1; i < count; i++)
		a[i - 1] = number(words[i]);
	return result(syscall((long)LOOK_UP(syscalls, words[0]), a[0], a[1],
	    a[2], a[3], a[4], a[5]));
}

enum {
	REQUEST_SIZE = 4096, /* struct btrfs_ioctl_vol_args, of both versions */
	GET_FLAGS = 0x80086601,
	SUBVOLUME_CREATE = 0x5000940e,
	SNAPSHOT_CREATE = 0x50009401,
};

static int
request(const char *path, unsigned long number, void *argument)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int error;

	if (fd < 0)
		return errno;
	error = result(syscall(SYS_ioctl, fd, number, argument));
	close(fd);
	return error;
}

/* A request to a file that is open for reading.  Its argument is what lsattr
 * shows, so that chattr's request changes nothing. */
static int
try_fcntl(char **words, int count)
{
	int fd = open(words[0], O_RDONLY | O_CLOEXEC), error;

	(void)count;
	if (fd < 0)
		return errno;
	error = result(
	    syscall(SYS_fcntl, fd, number(words[1]), number(words[2])));
	close(fd);
	return error;
}

static int
try_ioctl(char **words, int count)
{
	uint64_t argument[REQUEST_SIZE / 8] = { 0 };

	(void)count;
	request(words[0], GET_FLAGS, argument);
	return request(words[0], number(words[1]), argument);
}

static int
try_subvolume(char **words, int count)
{
	struct {
		int64_t fd;
		char name[REQUEST_SIZE - 8];
	} argument = { 0 };

	(void)count;
	strncpy(argument.name, words[1], sizeof argument.name - 1);
	return request(words[0], SUBVOLUME_CREATE, &argument);
}

static int
try_snapshot(char **words, int count)
{
	struct {
		int64_t fd;
		char name[REQUEST_SIZE - 8];
	} argument = { 0 };
	int error;

	(void)count;
	argument.fd = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (argument.fd < 0)
		return errno;
	strncpy(argument.name, words[2], sizeof argument.name - 1);
	error = request(words[1], SNAPSHOT_CREATE, &argument);
	close((int)argument.fd);
	return error;
}

/* clang-format off */
const struct operation interface_operations[] = {
	{"io-uring", 0, 0, try_io_uring},
	{"int80", 1, 1, try_int80},
	{"x32", 1, 1, try_x32},
	{"tiocsti", 0, 0, try_tiocsti},
	{"tiocsti-high", 0, 0, try_tiocsti_high},
	{"unshare", 1, MAX_WORDS, try_unshare},
	{"clone", 1, MAX_WORDS, try_clone},
	{"clone3", 1, MAX_WORDS, try_clone3},
	{"setns", 0, 0, try_setns},
	{"mount", 0, 1, try_mount},
	{"open-tree", 0, 1, try_open_tree},
	{"bpf", 0, 0, try_bpf},
	{"perf", 0, 0, try_perf},
	{"userfaultfd", 0, 0, try_userfaultfd},
	{"keyctl", 0, 0, try_keyctl},
	{"syscall", 1, 7, try_syscall},
	{"fcntl", 3, 3, try_fcntl},
	{"ioctl", 2, 2, try_ioctl},
	{"subvolume", 2, 2, try_subvolume},
	{"snapshot", 3, 3, try_snapshot},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
