/*
 * A hostile process: does to others, again and again, what a command must not
 * do to those beside it, above all while they are being started.
 *
 *	siege look SECONDS all|PID...	tries to look into them and change them
 *	siege stop SECONDS all|PID...	stops them, and lets them go on
 *	siege kill SECONDS all|PID...	kills them
 *	siege fill SECONDS		makes as many processes as it can
 *
 * `all` are those of this PID namespace but process 1 and itself; process 1 is
 * one of those that are looked into.  For each way the number of tries is
 * printed, of those that succeeded, and what the first of these met; then how
 * many processes were met before a filter held them (`unfiltered`).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	NR_PIDFD_OPEN = 434,
	NR_PIDFD_GETFD = 438,
	NR_PROCESS_MADVISE = 440,
	MADVICE_COLD = 20,
	STOPPED_FOR = 30, /* milliseconds */
};

/* What the kernel says to those who may not, or when nobody is there. */
static const int refusals[] = { 0, EPERM, EACCES, ESRCH, ENOENT, ENOSYS,
	EROFS };

/* 0: it worked; refused; or what shows that it would have. */
struct attack {
	const char *name;
	int (*run)(pid_t pid);
	unsigned long tried, breaches;
	int first; /* errno of the first breach, or -1: plain success */
};

static char there = 1; /* the same address in every program that is this one */

static int
open_of(pid_t pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return open(path, flags | O_CLOEXEC | O_NONBLOCK);
}

/* A process that ends has no memory: then there is nothing to be read. */
static int
read_of(pid_t pid, const char *name)
{
	char byte;
	int fd = open_of(pid, name, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return errno;
	got = read(fd, &byte, 1);
	if (got < 0 && errno == EINVAL)
		got = 0;
	close(fd);
	return got == 0 ? ESRCH : got < 0 ? errno : 0;
}

static int
try_environ(pid_t pid)
{
	return read_of(pid, "environ");
}

static int
try_maps(pid_t pid)
{
	return read_of(pid, "maps");
}

static int
try_auxv(pid_t pid)
{
	return read_of(pid, "auxv");
}

static int
try_mem(pid_t pid)
{
	char byte;
	int fd = open_of(pid, "mem", O_RDWR);
	ssize_t got;

	if (fd < 0)
		return errno;
	got = pread(fd, &byte, 1, (off_t)(uintptr_t)&there);
	close(fd);
	return got == 0 ? ESRCH : got < 0 ? errno : 0;
}

static int
try_link(pid_t pid, const char *name)
{
	char path[64], to[256];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return readlink(path, to, sizeof to) < 0 ? errno : 0;
}

/* The numbers of open descriptors may be seen, not what they lead to. */
static int
try_fds(pid_t pid)
{
	char path[32];
	int error = ENOENT;

	for (int fd = 0; fd < 8 && error == ENOENT; fd++) {
		snprintf(path, sizeof path, "fd/%d", fd);
		error = try_link(pid, path);
	}
	return error;
}

static int
try_root(pid_t pid)
{
	return try_link(pid, "root");
}

static int
try_cwd(pid_t pid)
{
	return try_link(pid, "cwd");
}

static int
try_namespace(pid_t pid)
{
	return try_link(pid, "ns/mnt");
}

static int
try_attach(pid_t pid)
{
	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
		return errno;
	waitpid(pid, NULL, __WALL);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

static int
try_seize(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return errno;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	waitpid(pid, NULL, __WALL);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

static int
try_read(pid_t pid)
{
	char here;
	struct iovec local = { &here, 1 }, remote = { &there, 1 };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 ? errno : 0;
}

static int
try_write(pid_t pid)
{
	char here = 1;
	struct iovec local = { &here, 1 }, remote = { &there, 1 };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) < 0 ? errno : 0;
}

/* What `act` gives with a pidfd. */
static int
with_pidfd(pid_t pid, long (*act)(int))
{
	int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0), error;

	if (fd < 0)
		return errno == EINVAL ? ESRCH : errno;
	error = act(fd) < 0 ? errno : 0;
	close(fd);
	return error;
}

static long
get_descriptor(int pidfd)
{
	long fd = -1;

	for (int i = 0; i < 8; i++) {
		fd = syscall(NR_PIDFD_GETFD, pidfd, i, 0);
		if (fd >= 0) {
			close((int)fd);
			return 0;
		}
		if (errno != EBADF)
			return -1;
	}
	return fd;
}

static int
try_getfd(pid_t pid)
{
	return with_pidfd(pid, get_descriptor);
}

static long
advise(int pidfd)
{
	struct iovec remote = { (void *)((uintptr_t)&there & ~4095UL), 4096 };

	return syscall(NR_PROCESS_MADVISE, pidfd, &remote, 1, MADVICE_COLD, 0);
}

static int
try_madvise(pid_t pid)
{
	return with_pidfd(pid, advise);
}

static long
enter(int pidfd)
{
	enum { MOUNT = 0x20000, USER = 0x10000000 };

	return syscall(SYS_setns, pidfd, MOUNT | USER);
}

static int
try_enter(pid_t pid)
{
	return with_pidfd(pid, enter);
}

/* The limits stay what they are. */
static int
try_limits(pid_t pid)
{
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0)
		return errno;
	return prlimit(pid, RLIMIT_NOFILE, &limit, NULL) < 0 ? errno : 0;
}

