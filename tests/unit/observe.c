/*
 * What --explain and --learn see in a system call (runtime/listen/observe.c): which
 * paths and addresses it names, what it would do there, and what becomes of it.
 */
#include "tests/unit/observe.h"

#include <sys/prctl.h>
#include <unistd.h>

/* --- what becomes of it --------------------------------------------------- */

static bool
is_told(int number)
{
	return additions == 1 && added.number == number &&
	    strcmp(added.program, "observe") == 0;
}

static void
check_telling(void)
{
	begin(SYS_openat);
	word.denies = true;
	call3((uint64_t)AT_FDCWD, POINTER("a"), 0);
	tap_ok(&tap, is_told(SYS_openat) && sayings == 0 && lessons == 0,
	    "a denial is told, with its program");
	begin(SYS_openat);
	word.denies = true;
	word.waits = false;
	call3((uint64_t)AT_FDCWD, POINTER("a"), 0);
	tap_ok(&tap, additions == 0, "not of who does not wait any more");
	for (int live = 0; live < 2; live++) {
		begin(SYS_renameat);
		word.denies = true;
		explaining.live = live;
		caller.call.args[3] = POINTER("/b");
		call3((uint64_t)AT_FDCWD, POINTER("/a"), 0);
		tap_ok(&tap, additions == 2 && sayings == live,
		    "live %d: each path is told of, and a new one said", live);
	}
}

/* The denial counts if it can be why the supervisor refused. */
static void
check_answers(void)
{
	static const struct {
		uint32_t kind;
		int64_t result;
		bool view, own_network, told;
	} cases[] = {
		{ SBX_DENIED_READ, ANSWER_GO_ON, false, false, true },
		{ SBX_DENIED_READ, -EACCES, false, false, true },
		{ SBX_DENIED_READ, -EPERM, false, false, true },
		{ SBX_DENIED_READ, -ENOENT, false, false, false },
		{ SBX_DENIED_READ, -ENOENT, true, false, true },
		{ SBX_DENIED_READ, 0, true, false, false },
		{ SBX_DENIED_READ, ANSWER_LATER, false, false, false },
		{ SBX_DENIED_READ, -ENETUNREACH, false, true, false },
		{ SBX_DENIED_ADDRESS, -ENETUNREACH, false, false, true },
		{ SBX_DENIED_ADDRESS, -ECONNREFUSED, false, true, false },
		{ SBX_DENIED_HOST, -ECONNREFUSED, false, false, true },
		{ SBX_DENIED_HOST, -ENETUNREACH, false, true, false },
		{ SBX_DENIED_HOST, -EINPROGRESS, false, true, true },
		{ SBX_DENIED_HOST, -EINPROGRESS, false, false, false },
		{ SBX_DENIED_READ, -ECONNREFUSED, false, true, false },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		int64_t result;

		begin(SYS_openat);
		word.action = SECCOMP_RET_USER_NOTIF;
		word.denies = true;
		word.kind = cases[i].kind;
		word.answer = cases[i].result;
		explaining.view = cases[i].view;
		listening.own_network = cases[i].own_network;
		result = call3((uint64_t)AT_FDCWD, POINTER("a"), 0);
		tap_ok(&tap,
		    result == cases[i].result && answers == 1 &&
			additions == cases[i].told,
		    "answered by %d: kind %u, view %d, network %d",
		    (int)cases[i].result, cases[i].kind, cases[i].view,
		    cases[i].own_network);
	}
	begin(SYS_getpid);
	word.action = SECCOMP_RET_USER_NOTIF;
	tap_ok(&tap, call3(1, 2, 3) == -EACCES && answers == 1 && *seen == '\0',
	    "a call that names nothing is answered");
	begin(SYS_openat);
	word.action = 0x7ff00000 /* SECCOMP_RET_TRACE */;
	tap_ok(&tap,
	    call3((uint64_t)AT_FDCWD, POINTER("a"), 0) == -EPERM &&
		answers == 0 && *seen == '\0',
	    "another word of the filter is a refusal");
}

/* --- calls that the filter refuses ---------------------------------------- */

static int64_t
refuse_call(int number, int error, uint64_t first, uint64_t second,
    uint64_t third)
{
	begin(number);
	word.action = word.guard_action = SECCOMP_RET_ERRNO | (uint32_t)error;
	explaining.learning = &learning;
	return call3(first, second, third);
}

