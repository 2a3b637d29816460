/*
 * What every policy gets of system calls: the baseline, which denies some, and
 * the calls that are decided by their arguments.
 */
#include "compiler/tables/tables.h"

#include "format/protocol.h"

#include <errno.h>
#include <string.h>

/* From the kernel's headers, which are the same on all our machines. */
enum {
	FAMILY_UNIX = 1,
	FAMILY_INET = 2,
	FAMILY_NETLINK = 16,
	FAMILY_INET6 = 10,
	/* The kernel keeps SOCK_CLOEXEC and SOCK_NONBLOCK above these bits, and
	 * refuses whatever else is there. */
	TYPE_MASK = 0xf,
	TYPE_STREAM = 1,
	TYPE_DGRAM = 2,
	TYPE_RAW = 3,
	TYPE_SEQPACKET = 5,
	PROTOCOL_ANY = 0,
	PROTOCOL_TCP = 6,
	NETLINK_ROUTES = 0,
	OPTIONS_OF_IP = 0, /* SOL_IP */
	OPTIONS_OF_IPV6 = 41,
	OPTIONS_OF_TCP = 6, /* SOL_TCP */
	SIGNING = 14,       /* TCP_MD5SIG */
	SIGNING_MORE = 32,  /* TCP_MD5SIG_EXT */
	AO_ADD_KEY = 38,    /* TCP_AO_ADD_KEY, and the next two */
	AO_DELETE_KEY = 39,
	AO_SETTINGS = 40,
	IP_ROUTE = 4, /* IP_OPTIONS */
	/* IPV6_RTHDR, IPV6_2292RTHDR and IPV6_2292PKTOPTIONS */
	IPV6_ROUTE = 57,
	IPV6_OLD_ROUTE = 5,
	IPV6_OLD_OPTIONS = 6,
	/* F_SETLEASE, F_NOTIFY and, from Linux 6.19 on, F_SETDELEG. */
	SET_LEASE = 1024,
	NOTIFY = 1026,
	SET_DELEGATION = 1040,
	FASTOPEN = 0x20000000, /* MSG_FASTOPEN */
	/* CLONE_NEW: NS, CGROUP, UTS, IPC, USER, PID and NET. */
	NEW_NAMESPACES = 0x7e020000,
	NEW_THREAD = 0x10000, /* CLONE_THREAD */
	EMPTY_PATH = 0x1000,  /* AT_EMPTY_PATH */
	SET_ID = 06000,       /* S_ISUID and S_ISGID */
	SET_GROUP_ID = 02000,
	/* O_CREAT and __O_TMPFILE; without one of them, open(2) has no mode. */
	CREATES = 020000100,
	UNNAMED = 020000000,
	/* PRIO_PROCESS and IOPRIO_WHO_PROCESS: not a group, not all of a user. */
	PRIORITY_PROCESS = 0,
	IOPRIO_PROCESS = 1,
	SELF = 0,
	SET_DUMPABLE = 4, /* PR_SET_DUMPABLE */
	NOBODY_LOOKS = 0, /* SUID_DUMP_DISABLE */
	PROCESS_1 = 1,    /* sbxrun's own, in the sandbox's PID namespace */
	/* PER_LINUX32, UNAME26 and, for debuggers, ADDR_NO_RANDOMIZE. */
	HARMLESS_PERSONALITIES = 0x60008,
};

#define VALUE(n, v) \
	{ \
		.arg = n, .mask = UINT32_MAX, .value = v \
	}
#define BITS(n, m, v) \
	{ \
		.arg = n, .mask = m, .value = v \
	}
#define TYPE(v) BITS(1, TYPE_MASK, TYPE_##v)

/*
 * clone3() passes its flags by pointer, so it answers ENOSYS, and libc then
 * calls clone().  EPERM instead would break every thread and every system(3).
 * openat2() passes its mode by pointer; see baseline.def.  mkdir() takes no
 * set-ID bits, and nothing is run from a message queue.
 *
 * Landlock does not keep a process from changing how others of its user are
 * scheduled, nor from System V's and POSIX's shared objects.  At level full
 * namespaces do, except for process 1, and for the group of processes, which
 * the command shares with its caller.  Below it nobody but the caller may be
 * named, by 0: a thread that names itself by its number is refused, too.
 * Objects of others are found by number, so that none may be used, unless the
 * supervisor knows which are the command's.
 *
 * A lease or a delegation on a file that is only read keeps its writers
 * waiting, for 45 seconds, and notices of a directory (dnotify) tell what
 * others do there.  Only file servers use these.
 *
 * A listen() on a socket that is bound to nothing opens a port of the kernel's
 * choice, which Landlock does not check.
 *
 * The supervisor reads paths and takes copies of sockets where it may trace the
 * process; one that has hidden itself could not listen() or chmod() any more.
 * Programs that keep secrets (gpg-agent, ssh-agent) try to hide, and go on if
 * they cannot.
 */
