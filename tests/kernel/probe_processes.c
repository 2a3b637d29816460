/*
 * What the probe does to other processes, and says about its own.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* clang-format off */
static const struct name limits[] = {
	{"file-size", RLIMIT_FSIZE}, {"processes", RLIMIT_NPROC},
	{"open-files", RLIMIT_NOFILE}, {"cpu-time", RLIMIT_CPU},
	{"memory", RLIMIT_AS}, {"core", RLIMIT_CORE},
	{"stack", RLIMIT_STACK},
};
/* clang-format on */

static int
seize(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return errno;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

/* Acts upon a process, or upon a child that is made for it. */
static int
act_upon(const char *word, int (*act)(pid_t))
{
	pid_t pid;
	int error;

	if (strcmp(word, "child") != 0)
		return act(process(word));
	pid = sleeper();
	error = act(pid);
	put_to_rest(pid);
	return error;
}

static int
try_ptrace(char **words, int count)
{
	(void)count;
	return act_upon(words[0], seize);
}

static int
peek(pid_t pid)
{
	static char there = 1;
	char here;
	struct iovec local = { &here, 1 }, remote = { &there, 1 };

	return result(process_vm_readv(pid, &local, 1, &remote, 1, 0));
}

static int
try_process_vm_read(char **words, int count)
{
	(void)count;
	return act_upon(words[0], peek);
}

static int
try_kill(char **words, int count)
{
	return result(
	    kill(process(words[0]), count > 1 ? (int)number(words[1]) : 0));
}

static int
try_fd(char **words, int count)
{
	struct stat status;

	(void)count;
	return result(fstat((int)number(words[0]), &status));
}

static int
say_fds(char **words, int count)
{
	char line[4096] = "";
	size_t used = 0;

	(void)words;
	(void)count;
	for (int fd = 0; fd < 4096 && used < sizeof line - 16; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			used += (size_t)snprintf(line + used,
			    sizeof line - used, used ? " %d" : "%d", fd);
	}
	say(line);
	return SAID;
}

static int
say_env(char **words, int count)
{
	const char *value = getenv(words[0]);

	(void)count;
	say(value ? value : "unset");
	return SAID;
}

static int
say_cwd(char **words, int count)
{
	char path[4096];

	(void)words;
	(void)count;
	if (!getcwd(path, sizeof path))
		return errno;
	say(path);
	return SAID;
}

static int
say_rlimit(char **words, int count)
{
	struct rlimit limit;
	char line[80], soft[24], hard[24];

	(void)count;
	if (getrlimit((int)LOOK_UP(limits, words[0]), &limit) < 0)
		return errno;
	snprintf(soft, sizeof soft, "%llu", (unsigned long long)limit.rlim_cur);
	snprintf(hard, sizeof hard, "%llu", (unsigned long long)limit.rlim_max);
	snprintf(line, sizeof line, "%s %s",
	    limit.rlim_cur == RLIM_INFINITY ? "unlimited" : soft,
	    limit.rlim_max == RLIM_INFINITY ? "unlimited" : hard);
	say(line);
	return SAID;
}

static int
say_nnp(char **words, int count)
{
	(void)words;
	(void)count;
	say(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? "1" : "0");
	return SAID;
}

/* A field of /proc/self/status into value; false without a readable /proc. */
static bool
status_field(const char *field, char *value, size_t size)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t len = strlen(field);
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file)) {
		found = strncmp(line, field, len) == 0 && line[len] == ':';
		if (found)
			snprintf(value, size, "%.*s",
			    (int)strcspn(line + len + 2, "\n"), line + len + 2);
	}
	if (file)
		fclose(file);
	return found;
}

static int
say_seccomp(char **words, int count)
{
	char mode[64];

	(void)words;
	(void)count;
	if (!status_field("Seccomp", mode, sizeof mode))
		snprintf(mode, sizeof mode, "%d",
		    prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	say(mode);
	return SAID;
}

static int
say_caps(char **words, int count)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	uint32_t data[6] = { 0 };
	uint64_t bounding = 0;
	char line[80];

	(void)words;
	(void)count;
	if (syscall(SYS_capget, &header, data) < 0)
		return errno;
	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			bounding |= UINT64_C(1) << cap;
	}
	snprintf(line, sizeof line, "effective %08x%08x bounding %016llx",
	    data[3], data[0], (unsigned long long)bounding);
	say(line);
	return SAID;
}

static int
say_ids(char **words, int count)
{
	char line[80];

	(void)words;
	(void)count;
	snprintf(line, sizeof line, "uid %u gid %u pid %d", (unsigned)getuid(),
	    (unsigned)getgid(), (int)getpid());
	say(line);
	return SAID;
}

/* clang-format off */
const struct operation process_operations[] = {
	{"ptrace", 1, 1, try_ptrace},
	{"process-vm-read", 1, 1, try_process_vm_read},
	{"kill", 1, 2, try_kill},
	{"fd", 1, 1, try_fd},
	{"fds", 0, 0, say_fds},
	{"env", 1, 1, say_env},
	{"cwd", 0, 0, say_cwd},
	{"rlimit", 1, 1, say_rlimit},
	{"nnp", 0, 0, say_nnp},
	{"seccomp", 0, 0, say_seccomp},
	{"caps", 0, 0, say_caps},
	{"ids", 0, 0, say_ids},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