static void
check_calls(void)
{
	static const struct {
		uint64_t args[3];
		uint32_t kept[2];
		bool probe;
	} sockets[] = {
		{ { AF_INET, SOCK_STREAM, 6 }, { AF_INET, SOCK_STREAM },
		    false },
		{ { AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0 },
		    { AF_INET, SOCK_DGRAM }, false },
		{ { AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0 },
		    { AF_INET, SOCK_STREAM }, false },
		{ { AF_UNIX, SOCK_STREAM, 1 }, { AF_UNIX, SOCK_STREAM },
		    false },
		{ { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0 },
		    { AF_UNIX, SOCK_DGRAM }, true },
		{ { AF_NETLINK, SOCK_RAW, 0 }, { AF_NETLINK, SOCK_RAW }, true },
		{ { AF_PACKET, SOCK_RAW, 768 }, { AF_PACKET, SOCK_RAW },
		    false },
	};

	for (size_t i = 0; i < countof(sockets); i++) {
		int64_t result = refuse_call(SYS_socket, RULE_ERROR,
		    sockets[i].args[0], sockets[i].args[1], sockets[i].args[2]);

		tap_ok(&tap,
		    result == -RULE_ERROR && is_told(SYS_socket) &&
			added.kind == SBX_DENIED_CALL &&
			added.source == SBX_NO_SOURCE &&
			added.error == RULE_ERROR &&
			added.args[0] == sockets[i].kept[0] &&
			added.args[1] == sockets[i].kept[1] &&
			added.args[2] == 0 && added.probe == sockets[i].probe &&
			guesses == !sockets[i].probe &&
			added.port == (sockets[i].probe ? 0 : 443),
		    "socket(%u, %u)", (unsigned)sockets[i].args[0],
		    (unsigned)sockets[i].args[1]);
		tap_ok(&tap,
		    lessons == 1 && learned.kind == SBX_DENIED_CALL &&
			learned.denied && learned.number == SYS_socket &&
			learned.error == RULE_ERROR &&
			learned.probe == sockets[i].probe &&
			memcmp(learned.args, added.args, sizeof added.args) ==
			    0 &&
			strcmp(learned.program, "observe") == 0,
		    "which is learned");
	}
	refuse_call(SYS_unshare, EPERM, 1, 2, 3);
	tap_ok(&tap,
	    is_told(SYS_unshare) && added.error == EPERM && !added.probe &&
		added.args[0] + added.args[1] + added.args[2] == 0 &&
		guesses == 0,
	    "of another call the words do not matter");
	refuse_call(SYS_prctl, EPERM, PR_SET_DUMPABLE, 0, 0);
	tap_ok(&tap, is_told(SYS_prctl) && added.probe,
	    "a program that would hide can do without");
	refuse_call(SYS_prctl, EPERM, PR_SET_NAME, 0, 0);
	tap_ok(&tap, is_told(SYS_prctl) && !added.probe,
	    "not so what else it asks of itself");
	tap_ok(&tap,
	    refuse_call(SYS_unshare, ENOSYS, 0, 0, 0) == -ENOSYS &&
		additions == 0 && lessons == 0,
	    "a call that is not there is nothing to tell");
	begin(SYS_unshare);
	word.action = SECCOMP_RET_ERRNO | EPERM;
	word.guard_action = SECCOMP_RET_ALLOW;
	tap_ok(&tap, call3(0, 0, 0) == -EPERM && additions == 0,
	    "nor what is refused by the guard alone");
	begin(SYS_unshare);
	word.action = word.guard_action = SECCOMP_RET_ERRNO | EPERM;
	call3(0, 0, 0);
	tap_ok(&tap, additions == 1 && lessons == 0,
	    "who does not learn is taught nothing");
}

/* --- learning ------------------------------------------------------------- */

static void
check_learning(void)
{
	static const struct {
		uint32_t kind;
		bool view, denies;
		const char *path;
		int error;
	} cases[] = {
		{ SBX_DENIED_READ, false, true, "/x", EACCES },
		{ SBX_DENIED_READ, false, false, "/x", 0 },
		{ SBX_DENIED_READ, true, true, "/x", ENOENT },
		{ SBX_DENIED_WRITE, true, true, "/readable", EROFS },
		{ SBX_DENIED_WRITE, true, true, "/x", ENOENT },
		{ SBX_DENIED_WRITE, false, true, "/readable", EACCES },
		{ SBX_DENIED_EXEC, true, true, "/readable", EACCES },
		{ SBX_DENIED_SOCKET, true, true, "/x", ENOENT },
		{ SBX_DENIED_CONNECT, true, true, "/x", EACCES },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		begin(SYS_openat);
		explaining.learning = &learning;
		explaining.view = cases[i].view;
		word.denies = cases[i].denies;
		word.kind = cases[i].kind;
		word.path = cases[i].path;
		call3((uint64_t)AT_FDCWD, POINTER("a/b"), O_CREAT | O_EXCL);
		tap_ok(&tap,
		    lessons == 1 && learned.kind == cases[i].kind &&
			learned.denied == cases[i].denies &&
			learned.error == cases[i].error && learned.makes &&
			!learned.probe &&
			strcmp(learned.text, "/usr/bin/a/b") == 0 &&
			strcmp(learned.program, "observe") == 0,
		    "learned: kind %u, view %d: errno %d", cases[i].kind,
		    cases[i].view, cases[i].error);
	}
	begin(SYS_statx);
	explaining.learning = &learning;
	call3((uint64_t)AT_FDCWD, POINTER("a/b"), 0);
	tap_ok(&tap, lessons == 1 && learned.probe && !learned.makes,
	    "a look is one");
	begin(SYS_chdir);
	explaining.learning = &learning;
	call3(POINTER("a/b"), 0, 0);
	tap_ok(&tap, lessons == 1 && !learned.probe, "who goes there wants it");
}

int
main(void)
{
	prctl(PR_SET_NAME, "observe");
	check_paths();
	check_names();
	check_telling();
	check_answers();
	check_calls();
	check_learning();
	check_addresses();
	check_long_name();
	check_meant();
	check_server();
	return tap_done(&tap);
}
