/*
 * What is said of limits at the end of a command, and what was counted for that
 * in its control group, whose files are plain ones here.
 */
#include "runtime/watch/ending.h"
#include "runtime/base/kernel.h"
#include "runtime/base/limits.h"
#include "runtime/base/out.h"
#include "tests/lib/tap.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define UNSAID UINT64_MAX

static struct tap tap;
static char told[512];

/* Keeps what would be said. */
void
limit_say(const struct sbx_blob *blob, uint16_t kind, const char *text)
{
	size_t used = strlen(told);

	(void)blob;
	snprintf(told + used, sizeof told - used, "%u %s\n", kind, text);
}

/* --- what is counted ------------------------------------------------------ */

static void
make_file(int directory, const char *name, const char *text)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	tap_must(fd >= 0 &&
		write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		close(fd) == 0,
	    name);
}

static void
counts(const char *what, const struct cgroup *group, uint64_t memory,
    uint64_t killed, uint64_t refused)
{
	struct cgroup_usage usage;

	cgroup_measure(group, &usage);
	if (!tap_ok(&tap,
		usage.memory == memory && usage.killed == killed &&
		    usage.refused == refused,
		"%s", what))
		printf("# %lu, %lu, %lu\n", usage.memory, usage.killed,
		    usage.refused);
}

static void
check_counts(void)
{
	static const uint32_t memory = 1 << SBX_LIMIT_MEMORY,
			      processes = 1 << SBX_LIMIT_PROCESSES;
	static const struct sbx_blob none;
	char top[] = "/var/tmp/sbx-ending-XXXXXX";
	struct cgroup group = { .parent = -1, .own = -1, .name = "ours" };

	tap_must(mkdtemp(top) != NULL, top);
	group.offered = memory | processes;
	counts("without a group nothing", &group, UNSAID, UNSAID, UNSAID);
	group.parent = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tap_must(group.parent >= 0 && mkdirat(group.parent, "ours", 0700) == 0,
	    top);
	counts("files that are not there", &group, UNSAID, UNSAID, UNSAID);
	make_file(group.parent, "ours/memory.peak", "123456789\n");
	make_file(group.parent, "ours/memory.events",
	    "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n");
	make_file(group.parent, "ours/pids.events", "max 7\n");
	counts("all of it", &group, 123456789, 5, 7);
	group.offered = memory;
	counts("of memory alone", &group, 123456789, 5, UNSAID);
	group.offered = processes;
	counts("of processes alone", &group, UNSAID, UNSAID, 7);
	make_file(group.parent, "ours/pids.events", "max.imposed 8\n");
	counts("a key that only begins so", &group, UNSAID, UNSAID, UNSAID);
	make_file(group.parent, "ours/pids.events", "other 1\nmax 9");
	counts("without a line's end", &group, UNSAID, UNSAID, 9);
	unlinkat(group.parent, "ours/memory.peak", 0);
	unlinkat(group.parent, "ours/memory.events", 0);
	unlinkat(group.parent, "ours/pids.events", 0);
	tap_ok(&tap, cgroup_remove(&group), "the group is removed");
	tap_ok(&tap, cgroup_remove(&group), "one that is gone need not be");
	group.offered = processes;
	cgroup_make(&group, &none, processes);
	tap_ok(&tap,
	    group.own == -1 && group.held == 0 &&
		faccessat(group.parent, "ours", F_OK, 0) != 0,
	    "one that holds no limits is none");
	group.parent = -1;
	tap_ok(&tap, cgroup_remove(&group), "nor where there is none");
	tap_must(rmdir(top) == 0, top);
}

/* The status of a process that looks for a group, with so many descriptors more
 * than it has. */
