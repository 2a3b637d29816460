/*
 * Which errors of the machine lead to a lower level, and which are a shortage
 * that refuses the run (runtime/apply/namespaces.c): in processes where a filter
 * answers one system call with the error of a case.
 */
#include "runtime/apply/apply.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "tests/lib/tap.h"

#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { MADE = 50, LOWER, OTHER_REASON, FAILED, ANY = 0, KILLED = -1 };

/* A call that is answered, if its first argument has all of these bits. */
struct answer {
	long number;
	uint32_t bits;
	int error; /* or KILLED */
};

static void
install(const struct answer *answer)
{
	enum {
		LOAD = 0x20,
		EQUALS = 0x15,
		AND = 0x54,
		RETURN = 6,
		ARG_0_LOW = 16
	};
	const struct sbx_insn insns[] = {
		{ LOAD, 0, 0, 0 },
		{ EQUALS, 0, 4, (uint32_t)answer->number },
		{ LOAD, 0, 0, ARG_0_LOW },
		{ AND, 0, 0, answer->bits },
		{ EQUALS, 0, 1, answer->bits },
		{ RETURN, 0, 0,
		    answer->error == KILLED ?
			0x80000000U /* SECCOMP_RET_KILL_PROCESS */ :
			SECCOMP_RET_ERRNO | (uint32_t)answer->error },
		{ RETURN, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = { countof(insns), insns };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		_exit(FAILED);
}

/* What becomes of namespaces where this call is answered so, if one is: MADE, or
 * LOWER with that word in the reason, or refused. */
static int
become(const struct answer *answer, enum own_network network, const char *word)
{
	pid_t child = fork(), first;
	const char *why = "";
	int status = 0;

	if (child == 0) {
		close(STDERR_FILENO);
		if (answer != NULL)
			install(answer);
		first = namespaces_fork(network, false, &why);
		if (first == 0)
			_exit(0);
		if (first > 0 && waitpid(first, &status, 0) == first)
			_exit(MADE);
		_exit(strstr(why, word) != NULL ? LOWER : OTHER_REASON);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static void
is(struct tap *tap, int got, int wanted, const char *name, const char *error)
{
	if (!tap_ok(tap, got == wanted, "%s: %s", name, error))
		printf("# got %d, wanted %d\n", got, wanted);
}

/* clone(2) itself. */
static void
errors(struct tap *tap)
{
	static const int lasting[] = { EPERM, EACCES, ENOSYS, EOPNOTSUPP,
		EINVAL, ENODEV, EAFNOSUPPORT, ENOENT, EROFS };
	static const int shortages[] = { EAGAIN, ENOMEM, EMFILE, ENFILE, EIO,
		EINTR, EBUSY, ENOSPC };
	struct answer clone = { SYS_clone, CLONE_NEWNS, 0 };

	for (size_t i = 0; i < countof(lasting); i++) {
		clone.error = lasting[i];
		is(tap, become(&clone, NETWORK_OUTER, "forbids new namespaces"),
		    LOWER, "it lowers the level", strerror(lasting[i]));
	}
	for (size_t i = 0; i < countof(shortages); i++) {
		clone.error = shortages[i];
		is(tap, become(&clone, NETWORK_OUTER, ""), EXIT_REFUSED,
		    "it refuses the run", strerror(shortages[i]));
	}
}

/* Each call that the view is made with is tried before. */
static void
steps(struct tap *tap)
{
	static const struct {
		const char *name;
		long number;
		enum own_network network;
		const char *reason;
	} calls[] = {
		{ "mount_setattr", SYS_mount_setattr, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "fsopen", SYS_fsopen, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "open_tree", SYS_open_tree, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "fsconfig", SYS_fsconfig, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "fsmount", SYS_fsmount, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "move_mount", SYS_move_mount, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "umount2", SYS_umount2, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "pivot_root", SYS_pivot_root, NETWORK_OUTER,
		    "mounting is forbidden" },
		{ "socket", SYS_socket, NETWORK_LOOPBACK, "loopback device" },
		{ "ioctl", SYS_ioctl, NETWORK_LOOPBACK, "loopback device" },
	};
	static const int errors[] = { EPERM, EACCES, ENOSYS };

	for (size_t i = 0; i < countof(calls); i++) {
		struct answer answer = { calls[i].number, ANY, 0 };

		for (size_t j = 0; j < countof(errors); j++) {
			answer.error = errors[j];
			is(tap,
			    become(&answer, calls[i].network, calls[i].reason),
			    LOWER, calls[i].name, strerror(errors[j]));
		}
		/* A filter that does not answer. */
		answer.error = KILLED;
		is(tap,
		    become(&answer, calls[i].network, "mounting is forbidden"),
		    LOWER, calls[i].name, "killed");
	}
	is(tap,
	    become(&(struct answer){ SYS_socket, ANY, EPERM }, NETWORK_EMPTY,
		""),
	    MADE, "without a loopback device", "socket");
}

int
main(void)
{
	struct tap tap = { 0 };

	errors(&tap);
	if (become(NULL, NETWORK_LOOPBACK, "") == MADE)
		steps(&tap);
	else
		tap_skip(&tap, "this machine gives none",
		    "what is tried in namespaces");
	return tap_done(&tap);
}
