/*
 * Single verdicts of filters that somebody could get wrong.
 */
#ifndef SBX_TEST_FILTER_CASES_H
#define SBX_TEST_FILTER_CASES_H

#include "compiler/lower/lower.h"
#include "tests/lib/samples.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <termios.h>

#define HIGH (1ULL << 32)
#define ERR(name) (FILTER_ERRNO | (name))

enum { X32 = 0x40000000 };

static inline const struct sample *
sample_find(const char *name)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++) {
		if (strcmp(samples[i].name, name) == 0)
			return &samples[i];
	}
	abort();
}

/* For which level a filter is: full may have a network of its own. */
enum {
	BELOW = 0,
	FULL = SBX_PROGRAM_FULL,
	LOOPBACK = SBX_PROGRAM_FULL | SBX_PROGRAM_LOOPBACK,
	LISTENED = SBX_PROGRAM_LISTENER, /* below, with a listener */
};

struct expectation {
	const char *sample;
	uint32_t kind;
	uint32_t abi;
	const char *name;
	uint64_t args[4];
	uint32_t action;
};

static const struct expectation expectations[] = {
	/* What the supervisor answers is neither open nor denied. */
	{ "a limit", LISTENED, 7, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	{ "a limit", LISTENED, 7, "socket", { 1, 5, 0 }, FILTER_ALLOW },
	{ "a limit", LISTENED, 7, "socket", { 1, 2, 0 }, ERR(EACCES) },
	{ "a limit", LISTENED, 7, "socket", { 1, 3, 0 }, ERR(EACCES) },
	{ "a limit", LISTENED, 7, "socketpair", { 1, 2 }, ERR(EACCES) },
	{ "a limit", LISTENED, 7, "connect", { 3 }, FILTER_NOTIFY },
	{ "a limit", LISTENED, 9, "connect", { 3 }, FILTER_ALLOW },
	{ "a limit", LISTENED, 9, "fchmod", { 3, 0644 }, FILTER_NOTIFY },
	{ "a limit", LISTENED, 7, "fchmod", { 3, 04755 }, ERR(EPERM) },
	{ "a limit", LISTENED, 7, "utimensat", { 3 }, FILTER_NOTIFY },
	{ "a limit", BELOW, 7, "utimensat", { 3 }, FILTER_ALLOW },
	{ "a limit", BELOW, 7, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "a limit", FULL, 7, "fchmod", { 3, 0644 }, FILTER_ALLOW },
	{ "a limit and ports", LISTENED, 7, "connect", { 3 }, FILTER_ALLOW },
	{ "a limit and ports", LISTENED, 7, "socket", { 1, 1, 0 },
	    ERR(EACCES) },
	{ "a limit and ports", LISTENED, 7, "fchown", { 3 }, FILTER_NOTIFY },
	{ "a limit and io_uring", LISTENED, 7, "socket", { 1, 1, 0 },
	    ERR(EACCES) },
	{ "a limit and io_uring", LISTENED, 7, "fchown", { 3 }, ERR(EPERM) },
	/* No network: no family but those that something else confines. */
	{ "nothing said", BELOW, 7, "socket", { 2, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 2 | HIGH, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 16, 3, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socket", { 40, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 8, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 9, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 9, "socket", { 16, 3, 0 }, ERR(EACCES) },
	{ "nothing said", FULL, 4, "socket", { 1, 2, 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 4, "socket", { 16, 3, 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 4, "socket", { 16, 0x80003, 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 4, "socket", { 16, 3, 9 }, ERR(EACCES) },
	{ "nothing said", FULL, 10, "socket", { 2, 1, 0 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 1 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 0x80801 },
	    FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 5 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 2 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socketpair", { 1, 3 }, ERR(EACCES) },
	{ "nothing said", BELOW, 7, "socketpair", { 30, 1 }, ERR(EACCES) },
	{ "nothing said", BELOW, 9, "socketpair", { 1, 2 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "listen", { 3, 1 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "sendto", { 3, 0, 0, 0x20000000 },
	    FILTER_ALLOW },
	/* A view that shows the host's sockets is no view without them. */
	{ "a view of everything", FULL, 7, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "a view of everything", FULL, 9, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	/* The network: streams and datagrams of any protocol. */
	{ "the internet", BELOW, 0, "socket", { 2, 1, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 10, 0x80802, 17 },
	    FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 2, 2, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 10, 1, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 16, 2, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 2, 3, 1 }, ERR(EACCES) },
	{ "the internet", BELOW, 0, "socket", { 2, 5, 132 }, ERR(EACCES) },
	{ "the internet", BELOW, 0, "socket", { 17, 3, 0 }, ERR(EACCES) },
	{ "the internet", BELOW, 0, "socket", { 16, 3, 0 }, FILTER_ALLOW },
	{ "the internet", BELOW, 0, "socket", { 1, 1, 0 }, ERR(EACCES) },
	/* A network of its own, at level full and if the loader has made it. */
	{ "a network of its own", BELOW, 10, "socket", { 2, 1, 0 },
	    ERR(EACCES) },
	{ "a network of its own", BELOW, 10, "socket", { 10, 2, 0 },
	    ERR(EACCES) },
	{ "a network of its own", FULL, 10, "socket", { 2, 1, 0 },
	    ERR(EACCES) },
	{ "a network of its own", FULL, 10, "socket", { 10, 2, 17 },
	    ERR(EACCES) },
	{ "a network of its own", FULL, 4, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "a network of its own", FULL, 6, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 2, 1, 0 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 10, 0x80802, 17 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "socket", { 2, 3, 1 },
	    ERR(EACCES) },
	{ "a network of its own", LOOPBACK, 4, "socket", { 17, 3, 0 },
	    ERR(EACCES) },
	{ "a network of its own", LOOPBACK, 4, "socket", { 40, 1, 0 },
	    ERR(EACCES) },
	{ "a network of its own", LOOPBACK, 4, "listen", { 3, 1 },
	    FILTER_ALLOW },
	{ "a network of its own", LOOPBACK, 4, "unshare", { 0x40000000 },
	    ERR(EPERM) },
	{ "loopback and a view", LOOPBACK, 8, "socket", { 1, 1, 0 },
	    ERR(EACCES) },
	{ "loopback and a view", LOOPBACK, 9, "socket", { 1, 1, 0 },
	    FILTER_ALLOW },
	/* Shared with the host, its abstract sockets need Landlock 6. */
	{ "the internet", FULL, 5, "socket", { 1, 1, 0 }, ERR(EACCES) },
	{ "the internet", FULL, 6, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	{ "abstract sockets", FULL, 4, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	/* Ports: TCP, where Landlock holds it. */
	{ "ports to connect to", BELOW, 3, "socket", { 2, 1, 0 }, ERR(EACCES) },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 1, 0 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 0x801, 6 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 10, 0x80001, 6 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 10, 1, 0 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 1, 262 },
	    ERR(EACCES) },
	{ "ports to connect to", BELOW, 4, "socket", { 2, 2, 0 }, ERR(EACCES) },
	{ "ports to connect to", BELOW, 4, "sendto", { 3, 0, 0, 0x20000000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "sendto", { 3, 0, 0, 0x20004000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "sendto", { 3, 0, 0, 0x4000 },
	    FILTER_ALLOW },
	{ "ports to connect to", BELOW, 4, "sendmsg", { 3, 0, 0x20000000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "sendmmsg", { 3, 0, 1, 0x20000000 },
	    ERR(EOPNOTSUPP) },
	{ "ports to connect to", BELOW, 4, "listen", { 3, 1 }, ERR(EACCES) },
	{ "ports both ways", BELOW, 4, "listen", { 3, 1 }, FILTER_ALLOW },
	{ "ports both ways", FULL, 7, "socket", { 1, 1, 0 }, FILTER_ALLOW },
	/* The terminal. */
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x5412 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x5412 | HIGH }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x541c }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x5401 }, FILTER_ALLOW },
	{ "everything known", BELOW, 7, "ioctl", { 0, 0x5412 }, ERR(EPERM) },
	/* File systems: subvolumes, clones, attributes, and other sizes. */
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x5000940e }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x50009417 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x9418 | HIGH }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x94ff }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x40049409 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x40089409 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x40086602 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "ioctl", { 0, 0x401c5820 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x40086602 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x401c5820 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x80086601 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x801c581f }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0xc0606610 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "ioctl", { 0, 0x40086610 }, ERR(EPERM) },
	{ "everything known", BELOW, 7, "ioctl", { 0, 0x940e }, ERR(EPERM) },
	/* Modes: set-ID bits, what is none, and flags without which there is
	 * no mode. */
	{ "nothing said", FULL, 7, "fchmod", { 3, 04755 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "fchmod", { 3, 02755 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "fchmod", { 3, 02755 | HIGH }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "fchmod", { 3, 01777 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "fchmodat", { 3, 0, 04000 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "fchmodat2", { 3, 0, 02000 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "mknodat", { 3, 0, 0106755 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "mknodat", { 3, 0, 0100755 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "openat", { 3, 0, 0101, 04755 },
	    ERR(EPERM) },
	{ "nothing said", FULL, 7, "openat", { 3, 0, 0101 | HIGH, 02755 },
	    ERR(EPERM) },
	{ "nothing said", FULL, 7, "openat", { 3, 0, 020200001, 04755 },
	    ERR(EPERM) },
	{ "nothing said", FULL, 7, "openat", { 3, 0, 0200000, 06777 },
	    FILTER_ALLOW },
	{ "nothing said", FULL, 7, "openat", { 3, 0, 0101, 01777 },
	    FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "openat2", { 0 }, ERR(ENOSYS) },
	{ "nothing said", BELOW, 7, "mkdirat", { 3, 0, 06777 }, FILTER_ALLOW },
	{ "everything known", BELOW, 7, "fchmod", { 3, 04755 }, FILTER_ALLOW },
	/* How others are scheduled, and what is shared with them. */
	{ "nothing said", BELOW, 7, "setpriority", { 0, 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "setpriority", { 0, 77 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "setpriority", { 1, 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "setpriority", { 2, 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "setpriority", { HIGH, 77 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "setpriority", { 0, 77 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "setpriority", { 0, 1 | HIGH }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "setpriority", { 1, 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ioprio_set", { 1, 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "ioprio_set", { 1, 77 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioprio_set", { 1, 77 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "ioprio_set", { 1, 1 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioprio_set", { 2, 0 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "ioprio_set", { 0x736278, 0 }, ERR(ENOANO) },
	{ "nothing said", BELOW, 7, "sched_setaffinity", { 77 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "sched_setattr", { 0 }, FILTER_ALLOW },
	{ "nothing said", FULL, 7, "sched_setparam", { 1 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "sched_setscheduler", { 77 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "shmget", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "semop", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "mq_open", { 0 }, ERR(EPERM) },
	{ "nothing said", FULL, 7, "shmget", { 77 }, FILTER_ALLOW },
	{ "everything known", BELOW, 7, "shmget", { 77 }, FILTER_ALLOW },
	{ "everything known", BELOW, 7, "setpriority", { 2, 0 }, FILTER_ALLOW },
	/* Namespaces. */
	{ "nothing said", BELOW, 7, "clone", { 0x11 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "clone", { 0x3d0f00 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "clone", { 0x10000011 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "clone", { 0x20011 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "clone", { 0x2000011 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "clone3", { 0 }, ERR(ENOSYS) },
	{ "nothing said", BELOW, 7, "unshare", { 0 }, ERR(EPERM) },
	{ "namespaces", BELOW, 7, "clone", { 0x10000011 }, FILTER_ALLOW },
	{ "namespaces", BELOW, 7, "clone3", { 0 }, FILTER_ALLOW },
	{ "namespaces", BELOW, 7, "setns", { 0 }, FILTER_ALLOW },
	{ "no clone", BELOW, 7, "clone", { 0x11 }, ERR(EPERM) },
	{ "no clone", BELOW, 7, "clone3", { 0 }, ERR(ENOSYS) },
	{ "no clone", BELOW, 7, "ioctl", { 0, 0x5401 }, ERR(EPERM) },
	/* Personalities. */
	{ "nothing said", BELOW, 7, "personality", { 0xffffffff },
	    FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "prlimit64", { 0, 0, 1 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "prlimit64", { 1, 0, 1 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "personality", { 8 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x20000 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x20008 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x40000 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x40008 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "personality", { 0x440000 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "personality", { 0x400000 }, ERR(EPERM) },
	{ "debuggers", BELOW, 7, "personality", { 0x400000 }, FILTER_ALLOW },
	/* The baseline, what lifts it, and what a deny takes back. */
	{ "nothing said", BELOW, 7, "mount", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "open_tree_attr", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 0, "ptrace", { 0 }, ERR(EPERM) },
	{ "nothing said", BELOW, 7, "ptrace", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "io_uring_setup", { 0 }, ERR(ENOSYS) },
	{ "nothing said", BELOW, 7, "statmount", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "mbind", { 0 }, FILTER_ALLOW },
	{ "nothing said", BELOW, 7, "seccomp", { 0 }, FILTER_ALLOW },
	{ "mounts", BELOW, 7, "mount", { 0 }, FILTER_ALLOW },
	{ "mounts", BELOW, 7, "open_tree_attr", { 0 }, FILTER_ALLOW },
	{ "mounts", BELOW, 7, "umount2", { 0 }, ERR(EPERM) },
	{ "mounts", BELOW, 0, "ptrace", { 0 }, ERR(EPERM) },
	{ "debuggers", BELOW, 0, "ptrace", { 0 }, FILTER_ALLOW },
	{ "debuggers", BELOW, 0, "process_vm_readv", { 0 }, ERR(EPERM) },
	{ "no sockets", BELOW, 7, "socketpair", { 1, 1 }, ERR(EPERM) },
	{ "no sockets", FULL, 9, "socket", { 1, 1, 0 }, ERR(EPERM) },
	{ "everything known", BELOW, 7, "reboot", { 0 }, FILTER_ALLOW },
};

#endif