static int
status_with(rlim_t more)
{
	const struct timespec begin = { 0, 0 };
	struct cgroup group;
	struct rlimit limit;
	int status = 0, fd;
	pid_t child = fork();

	if (child == 0) {
		fd = open("/dev/null", O_WRONLY);
		dup2(fd, STDERR_FILENO);
		getrlimit(RLIMIT_NOFILE, &limit);
		limit.rlim_cur = (rlim_t)fd + 1 + more;
		setrlimit(RLIMIT_NOFILE, &limit);
		cgroup_init(&group);
		cgroup_find(&group, 1 << SBX_LIMIT_PROCESSES, begin);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
check_shortage(void)
{
	tap_ok(&tap, status_with(0) == EXIT_REFUSED,
	    "a shortage is no reason for weaker limits");
	tap_ok(&tap, status_with(64) == 0, "which there is not");
}

/* --- what is said --------------------------------------------------------- */

static const struct sbx_limit limits[] = {
	{ .value = 1 << 20, .kind = SBX_LIMIT_FILE_SIZE, .platforms = 0xff },
	{ .value = 100, .kind = SBX_LIMIT_CPU_TIME, .platforms = 0xff },
};

/* The caller's own limits. */
static void
set_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	tap_must(getrlimit(resource, &limit) == 0, "getrlimit");
	limit.rlim_cur = value;
	tap_must(setrlimit(resource, &limit) == 0, "setrlimit");
}

static void
tells(const char *what, int status, bool late, uint64_t killed,
    uint64_t refused, const char *wanted)
{
	const struct sbx_blob blob = { .limits = limits, .limit_count = 2 };
	const struct cgroup_usage usage = { 0, killed, refused };

	*told = '\0';
	ending_tell(&blob, status, late, &usage);
	if (!tap_ok(&tap, strcmp(told, wanted) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", told, wanted);
}

/* A line with the number of a kind of limit. */
static const char *
line(unsigned kind, const char *text)
{
	static char lines[4][128];
	static unsigned next;
	char *made = lines[next++ % 4];

	snprintf(made, sizeof *lines, "%u %s\n", kind, text);
	return made;
}

static void
check_told(void)
{
	char both[256];
	const char *killed = line(SBX_LIMIT_MEMORY,
	    "processes that the kernel killed for it: 2");
	const char *refused = line(SBX_LIMIT_PROCESSES,
	    "processes that could not be started: 3");
	const char *file = line(SBX_LIMIT_FILE_SIZE,
	    "the command wrote more to a file and got SIGXFSZ");

	snprintf(both, sizeof both, "%s%s", killed, refused);
	tells("nothing was reached", 0, false, 0, 0, "");
	tells("nobody counted", 0, false, UNSAID, UNSAID, "");
	tells("some were killed", 0, false, 2, 0, killed);
	tells("some were refused", 0, false, UNSAID, 3, refused);
	tells("both", 0, false, 2, 3, both);
	tells("the file grew too large", SIGXFSZ, false, 0, 0, file);
	tells("which is another signal", SIGSYS, false, 0, 0, "");
	tells("not a status", SIGXFSZ << 8, false, 0, 0, "");
	tells("its time was over", SIGXFSZ, true, 0, 0,
	    line(SBX_LIMIT_TIMEOUT, "the command is ended"));
	tells("it ran too long", SIGXCPU, false, 0, 0,
	    line(SBX_LIMIT_CPU_TIME,
		"the command needed more and got SIGXCPU"));
	set_limit(RLIMIT_FSIZE, limits[0].value);
	tells("the caller has the same limit", SIGXFSZ, false, 0, 0, file);
	set_limit(RLIMIT_FSIZE, limits[0].value - 1);
	tells("the caller's own is lower", SIGXFSZ, false, 0, 0, "");
}

/* A stderr that takes nothing may never take more. */
static void
check_full(void)
{
	int saved = dup(STDERR_FILENO), ends[2];
	char bytes[4096] = { 0 };

	tap_must(saved >= 0 && pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0 &&
		dup2(ends[1], STDERR_FILENO) >= 0,
	    "pipe");
	while (write(ends[1], bytes, sizeof bytes) > 0)
		;
	tells("nothing on a stderr that is full", 0, true, 2, 3, "");
	tap_must(read(ends[0], bytes, sizeof bytes) > 0, "read");
	tells("which was read meanwhile", 0, true, 0, 0,
	    line(SBX_LIMIT_TIMEOUT, "the command is ended"));
	dup2(saved, STDERR_FILENO);
}

int
main(void)
{
	check_counts();
	check_shortage();
	check_told();
	check_full();
	return tap_done(&tap);
}
