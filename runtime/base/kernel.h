/* System calls, and what this machine has. */
#ifndef SBX_RUNTIME_BASE_KERNEL_H
#define SBX_RUNTIME_BASE_KERNEL_H

#include "format/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Numbers of system calls that the headers of some libc lack.  From 424 on they
 * are the same on all machines.
 */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
/* Machines that are younger than these calls have no number for them. */
#ifndef SYS_chmod
#define SYS_open (-2)
#define SYS_chmod (-2)
#define SYS_chown (-2)
#define SYS_lchown (-2)
#define SYS_utime (-2)
#define SYS_utimes (-2)
#define SYS_futimesat (-2)
#define SYS_creat (-2)
#define SYS_rename (-2)
#define SYS_mkdir (-2)
#define SYS_mknod (-2)
#define SYS_symlink (-2)
#define SYS_link (-2)
#define SYS_rmdir (-2)
#define SYS_unlink (-2)
#define SYS_stat (-2)
#define SYS_lstat (-2)
#define SYS_access (-2)
#define SYS_readlink (-2)
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/*
 * The kernel's interface as far as the loader uses it: constants and argument
 * layouts that libc's headers lack (musl has no linux/ headers, Debian 12's
 * linux/landlock.h stops at ABI 2), and a wrapper for each system call without
 * one.  The wrappers return what the call returns, with errno set.
 *
 * Sources: include/uapi/linux/{landlock,seccomp,openat2,capability,prctl}.h.
 */

#ifdef SBX_TESTING
#include <stdlib.h>
#include <string.h>
#endif

#if defined(__x86_64__)
enum { KERNEL_WHERE = SBX_ON_LINUX_X86_64 };
#define KERNEL_ARCH 0xc000003eU /* AUDIT_ARCH_X86_64 */
#elif defined(__aarch64__)
enum { KERNEL_WHERE = SBX_ON_LINUX_AARCH64 };
#define KERNEL_ARCH 0xc00000b7U /* AUDIT_ARCH_AARCH64 */
#else
#error "sbxrun has filters for x86_64 and aarch64 only"
#endif

/* landlock_create_ruleset(2): the fields of ABI 1, 4 and 6.  A kernel that
 * knows fewer accepts the rest as long as it is zero. */
struct landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

struct landlock_net_port_attr {
	uint64_t allowed_access;
	uint64_t port;
};

enum {
	LANDLOCK_CREATE_RULESET_VERSION = 1,
	LANDLOCK_CREATE_RULESET_ERRATA = 2,
	LANDLOCK_RULE_PATH_BENEATH = 1,
	LANDLOCK_RULE_NET_PORT = 2,
	LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1,
};

struct open_how {
	uint64_t flags, mode, resolve;
};

enum {
	RESOLVE_NO_XDEV = 1,
	RESOLVE_NO_MAGICLINKS = 2,
	RESOLVE_NO_SYMLINKS = 4,
	RESOLVE_BENEATH = 8,
	RESOLVE_IN_ROOT = 16,
};

struct sock_fprog {
	uint16_t len;
	const struct sbx_insn *filter;
};

enum {
	SECCOMP_SET_MODE_FILTER = 1,
	SECCOMP_GET_ACTION_AVAIL = 2,
};

/*
 * Whether an error says that something is used up at this moment, by this
 * process or by others.  That is no answer of the machine's: to go on with less
 * protection would let whoever uses it up choose that.
 */
static inline bool
is_shortage(int error)
{
	return error == EAGAIN || error == EMFILE || error == ENFILE ||
	    error == ENOMEM;
}

#define SECCOMP_RET_ERRNO 0x00050000U
#define SECCOMP_RET_USER_NOTIF 0x7fc00000U
#define SECCOMP_RET_ALLOW 0x7fff0000U

