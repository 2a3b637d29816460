/*
 * The command of faults.sh.  Writes "ran" to the file `out/marker`, or to
 * standard error if it cannot, then a line for each thing that faults.sh denies
 * and that can be done all the same, then "end".
 *
 *	confined LEVEL FILE-OUTSIDE [PROCESSES]
 *
 * LEVEL may be "hosts-PORT": level full with ways out of its network, where PORT
 * of 127.0.0.1 is open outside; or "names-PORT", level standard likewise.
 * PROCESSES: the policy limits them, and this is the limit outside.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	VERSION_3 = 0x20080522,
	OPEN_FILES = 99, /* as the policy has it */
	CAP_LAST = 40,
	SYS_ADMIN = 21,
};

static void
say(int marker, const char *text)
{
	if (write(marker, text, strlen(text)) < 0 ||
	    write(marker, "\n", 1) != 1)
		_exit(3);
}

static void
must_not(int marker, bool could, const char *what)
{
	if (could)
		say(marker, what);
}

/* The file is empty: ENOEXEC comes after the question whether it may run. */
static bool
may_run(const char *path)
{
	char *const words[] = { NULL };

	return execve(path, words, words) == 0 || errno == ENOEXEC;
}

static void
check_files(int marker, const char *outside)
{
	must_not(marker, open(outside, O_RDONLY) >= 0, "read outside");
	must_not(marker, open(outside, O_WRONLY) >= 0, "write outside");
	must_not(marker, open("secret", O_RDONLY) >= 0, "read secret");
	must_not(marker, open("real/hidden", O_RDONLY) >= 0, "read hidden");
	must_not(marker, open("sub/a.key", O_RDONLY) >= 0, "read a key");
	must_not(marker, may_run("tool"), "run a tool");
	must_not(marker, open("kept", O_WRONLY) >= 0, "write kept");
}

/* A connection, or -1. */
static int
reach(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The first connection to the proxy makes the supervisor start it. */
static void
check_network(int marker, const char *hosts)
{
	char answer[64];
	int fd;

	if (hosts == NULL) {
		must_not(marker, socket(AF_INET, SOCK_STREAM, 0) >= 0,
		    "socket");
		return;
	}
	must_not(marker, reach((uint16_t)atoi(hosts)) >= 0,
	    "reach the network outside");
	fd = reach(3128);
	if (fd >= 0 && send(fd, "x", 1, MSG_NOSIGNAL) == 1 &&
	    recv(fd, answer, sizeof answer, 0) < 0)
		close(fd);
}

static void
check_calls(int marker)
{
	must_not(marker, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1,
	    "gain privileges");
	must_not(marker, prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2,
	    "call without a filter");
}

static void
check_capabilities(int marker, bool none, bool bounded)
{
	struct {
		uint32_t version;
		int pid;
	} header = { VERSION_3, 0 };
	struct {
		uint32_t effective, permitted, inheritable;
	} data[2];
	uint32_t kept = none ? 0 : 0xfb; /* below number 8, but for one */

	must_not(marker, syscall(SYS_capget, &header, data) != 0, "not ask");
	must_not(marker,
	    (data[0].permitted & ~kept) != 0 || data[1].permitted != 0,
	    "use capabilities");
	must_not(marker, (data[0].inheritable | data[1].inheritable) != 0,
	    "inherit capabilities");
	for (unsigned long cap = 0; bounded && geteuid() == 0 && cap < CAP_LAST;
	     cap++) {
		if (none || cap >= 8)
			must_not(marker,
			    prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1,
			    "bounding set");
	}
}

/* Whether the number of the process namespace holds the 99 of the policy: the
 * kernel keeps 300 more back. */
static bool
is_numbered(void)
{
	char text[32] = "";
	int fd = open("/proc/sys/kernel/pid_max", O_RDONLY);
	bool known = fd >= 0 && read(fd, text, sizeof text - 1) > 0;

	if (fd >= 0)
		close(fd);
	return known && strtoull(text, NULL, 10) == 99 + 300;
}

/* The kernel's text has "0::/.../sbx-PID-N" where a group holds it. */
static void
check_processes(int marker, const char *outside)
{
	char text[4096] = "";
	int fd = open("/proc/self/cgroup", O_RDONLY);
	struct rlimit limit;

	/* A fault may have cost us /proc. */
	if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
		return;
	close(fd);
	must_not(marker,
	    strstr(text, "/sbx-") == NULL && !is_numbered() &&
		(getrlimit(RLIMIT_NPROC, &limit) != 0 ||
		    limit.rlim_max == strtoull(outside, NULL, 10) ||
		    limit.rlim_max == RLIM_INFINITY),
	    "fork without end");
}

static void
check_rest(int marker)
{
	struct rlimit limit;

	must_not(marker,
	    getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		limit.rlim_max != OPEN_FILES,
	    "open many files");
	must_not(marker, getenv("SBX_FAULT") != NULL, "read a variable");
	for (int fd = 3; fd < 256; fd++)
		must_not(marker, fd != marker && fcntl(fd, F_GETFD) >= 0,
		    "use a descriptor");
}

int
main(int argc, char **argv)
{
	int marker = open("out/marker", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	bool joined, names;

	/* Less than the policy gives is no danger. */
	if (marker < 0)
		marker = STDERR_FILENO;
	if (argc < 3)
		return 3;
	say(marker, "ran");
	if (argc > 3)
		check_processes(marker, argv[3]);
	check_rest(marker);
	check_files(marker, argv[2]);
	names = strncmp(argv[1], "names-", 6) == 0;
	check_network(marker,
	    names || strncmp(argv[1], "hosts-", 6) == 0 ? argv[1] + 6 : NULL);
	check_calls(marker);
	joined = strcmp(argv[1], "joined") == 0;
	/* Under no_new_privs the bounding set gives nothing, and a command that
	 * joins a session leaves it as it is. */
	check_capabilities(marker, !names && strcmp(argv[1], "standard") != 0,
	    !joined);
	say(marker, "end");
	return 0;
}
