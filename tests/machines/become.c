/*
 * become USER GROUP HOW COMMAND...: runs it as that user, with no other group.
 * HOW is `all`, or `no-seccomp` for a kernel that was built without it: then a
 * filter gives the answers of such a kernel to the two calls that ask for one,
 * seccomp(2) and prctl(2).  Busybox has no setpriv that could be used instead.
 */
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
	    (unsigned)offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skip)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (unsigned)(value))

static int
hide_seccomp(void)
{
	struct sock_filter calls[] = {
		LOAD(nr),
		UNLESS(SYS_seccomp, 1),
		ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
		UNLESS(SYS_prctl, 5),
		LOAD(args[0]),
		UNLESS(PR_SET_SECCOMP, 1),
		ANSWER(SECCOMP_RET_ERRNO | EINVAL),
		UNLESS(PR_GET_SECCOMP, 1),
		ANSWER(SECCOMP_RET_ERRNO | EINVAL),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof calls / sizeof *calls, calls };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
	if (argc < 5) {
		fputs("usage: become USER GROUP HOW COMMAND...\n", stderr);
		return 2;
	}
	if ((strcmp(argv[3], "no-seccomp") == 0 && hide_seccomp() != 0) ||
	    setgroups(0, NULL) != 0 || setgid((gid_t)atoi(argv[2])) != 0 ||
	    setuid((uid_t)atoi(argv[1])) != 0) {
		perror("become");
		return 2;
	}
	execvp(argv[4], argv + 4);
	perror(argv[4]);
	return 127;
}