/*
 * seccomp_unotify(2).  A call that the filter hands to the listener waits for
 * its answer.  With WAIT_KILLABLE_RECV (Linux 5.19) only a deadly signal
 * interrupts it once it has been received.
 */
enum {
	SECCOMP_FILTER_FLAG_NEW_LISTENER = 8,
	SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 32,
	SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP = 1,
	SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1,
	PIDFD_THREAD = O_EXCL, /* Linux 6.9 */
};

struct seccomp_call { /* struct seccomp_notif */
	uint64_t id;
	uint32_t thread; /* as the receiver's PID namespace numbers it */
	uint32_t flags;
	int32_t number;
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t args[6];
};

struct seccomp_answer { /* struct seccomp_notif_resp */
	uint64_t id;
	int64_t value;
	int32_t error; /* negative */
	uint32_t flags;
};

/* struct seccomp_notif_addfd: a copy of one of our descriptors for the caller,
 * whose number ioctl(2) returns; Linux 5.9. */
struct seccomp_descriptor {
	uint64_t id;
	uint32_t flags, ours, its, its_flags;
};

#define SECCOMP_IOCTL_NOTIF_RECV _IOWR('!', 0, struct seccomp_call)
#define SECCOMP_IOCTL_NOTIF_SEND _IOWR('!', 1, struct seccomp_answer)
#define SECCOMP_IOCTL_NOTIF_ID_VALID _IOW('!', 2, uint64_t)
#define SECCOMP_IOCTL_NOTIF_ADDFD _IOW('!', 3, struct seccomp_descriptor)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)

struct cap_header {
	uint32_t version;
	int32_t pid;
};

struct cap_data {
	uint32_t effective, permitted, inheritable;
};

#define LINUX_CAPABILITY_VERSION_3 0x20080522U

/* prlimit(2).  libc's setrlimit(2) deals with threads that are not there. */
struct rlimit_pair {
	uint64_t soft, hard;
};

static inline int
limit_process(int resource, const struct rlimit_pair *wanted,
    struct rlimit_pair *now)
{
	return (int)syscall(SYS_prlimit64, 0, resource, wanted, now);
}

/* The limits of a policy that are for this machine: the first one for NULL, the
 * next one for a limit, NULL after the last. */
static inline const struct sbx_limit *
limit_next(const struct sbx_blob *blob, const struct sbx_limit *limit)
{
	const struct sbx_limit *end = blob->limits + blob->limit_count;

	limit = limit == NULL ? blob->limits : limit + 1;
	while (limit < end && (limit->platforms & KERNEL_WHERE) == 0)
		limit++;
	return limit < end ? limit : NULL;
}

/* The limit of a kind that is for this machine, or NULL. */
static inline const struct sbx_limit *
limit_here(const struct sbx_blob *blob, uint16_t kind)
{
	const struct sbx_limit *limit = NULL;

	while ((limit = limit_next(blob, limit)) != NULL && limit->kind != kind)
		;
	return limit;
}

/* statx(2): the number of the mount that a path leads to, 144 bytes into the
 * answer; 0 if it leads nowhere, or before Linux 5.8. */
static inline uint64_t
mount_id(const char *path)
{
	enum { NO_SYNC = 0x4000, NO_AUTOMOUNT = 0x800, NO_FOLLOW = 0x100 };
	enum { STATX_MOUNT_ID = 0x1000 };
	uint64_t answer[32] = { 0 };

	if (syscall(SYS_statx, -100 /* AT_FDCWD */, path,
		NO_SYNC | NO_AUTOMOUNT | NO_FOLLOW, STATX_MOUNT_ID,
		answer) != 0)
		return 0;
	return answer[18];
}

/* getcwd(2); libc's also allocates if asked to.  Bytes with the NUL, or -1. */
static inline long
current_path(char *path, size_t size)
{
	return syscall(SYS_getcwd, path, size);
}

/*
 * clock_gettime(2).  libc's looks for the kernel's own library first, which
 * costs more than the few calls that are made here, but cannot be forbidden.
 */
