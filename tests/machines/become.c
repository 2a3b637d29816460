/*
 * become USER GROUP HOW COMMAND...: runs it as that user, with no other group.
 * HOW is `all`, or `no-seccomp` for a kernel that was built without it: then a
 * filter gives the answers of such a kernel to the two calls that ask for one,
 * seccomp(2) and prctl(2); or `restricted`: the command is under AppArmor's profile
 * of that name.  Busybox has no setpriv that could be used instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
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

/* Where a process asks AppArmor for another profile: it takes the superuser to open,
 * and the profile has not what it takes to become somebody else. */
static int
open_profile(void)
{
	return open("/proc/self/attr/apparmor/current", O_WRONLY | O_CLOEXEC);
}

static int
change_profile(int fd)
{
	static const char words[] = "changeprofile restricted";

	return write(fd, words, sizeof words - 1) == sizeof words - 1 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	bool restricted = argc > 3 && strcmp(argv[3], "restricted") == 0;
	int profile = restricted ? open_profile() : -1;

	if (argc < 5) {
		fputs("usage: become USER GROUP HOW COMMAND...\n", stderr);
		return 2;
	}
	if ((strcmp(argv[3], "no-seccomp") == 0 && hide_seccomp() != 0) ||
	    setgroups(0, NULL) != 0 || setgid((gid_t)atoi(argv[2])) != 0 ||
	    setuid((uid_t)atoi(argv[1])) != 0 ||
	    (restricted && change_profile(profile) != 0)) {
		perror("become");
		return 2;
	}
	execvp(argv[4], argv + 4);
	perror(argv[4]);
	return 127;
}