const struct argument_call argument_calls[] = {
	{ "chmod", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "clone", WITHOUT_UNSHARE, false, FILTER_DENY(EPERM), "namespaces" },
	{ "clone3", WITHOUT_UNSHARE, false, FILTER_DENY(ENOSYS), "namespaces" },
	{ "creat", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "fchmod", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "fchmodat", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "fchmodat2", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "fcntl", IN_ANY_CASE, true, FILTER_ALLOW, "leases" },
	{ "file_setattr", WITHOUT_VIEW, true, FILTER_DENY(ENOSYS),
	    "file systems" },
	{ "ioctl", IN_ANY_CASE, false, FILTER_ALLOW,
	    "terminals and file systems" },
	{ "ioprio_set", IN_ANY_CASE, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "listen", WITH_TCP | WITHOUT_LISTEN, false, FILTER_DENY(EACCES),
	    "network" },
	{ "mknod", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "mknodat", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "mq_open", WITHOUT_VIEW, true, FILTER_DENY(EPERM), "shared objects" },
	{ "mq_unlink", WITHOUT_VIEW, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "msgctl", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "msgget", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "msgrcv", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "msgsnd", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "open", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "openat", IN_ANY_CASE, true, FILTER_DENY(EPERM), "set-ID modes" },
	{ "personality", IN_ANY_CASE, true, FILTER_DENY(EPERM), "personality" },
	{ "prctl", WITH_ANSWERS, true, FILTER_ALLOW, "hidden processes" },
	{ "prlimit64", IN_ANY_CASE, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "sched_setaffinity", WITH_VIEW, true, FILTER_ALLOW,
	    "other processes" },
	{ "sched_setaffinity", WITHOUT_VIEW, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "sched_setattr", WITH_VIEW, true, FILTER_ALLOW, "other processes" },
	{ "sched_setattr", WITHOUT_VIEW, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "sched_setparam", WITH_VIEW, true, FILTER_ALLOW, "other processes" },
	{ "sched_setparam", WITHOUT_VIEW, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "sched_setscheduler", WITH_VIEW, true, FILTER_ALLOW,
	    "other processes" },
	{ "sched_setscheduler", WITHOUT_VIEW, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "semctl", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "semget", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "semop", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "semtimedop", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "sendmmsg", WITH_TCP, false, FILTER_ALLOW, "network" },
	{ "sendmsg", WITH_TCP, false, FILTER_ALLOW, "network" },
	{ "sendto", WITH_TCP, false, FILTER_ALLOW, "network" },
	{ "setpriority", IN_ANY_CASE, true, FILTER_DENY(EPERM),
	    "other processes" },
	{ "setsockopt", WITH_TCP, false, FILTER_ALLOW, "network" },
	{ "shmat", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "shmctl", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "shmget", WITHOUT_OBJECTS, true, FILTER_DENY(EPERM),
	    "shared objects" },
	{ "socket", IN_ANY_CASE, false, FILTER_DENY(EACCES), "network" },
	{ "socketpair", IN_ANY_CASE, false, FILTER_DENY(EACCES), "network" },
};
const size_t argument_call_count = countof(argument_calls);

