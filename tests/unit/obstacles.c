/*
 * Whether there can be a listener (runtime/listen/obstacle.c): what Yama says, of
 * which most machines have nothing, and what filters keep from it.
 */
#include "runtime/base/file.h"
#include "runtime/base/kernel.h"
#include "runtime/listen/listen.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct tap tap;
static const char *scope; /* NULL: there is no Yama */

bool
file_read(int directory, const char *name, char *text, size_t size)
{
	(void)directory;
	if (scope == NULL ||
	    strcmp(name, "/proc/sys/kernel/yama/ptrace_scope") != 0)
		return false;
	snprintf(text, size, "%s", scope);
	return true;
}

static bool
is_yama(const char *why)
{
	return why != NULL && strstr(why, "yama") != NULL;
}

static void
test_yama(void)
{
	static const struct {
		const char *scope;
		bool keeps;
	} cases[] = {
		{ NULL, false },
		{ "0\n", false },
		{ "1\n", false },
		{ "2\n", true },
		{ "3\n", true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct listen_obstacles got;

		scope = cases[i].scope;
		got = listen_obstacles();
		tap_ok(&tap,
		    is_yama(got.listening) == cases[i].keeps &&
			is_yama(got.copying) == cases[i].keeps,
		    "Yama says %c", scope != NULL ? *scope : '-');
	}
	scope = NULL;
}

/* A filter that answers one call with EPERM, and no other. */
static void
forbid(int number)
{
	const struct sbx_insn insns[] = {
		{ 0x20, 0, 0, 0 },
		{ 0x15, 0, 1, (uint32_t)number },
		{ 6, 0, 0, SECCOMP_RET_ERRNO | EPERM },
		{ 6, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = { sizeof insns / sizeof *insns, insns };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		_exit(99);
}

/* In a child, because a filter stays. */
static void
test_filter(const char *name, int number, const char *listening,
    const char *copying)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct listen_obstacles got;

		forbid(number);
		got = listen_obstacles();
		_exit((got.listening != NULL ? listening != NULL &&
				  strstr(got.listening, listening) != NULL :
					       listening == NULL) &&
			    (got.copying != NULL ? copying != NULL &&
					strstr(got.copying, copying) != NULL :
						   copying == NULL) &&
			    !got.nested ?
			0 :
			1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	tap_ok(&tap, WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", name);
}

int
main(void)
{
	test_yama();
	/* Under a filter of somebody else's none of these is known. */
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
		return tap_done(&tap);
	test_filter("a filter that forbids nothing of it", SYS_acct, NULL,
	    NULL);
	test_filter("one that keeps from looking", SYS_process_vm_readv,
	    "from looking", "from looking");
	test_filter("one that keeps from descriptors", SYS_pidfd_getfd, NULL,
	    "descriptors");
	test_filter("one that keeps from naming a process", SYS_pidfd_open,
	    NULL, "descriptors");
	return tap_done(&tap);
}
