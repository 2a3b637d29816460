/* See files.h. */
#include "runtime/base/files.h"

#include "format/verify.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

const char *
helper_path(struct path *path)
{
	ssize_t len = readlink("/proc/self/exe", path->text,
	    sizeof path->text - 1);

	if (len <= 0)
		return NULL;
	path_cut(path, (uint32_t)len);
	path_cut(path,
	    place_parent((struct sbx_place){ path->text, path->len }).len);
	return path_push(path, "sbxc", 4) ? path->text : NULL;
}

int
helper_open(const char *path)
{
	int found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd;

	if (found < 0)
		return -1;
	/* The policy will be put in that place, over whatever is there. */
	fd = fcntl(found, F_DUPFD_CLOEXEC, HELPER_POLICY + 1);
	close(found);
	return fd;
}

/* What it may do below a place that it may change: files, directories and links
 * come and go, and nothing else is made. */
enum {
	CHANGES = 1 << 1 /* write */ | 1 << 4 | 1 << 5 /* remove */ | 1 << 7 |
	    1 << 8 | 1 << 12 /* make */ | 1 << 13 /* between directories */ |
	    1 << 14 /* truncate */,
	MARKS = 1 << 6, /* of overlayfs: devices, of which 0:0 needs no right */
};

/* It writes nowhere but to what it has open and below these places, and to nobody:
 * of all that this Landlock can take away, reading and executing files are left. */
static bool
keep_from_writing(const int places[], size_t count)
{
	static const struct sbx_meta nothing = { .net = SBX_NET_NONE };
	int abi = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	struct sbx_landlock row = sbx_landlock_row(abi > 0 ? (uint32_t)abi : 0,
	    &nothing);
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = row.handled_fs &
		    ~(row.list | row.read | row.exec),
		.handled_access_net = row.handled_net,
		.scoped = row.scoped,
	};
	int ruleset = landlock_create_ruleset(&attr, sizeof attr, 0);

	for (size_t i = 0; i < count; i++) {
		struct landlock_path_beneath_attr rule = {
			.allowed_access = (CHANGES | (i == 0 ? MARKS : 0)) &
			    attr.handled_access_fs,
			.parent_fd = places[i],
		};

		if (landlock_add_rule(ruleset, LANDLOCK_RULE_PATH_BENEATH,
			&rule) != 0)
			return false;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ruleset >= 0 &&
	    landlock_restrict_self(ruleset, 0) == 0;
}

/* A call for another machine has other numbers, and sbxc makes none.  io_uring
 * makes sockets as well. */
static bool
keep_from_network(void)
{
	static const struct sbx_insn insns[] = {
		{ 0x20, 0, 0, 4 /* the machine of the call */ },
		{ 0x15, 1, 0, KERNEL_ARCH },
		{ 0x06, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
		{ 0x20, 0, 0, 0 /* its number */ },
		{ 0x35, 3, 0, 0x40000000 /* of x32 */ },
		{ 0x15, 2, 0, SYS_socket },
		{ 0x15, 1, 0, SYS_io_uring_setup },
		{ 0x06, 0, 0, SECCOMP_RET_ALLOW },
		{ 0x06, 0, 0, SECCOMP_RET_ERRNO | EACCES },
	};
	struct sock_fprog filter = {
		.len = countof(insns),
		.filter = insns,
	};

	return seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

bool
helper_confine_but(const int places[], size_t count)
{
	return keep_from_writing(places, count) && keep_from_network();
}

bool
helper_confine(void)
{
	return helper_confine_but(NULL, 0);
}

/* -1 is nothing. */
static bool
put(int fd, int number)
{
	if (fd < 0)
		fd = open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY);
	/* dup2(2) of a number to itself would leave it to be closed. */
	return fd == number ? fcntl(fd, F_SETFD, 0) == 0 :
			      dup2(fd, number) >= 0;
}

__attribute__((noreturn)) static void
be_helper(const struct helper_call *call)
{
	sigset_t all;

	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (!put(call->in, STDIN_FILENO) || !put(call->out, STDOUT_FILENO) ||
	    !put(call->err, STDERR_FILENO) ||
	    (call->policy >= 0 && !put(call->policy, HELPER_POLICY)) ||
	    !helper_confine())
		_exit(EXIT_REFUSED);
	syscall(SYS_execveat, call->program, "", call->words, call->variables,
	    AT_EMPTY_PATH);
	_exit(EXIT_REFUSED);
}

int
helper_file(const void *bytes, size_t size)
{
	int fd = memfd_create("sbx", MFD_CLOEXEC);
	const char *at = bytes;

	while (fd >= 0 && size > 0) {
		ssize_t len = write(fd, at, size);

		if (len <= 0) {
			close(fd);
			return -1;
		}
		at += len;
		size -= (size_t)len;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd < 0 ? fd : above_standard(fd);
}

/* Waits for its end, for so long. */
static int
wait_for(pid_t helper, int patience)
{
	struct pollfd wait = {
		.fd = (int)syscall(SYS_pidfd_open, helper, 0),
		.events = POLLIN,
	};
	int status = -1, ready;

	do {
		ready = wait.fd < 0 ? -1 : poll(&wait, 1, patience);
	} while (ready < 0 && wait.fd >= 0 && errno == EINTR);
	if (ready != 1)
		kill(helper, SIGKILL);
	if (wait.fd >= 0)
		close(wait.fd);
	while (waitpid(helper, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
helper_run(const struct helper_call *call)
{
	pid_t helper = fork();

	if (helper == 0)
		be_helper(call);
	return helper > 0 ? wait_for(helper, call->patience) : -1;
}