const struct trapped_call trapped_calls[] = {
#define TRAPPED(call, part) \
	{ #call, WITH_##part, false, WITH_##part == WITH_OBJECTS },
#define TRAPPED_IN_PART(call, part) { #call, WITH_##part, true, true },
#include "format/trapped.def"
#undef TRAPPED_IN_PART
#undef TRAPPED
};
const size_t trapped_call_count = countof(trapped_calls);

#define RULE(name, when, verdict, ...) \
	{ \
		name, when, \
		{ \
			.tests = { __VA_ARGS__ }, \
			.test_count = countof( \
			    ((struct filter_test[]){ __VA_ARGS__ })), \
			.action = verdict, \
		} \
	}
#define OPEN(name, when, ...) RULE(name, when, FILTER_ALLOW, __VA_ARGS__)

/* The words of ioctls.def. */
#define IOCTL_OPEN FILTER_ALLOW
#define IOCTL_DENY FILTER_DENY(EPERM)
#define IOCTL_WHOLE UINT32_MAX
#define IOCTL_NUMBER 0xffff
#define IOCTL_TYPE 0xff00

/*
 * Landlock 4 to 10 sees neither TCP's MSG_FASTOPEN nor stream protocols other
 * than TCP (MPTCP connects where TCP may not), so ports are opened without
 * both.  An unconnected datagram socketpair can send to any socket in the file
 * system, so it counts as a socket; SOCK_RAW is another name for it.
 */
const struct argument_rule argument_rules[] = {
	OPEN("chmod", IN_ANY_CASE, BITS(1, SET_ID, 0)),
	RULE("chmod", WITH_GROUP_BIT, FILTER_NOTIFY,
	    BITS(1, SET_ID, SET_GROUP_ID)),
	OPEN("clone", IN_ANY_CASE, BITS(0, NEW_NAMESPACES, 0)),
	OPEN("creat", IN_ANY_CASE, BITS(1, SET_ID, 0)),
	OPEN("fchmod", IN_ANY_CASE, BITS(1, SET_ID, 0)),
	RULE("fchmod", WITH_GROUP_BIT, FILTER_NOTIFY,
	    BITS(1, SET_ID, SET_GROUP_ID)),
	OPEN("fchmodat", IN_ANY_CASE, BITS(2, SET_ID, 0)),
	RULE("fchmodat", WITH_GROUP_BIT, FILTER_NOTIFY,
	    BITS(2, SET_ID, SET_GROUP_ID)),
	OPEN("fchmodat2", IN_ANY_CASE, BITS(2, SET_ID, 0)),
	RULE("fchmodat2", WITH_GROUP_BIT, FILTER_NOTIFY,
	    BITS(2, SET_ID, SET_GROUP_ID)),
	RULE("fcntl", IN_ANY_CASE, FILTER_DENY(EPERM), VALUE(1, SET_LEASE)),
	RULE("fcntl", IN_ANY_CASE, FILTER_DENY(EPERM), VALUE(1, NOTIFY)),
	RULE("fcntl", IN_ANY_CASE, FILTER_DENY(EPERM),
	    VALUE(1, SET_DELEGATION)),
#define IOCTL(verdict, when, mask, request, why) \
	RULE("ioctl", when, IOCTL_##verdict, BITS(1, IOCTL_##mask, request)),
#include "compiler/tables/ioctls.def"
#undef IOCTL
	RULE("ioprio_set", IN_ANY_CASE, FILTER_DENY(SBX_INSIDE_ERRNO),
	    VALUE(0, SBX_INSIDE_WHICH)),
	RULE("ioprio_set", WITH_VIEW, FILTER_DENY(EPERM), VALUE(1, PROCESS_1)),
	OPEN("ioprio_set", WITH_VIEW, VALUE(0, IOPRIO_PROCESS)),
	OPEN("ioprio_set", WITHOUT_VIEW, VALUE(0, IOPRIO_PROCESS),
	    VALUE(1, SELF)),
	OPEN("mknod", IN_ANY_CASE, BITS(1, SET_ID, 0)),
	OPEN("mknodat", IN_ANY_CASE, BITS(2, SET_ID, 0)),
	RULE("open", WITH_UNNAMED, FILTER_NOTIFY, BITS(2, SET_ID, 0),
	    BITS(1, UNNAMED, UNNAMED)),
	OPEN("open", IN_ANY_CASE, BITS(2, SET_ID, 0)),
	OPEN("open", IN_ANY_CASE, BITS(1, CREATES, 0)),
	RULE("openat", WITH_UNNAMED, FILTER_NOTIFY, BITS(3, SET_ID, 0),
	    BITS(2, UNNAMED, UNNAMED)),
	OPEN("openat", IN_ANY_CASE, BITS(3, SET_ID, 0)),
	OPEN("openat", IN_ANY_CASE, BITS(2, CREATES, 0)),
	OPEN("personality", IN_ANY_CASE, BITS(0, ~HARMLESS_PERSONALITIES, 0)),
	OPEN("personality", IN_ANY_CASE, VALUE(0, UINT32_MAX)), /* asks */
	RULE("prctl", WITH_ANSWERS, FILTER_DENY(EPERM), VALUE(0, SET_DUMPABLE),
	    VALUE(1, NOBODY_LOOKS)),
	/* A limit on CPU time kills a process, whatever holds signals. */
	OPEN("prlimit64", IN_ANY_CASE, VALUE(0, 0)),
	RULE("sched_setaffinity", WITH_VIEW, FILTER_DENY(EPERM),
	    VALUE(0, PROCESS_1)),
	OPEN("sched_setaffinity", WITHOUT_VIEW, VALUE(0, SELF)),
	RULE("sched_setattr", WITH_VIEW, FILTER_DENY(EPERM),
	    VALUE(0, PROCESS_1)),
	OPEN("sched_setattr", WITHOUT_VIEW, VALUE(0, SELF)),
	RULE("sched_setparam", WITH_VIEW, FILTER_DENY(EPERM),
	    VALUE(0, PROCESS_1)),
	OPEN("sched_setparam", WITHOUT_VIEW, VALUE(0, SELF)),
	RULE("sched_setscheduler", WITH_VIEW, FILTER_DENY(EPERM),
	    VALUE(0, PROCESS_1)),
	OPEN("sched_setscheduler", WITHOUT_VIEW, VALUE(0, SELF)),
	RULE("sendmmsg", IN_ANY_CASE, FILTER_DENY(EOPNOTSUPP),
	    BITS(3, FASTOPEN, FASTOPEN)),
	RULE("sendmsg", IN_ANY_CASE, FILTER_DENY(EOPNOTSUPP),
	    BITS(2, FASTOPEN, FASTOPEN)),
	RULE("sendto", IN_ANY_CASE, FILTER_DENY(EOPNOTSUPP),
	    BITS(3, FASTOPEN, FASTOPEN)),
	RULE("setpriority", WITH_VIEW, FILTER_DENY(EPERM), VALUE(1, PROCESS_1)),
	OPEN("setpriority", WITH_VIEW, VALUE(0, PRIORITY_PROCESS)),
	OPEN("setpriority", WITHOUT_VIEW, VALUE(0, PRIORITY_PROCESS),
	    VALUE(1, SELF)),
	/* A packet with a route goes to another machine than connect(2) was told. */
	RULE("setsockopt", IN_ANY_CASE, FILTER_DENY(EPERM),
	    VALUE(1, OPTIONS_OF_IP), VALUE(2, IP_ROUTE)),
	RULE("setsockopt", IN_ANY_CASE, FILTER_DENY(EPERM),
	    VALUE(1, OPTIONS_OF_IPV6), VALUE(2, IPV6_ROUTE)),
	RULE("setsockopt", IN_ANY_CASE, FILTER_DENY(EPERM),
	    VALUE(1, OPTIONS_OF_IPV6), VALUE(2, IPV6_OLD_ROUTE)),
	RULE("setsockopt", IN_ANY_CASE, FILTER_DENY(EPERM),
	    VALUE(1, OPTIONS_OF_IPV6), VALUE(2, IPV6_OLD_OPTIONS)),
/* By its keys the supervisor tells the sandbox's sockets from others. */
#define KEYS_ARE_KEPT(option) \
	RULE("setsockopt", IN_ANY_CASE, FILTER_DENY(EPERM), \
	    VALUE(1, OPTIONS_OF_TCP), VALUE(2, option))
	KEYS_ARE_KEPT(SIGNING),
	KEYS_ARE_KEPT(SIGNING_MORE),
	KEYS_ARE_KEPT(AO_ADD_KEY),
	KEYS_ARE_KEPT(AO_DELETE_KEY),
	KEYS_ARE_KEPT(AO_SETTINGS),
	OPEN("socket", WITH_UNIX, VALUE(0, FAMILY_UNIX)),
	OPEN("socket", WITH_CONNECT, VALUE(0, FAMILY_UNIX), TYPE(STREAM)),
	OPEN("socket", WITH_CONNECT, VALUE(0, FAMILY_UNIX), TYPE(SEQPACKET)),
	OPEN("socket", WITH_NETLINK, VALUE(0, FAMILY_NETLINK), TYPE(RAW),
	    VALUE(2, NETLINK_ROUTES)),
	OPEN("socket", WITH_NETLINK, VALUE(0, FAMILY_NETLINK), TYPE(DGRAM),
	    VALUE(2, NETLINK_ROUTES)),
	OPEN("socket", WITH_INTERNET, VALUE(0, FAMILY_INET), TYPE(STREAM)),
	OPEN("socket", WITH_INTERNET, VALUE(0, FAMILY_INET), TYPE(DGRAM)),
	OPEN("socket", WITH_INTERNET, VALUE(0, FAMILY_INET6), TYPE(STREAM)),
	OPEN("socket", WITH_INTERNET, VALUE(0, FAMILY_INET6), TYPE(DGRAM)),
	OPEN("socket", WITH_TCP, VALUE(0, FAMILY_INET), TYPE(STREAM),
	    VALUE(2, PROTOCOL_ANY)),
	OPEN("socket", WITH_TCP, VALUE(0, FAMILY_INET), TYPE(STREAM),
	    VALUE(2, PROTOCOL_TCP)),
	OPEN("socket", WITH_TCP, VALUE(0, FAMILY_INET6), TYPE(STREAM),
	    VALUE(2, PROTOCOL_ANY)),
	OPEN("socket", WITH_TCP, VALUE(0, FAMILY_INET6), TYPE(STREAM),
	    VALUE(2, PROTOCOL_TCP)),
	OPEN("socketpair", WITH_UNIX, VALUE(0, FAMILY_UNIX)),
	OPEN("socketpair", IN_ANY_CASE, VALUE(0, FAMILY_UNIX), TYPE(STREAM)),
	OPEN("socketpair", IN_ANY_CASE, VALUE(0, FAMILY_UNIX), TYPE(SEQPACKET)),
};
const size_t argument_rule_count = countof(argument_rules);

/*
 * The kernel makes a thread of the same process and nothing else where
 * CLONE_THREAD is given.  The loader starts the command by execveat(2), and a
 * filter of its own lets that through for the loader alone (apply/spawn.c).
 * EPERM, for shells try again and again after EAGAIN.
 */
const struct spawn_call spawn_calls[] = {
	{ "clone", EPERM,
	    { { BITS(0, NEW_NAMESPACES | NEW_THREAD, NEW_THREAD) }, 1,
		FILTER_ALLOW } },
	{ "clone3", ENOSYS, { .test_count = 0 } },
	{ "execve", EPERM, { .test_count = 0 } },
	{ "execveat", EPERM, { { VALUE(4, EMPTY_PATH) }, 1, FILTER_ALLOW } },
	{ "fork", EPERM, { .test_count = 0 } },
	{ "vfork", EPERM, { .test_count = 0 } },
};
const size_t spawn_call_count = countof(spawn_calls);

const struct baseline_entry baseline[] = {
#define BASELINE(name, error, why) { name, error },
#include "compiler/tables/baseline.def"
#undef BASELINE
};
const size_t baseline_count = countof(baseline);

static void
baseline_add(struct arena *arena, struct map *entries, const char *call,
    const char *entry)
{
	map_put(arena, entries, arena_intern(arena, call, strlen(call)),
	    (void *)entry);
}

void
baseline_calls(struct arena *arena, struct map *entries)
{
	for (size_t i = 0; i < countof(baseline); i++) {
		const char *name = baseline[i].name;
		const char *const *member = *name == '@' ?
		    syscall_group(name + 1) :
		    NULL;

		if (member == NULL)
			baseline_add(arena, entries, name, name);
		for (; member != NULL && *member != NULL; member++)
			baseline_add(arena, entries, *member, name);
	}
	for (size_t i = 0; i < countof(argument_calls); i++) {
		const struct argument_call *call = &argument_calls[i];

		if (call->lifted)
			baseline_add(arena, entries, call->name,
			    arena_intern(arena, call->reason,
				strlen(call->reason)));
	}
}

const char *
baseline_entry_of(struct arena *arena, const char *call)
{
	struct map entries = { 0 };

	baseline_calls(arena, &entries);
	return map_find(&entries, arena_intern(arena, call, strlen(call)));
}

const char *
baseline_arguments(const char *call)
{
	for (size_t i = 0; i < countof(argument_calls); i++) {
		const struct argument_call *decided = &argument_calls[i];

		if (!decided->lifted && strcmp(decided->name, call) == 0)
			return decided->reason;
	}
	return NULL;
}