static int
try_nice(pid_t pid)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 19) < 0 ? errno : 0;
}

static int
write_to(pid_t pid, const char *name, const char *text)
{
	int fd = open_of(pid, name, O_WRONLY), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	return error;
}

static int
try_oom(pid_t pid)
{
	return write_to(pid, "oom_score_adj", "1000");
}

/* Of another process the file can be opened, and that is all. */
static int
try_comm(pid_t pid)
{
	int error = write_to(pid, "comm", "taken");

	return error == EINVAL ? EACCES : error;
}

static int
try_map(pid_t pid)
{
	return write_to(pid, "uid_map", "0 0 1");
}

/* clang-format off */
static struct attack attacks[] = {
	{"attach", try_attach, 0, 0, 0},
	{"seize", try_seize, 0, 0, 0},
	{"memory", try_mem, 0, 0, 0},
	{"read", try_read, 0, 0, 0},
	{"write", try_write, 0, 0, 0},
	{"environment", try_environ, 0, 0, 0},
	{"maps", try_maps, 0, 0, 0},
	{"auxv", try_auxv, 0, 0, 0},
	{"descriptors", try_fds, 0, 0, 0},
	{"pidfd_getfd", try_getfd, 0, 0, 0},
	{"root", try_root, 0, 0, 0},
	{"directory", try_cwd, 0, 0, 0},
	{"namespace", try_namespace, 0, 0, 0},
	{"setns", try_enter, 0, 0, 0},
	{"madvise", try_madvise, 0, 0, 0},
	{"limits", try_limits, 0, 0, 0},
	{"nice", try_nice, 0, 0, 0},
	{"oom", try_oom, 0, 0, 0},
	{"name", try_comm, 0, 0, 0},
	{"uid_map", try_map, 0, 0, 0},
};
/* clang-format on */
enum { ATTACKS = sizeof attacks / sizeof *attacks };

static unsigned long unfiltered, met;

/* Whether a process has no filter yet, as the whole namespace may know. */
static bool
is_unfiltered(pid_t pid)
{
	char text[4096];
	int fd = open_of(pid, "status", O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return strstr(text, "Seccomp:\t0") != NULL &&
	    strstr(text, "State:\tZ") == NULL;
}

static void
look_into(pid_t pid)
{
	met++;
	if (pid != 1)
		unfiltered += is_unfiltered(pid);
	for (size_t i = 0; i < ATTACKS; i++) {
		struct attack *attack = &attacks[i];
		int error = attack->run(pid);
		bool refused = false;

		for (size_t k = 1; k < sizeof refusals / sizeof *refusals; k++)
			refused |= error == refusals[k];
		attack->tried++;
		/* The processes of a session are one user's: once they are
		 * confined, each may say of another when it is to be killed. */
		if (refused ||
		    (attack->run == try_oom && pid != 1 && error == 0 &&
			!is_unfiltered(pid)))
			continue;
		if (attack->breaches++ == 0)
			attack->first = error == 0 ? -1 : error;
	}
}

static void
nap(long milliseconds)
{
	struct timespec time = { milliseconds / 1000,
		milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* The longest where it has just been started. */
static void
stop(pid_t pid)
{
	bool early;

	if (pid == 1)
		return;
	met++;
	early = is_unfiltered(pid);
	unfiltered += early;
	if (kill(pid, SIGSTOP) < 0)
		return;
	if (early)
		nap(STOPPED_FOR);
	kill(pid, SIGCONT);
}

static void
kill_off(pid_t pid)
{
	if (pid == 1)
		return;
	met++;
	unfiltered += is_unfiltered(pid);
	kill(pid, SIGKILL);
}

static void
fill(void)
{
	pid_t pid = fork();

	if (pid < 0)
		nap(1);
	if (pid == 0) {
		for (;;)
			pause();
	}
}

/* --- who, and how long ---------------------------------------------------- */

static void
everybody(void (*act)(pid_t))
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	if (processes == NULL)
		return;
	while ((entry = readdir(processes)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid())
			act(pid);
	}
	closedir(processes);
}

static void
report(bool looked)
{
	for (size_t i = 0; looked && i < ATTACKS; i++) {
		const struct attack *attack = &attacks[i];

		printf("%s tried %lu breaches %lu%s%s\n", attack->name,
		    attack->tried, attack->breaches,
		    attack->breaches > 0 ? " " : "",
		    attack->breaches == 0   ? "" :
			attack->first == -1 ? "success" :
					      strerror(attack->first));
	}
	printf("met %lu unfiltered %lu\n", met, unfiltered);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*act)(pid_t);
	} modes[] = { { "look", look_into }, { "stop", stop },
		{ "kill", kill_off }, { "fill", NULL } };
	size_t mode = 0;
	time_t end;

	if (argc < 3) {
		fputs("usage: siege MODE SECONDS all|PID...\n", stderr);
		return 2;
	}
	while (mode < 3 && strcmp(argv[1], modes[mode].word) != 0)
		mode++;
	end = time(NULL) + strtol(argv[2], NULL, 10);
	while (time(NULL) < end) {
		if (modes[mode].act == NULL)
			fill();
		else if (argc > 3 && strcmp(argv[3], "all") == 0)
			everybody(modes[mode].act);
		else {
			for (int i = 3; i < argc; i++)
				modes[mode].act(
				    (pid_t)strtol(argv[i], NULL, 10));
		}
	}
	report(mode == 0);
	return 0;
}