static inline void
time_now(clockid_t clock, struct timespec *now)
{
	if (syscall(SYS_clock_gettime, clock, now) != 0)
		clock_gettime(clock, now);
}

static inline void
clock_now(struct timespec *now)
{
	time_now(CLOCK_MONOTONIC, now);
}

/* A directory's entry, as getdents64(2) fills it in: 8-aligned. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size; /* of the whole entry, padded */
	uint8_t type;
	char name[];
};

/* DT_UNKNOWN, DT_DIR, DT_LNK */
enum { ENTRY_UNKNOWN = 0, ENTRY_DIRECTORY = 4, ENTRY_LINK = 10 };

/* getdents64(2): bytes filled in, 0 at the end, -1; EINVAL: no room for one. */
static inline long
read_entries(int directory, void *entries, size_t size)
{
	return syscall(SYS_getdents64, directory, entries, size);
}

#ifdef SBX_TESTING
/* SBX_TEST_WITHOUT names layers to leave out, so that tests see what each of
 * the others denies by itself. */
static inline bool
is_without(const char *layer)
{
	const char *layers = getenv("SBX_TEST_WITHOUT");

	return layers != NULL && strstr(layers, layer) != NULL;
}

void machine_pretend_ruleset(struct landlock_ruleset_attr *attr);
int machine_pretend_rule(const struct landlock_path_beneath_attr *rule);
#endif

static inline int
landlock_create_ruleset(const struct landlock_ruleset_attr *attr, size_t size,
    uint32_t flags)
{
#ifdef SBX_TESTING
	struct landlock_ruleset_attr known;

	if (attr != NULL && getenv("SBX_TEST_NEWER_ABI") != NULL) {
		known = *attr;
		machine_pretend_ruleset(&known);
		attr = &known;
	}
#endif
	return (int)syscall(SYS_landlock_create_ruleset, attr, size, flags);
}

static inline int
landlock_add_rule(int ruleset, int type, const void *attr)
{
#ifdef SBX_TESTING
	/* The kernel may be older than is pretended (base/machine.c). */
	const struct landlock_path_beneath_attr *beneath = attr;

	if (type == LANDLOCK_RULE_PATH_BENEATH &&
	    (beneath->allowed_access & ~UINT64_C(0xffff)) != 0)
		return machine_pretend_rule(beneath);
#endif
	return (int)syscall(SYS_landlock_add_rule, ruleset, type, attr, 0);
}

static inline int
landlock_restrict_self(int ruleset, uint32_t flags)
{
#ifdef SBX_TESTING
	if (is_without("landlock"))
		return 0;
#endif
	return (int)syscall(SYS_landlock_restrict_self, ruleset, flags);
}

static inline int
seccomp(unsigned operation, unsigned flags, void *args)
{
#ifdef SBX_TESTING
	static const struct sbx_insn allow = { .code = 6 /* BPF_RET | BPF_K */,
		.k = 0x7fff0000 /* SECCOMP_RET_ALLOW */ };
	struct sock_fprog all = { .len = 1, .filter = &allow };

	/* A listener may be waited for. */
	if (operation == SECCOMP_SET_MODE_FILTER && is_without("filter"))
		args = &all;
#endif
	return (int)syscall(SYS_seccomp, operation, flags, args);
}

/* The mount calls of Linux 5.2, mount_setattr(2) of 5.12 and
 * open_tree_attr(2) of 6.15. */
enum {
	OPEN_TREE_CLONE = 1,
	MOVE_MOUNT_F_EMPTY_PATH = 4,
	MOVE_MOUNT_T_EMPTY_PATH = 0x40,
	FSOPEN_CLOEXEC = 1,
	FSMOUNT_CLOEXEC = 1,
	FS_SET_FLAG = 0,
	FS_SET_STRING = 1,
	FS_CREATE = 6,
	MOUNT_ATTR_RDONLY = 1,
	MOUNT_ATTR_NOSUID = 2,
	MOUNT_ATTR_NODEV = 4,
	MOUNT_ATTR_NOEXEC = 8,
};

