/*
 * The filter of `deny spawn`: the command starts with the whole key, and nothing
 * with a part of it.
 */
#include "runtime/apply/apply.h"
#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#include <sys/prctl.h>
#include <sys/wait.h>

/* What comes of a start with the key, of which these bits are others: 0, or the
 * errno. */
static int
start(uint64_t others)
{
	char program[] = "/bin/true", *argv[] = { program, NULL };
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		uint64_t key;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
			_exit(255);
		key = spawn_prepare() ^ others;
		/* 0x1000: AT_EMPTY_PATH */
		syscall(SYS_execveat, AT_FDCWD, program, argv, argv + 1, 0x1000,
		    key);
		_exit(errno);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
main(void)
{
	struct tap tap = { 0 };

	tap_ok(&tap, start(0) == 0, "the whole key");
	for (unsigned bit = 0; bit < 64; bit += 9)
		tap_ok(&tap, start(UINT64_C(1) << bit) == EPERM,
		    "a key of which bit %u is another one", bit);
	tap_ok(&tap, start(UINT32_MAX) == EPERM, "its upper half alone");
	tap_ok(&tap, start(~(uint64_t)UINT32_MAX) == EPERM,
	    "its lower half alone");
	return tap_done(&tap);
}