struct mount_attributes {
	uint64_t set, clear, propagation, userns;
};

enum { MOUNT_TREE = 0x8000 /* AT_RECURSIVE */ };

static inline int
set_mount(int fd, const char *path, unsigned flags,
    const struct mount_attributes *attributes)
{
	return (int)syscall(SYS_mount_setattr, fd, path, flags, attributes,
	    sizeof *attributes);
}

/* Attaches a detached mount to a path below a directory; "": to that itself. */
static inline int
attach_mount(int mount, int directory, const char *path)
{
	return (int)syscall(SYS_move_mount, mount, "", directory, path,
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

static inline int
openat2(int dirfd, const char *path, const struct open_how *how)
{
	return (int)syscall(SYS_openat2, dirfd, path, how, sizeof *how);
}

/* --- machine.c --------------------------------------------------------- */

struct machine {
	int landlock_abi;   /* 0: none */
	int landlock_error; /* errno if none */
	bool seccomp;
	bool namespaces; /* worth a try; namespaces_fork() knows */
};

void machine_probe(struct machine *machine);

/* The highest level that the machine may give: full shows when it is tried. */
enum sbx_level machine_level(const struct machine *machine);

/*
 * Whether the kernel counts the processes of the caller for RLIMIT_NPROC: not
 * those of the machine's own root, but those of a root that is somebody else
 * outside of its user namespace.
 */
bool machine_counts_processes(void);

/* The owner that the kernel shows where the user namespace has no number for
 * the real one; kernel.overflowuid, as it is unless somebody changed it. */
enum { OVERFLOW_UID = 65534 };

/* Whether that number is nobody else's here: the caller's user namespace has no
 * such user. */
bool machine_hides_owners(void);

/* Whether there is no number for root, so that its files look like that user's. */
bool machine_hides_root(void);

const char *level_name(enum sbx_level level);

/* --- signals.c --------------------------------------------------------- */

/* A write beyond the limit of file sizes fails from now on, in this program and in
 * none that it executes. */
void signals_begin(void);

/* What signals_block() changes, and the command must find unchanged. */
struct former_signals {
	sigset_t mask;
	struct sigaction child;
};

/* Whether the signals that stop a job are among them: where the command leads a
 * job of its own. */
enum job_signals { WITHOUT_STOPS, WITH_STOPS };

/* What is sent from now on waits for the descriptor: a process may be sent
 * something before it has opened one. */
void signals_block(struct former_signals *former, enum job_signals which);

/* The descriptor on which they arrive, blocked from now on if not before; SIGPIPE
 * is blocked, but never arrives. */
int signals_open(enum job_signals which);

/* Puts everything back as it was, in the command. */
void signals_restore(const struct former_signals *former);

/* Whether a signal was sent to this process alone: one of the terminal has
 * reached the whole job. */
bool signal_is_for_us_alone(const struct signalfd_siginfo *info);

/* Whether the terminal sent it, by a key, say: no process can feign that. */
bool signal_is_of_terminal(const struct signalfd_siginfo *info);

/* Whether it asks a program to end. */
bool signal_ends(int number);

/* --- terminal.c -------------------------------------------------------- */

/* A descriptor of it above the standard ones, or -1: there is none. */
int terminal_open(void);

/* Whether it belongs to the process group of this process. */
bool terminal_is_ours(int terminal);

/* Whether both standard input and output are the terminal, and it is ours: then
 * whoever gets these is to have the terminal too. */
bool terminal_is_handed_on(int terminal);

/* Takes it for the group of this process, whoever has it. */
void terminal_take(int terminal);

/* Takes it back if the group that has it is gone. */
void terminal_take_back(int terminal);

#endif
