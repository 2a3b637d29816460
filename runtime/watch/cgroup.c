/*
 * A control group (cgroups(7), version 2) for the command and all that it
 * starts.  It limits what no limit of a single process can: how many processes
 * there are, and their memory taken together.
 *
 *	D            delegated: we may write it, and its controllers are on
 *	D/main       where sbxrun was started, with whoever else is there
 *	D/sbx-PID-N  ours, from just before the command to its end
 *
 * A group that hands on controllers has no processes of its own, so ours is
 * made beside the one that we are in, not inside.  Where there is no such D,
 * rlimits have to do.
 */
#include "runtime/watch/receipt.h"

#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MEMBERSHIP_SIZE = 4096,
	FILE_SIZE = 512,
	REMOVE_TRIES = 120, /* a second or so: an end may take its time */
};

/* Which controller holds which limit, and in which file. */
struct holder {
	uint16_t kind;
	const char *controller, *file;
};

static const struct holder kernel_holders[] = {
	{ SBX_LIMIT_PROCESSES, "pids", "pids.max" },
	{ SBX_LIMIT_MEMORY, "memory", "memory.max" },
};

enum { HOLDERS = countof(kernel_holders) };

static const struct holder *
holders(void)
{
#ifdef SBX_TESTING
	/* Where the controllers belong to version 1, the test build uses one
	 * that is free. */
	static const struct holder others[HOLDERS] = {
		{ SBX_LIMIT_PROCESSES, "hugetlb", "hugetlb.2MB.max" },
		{ SBX_LIMIT_MEMORY, "hugetlb", "hugetlb.2MB.max" },
	};

	if (getenv("SBX_TEST_CGROUP") != NULL)
		return others;
#endif
	return kernel_holders;
}

static uint32_t
bit_of(uint16_t kind)
{
	return UINT32_C(1) << kind;
}

/* Whether it was done, or the machine does not do it.  If other processes have
 * used something up, the limits must not be weaker for that. */
static bool
is_done(bool done)
{
	if (!done && is_shortage(errno))
		refuse("control group", "it cannot be had now", errno);
	return done;
}

/* --- the group above ours ------------------------------------------------- */

/* Whether a word stands in a line of words. */
static bool
has_word(const char *line, const char *word)
{
	size_t len = strlen(word);

	while (*line != '\0') {
		size_t next = strcspn(line, " \n");

		if (next == len && memcmp(line, word, len) == 0)
			return true;
		line += next + (line[next] != '\0');
	}
	return false;
}

uint32_t
cgroup_wanted(const struct sbx_blob *blob, enum sbx_level level)
{
	const struct sbx_limit *limit = NULL;
	uint32_t wanted = 0;

	while ((limit = limit_next(blob, limit)) != NULL)
		wanted |= bit_of(limit->kind);
	/* A user namespace counts its processes itself, in less time; but it
	 * does not limit root. */
	if (level == SBX_LEVEL_FULL && geteuid() != 0)
		wanted &= ~bit_of(SBX_LIMIT_PROCESSES);
	return wanted &
	    (bit_of(SBX_LIMIT_PROCESSES) | bit_of(SBX_LIMIT_MEMORY));
}

static const char none_mounted[] = "no control groups of version 2 are "
				   "mounted at /sys/fs/cgroup";
static const char none_delegated[] =
    "the control group above this process's "
    "is not delegated to its user; see sbx-limits(7)";
static const char no_controllers[] =
    "the control group above this process's "
    "cannot switch on the controllers pids and memory";

/*
 * /proc/self/cgroup has a line "0::/a/b" for version 2; D is "/a".  NULL, or
 * why there can be none.
 */
static const char *
path_of_parent(char *text, const char **path)
{
	char *line = strncmp(text, "0::/", 4) == 0 ? text :
						     strstr(text, "\n0::/"),
	     *last;

	if (line == NULL)
		return none_mounted;
	line += strcspn(line, "/");
	line[strcspn(line, "\n")] = '\0';
	*path = line;
	/* It is the root of our namespace, above it, or removed. */
	if (line[1] == '\0' || strncmp(line, "/..", 3) == 0 ||
	    strstr(line, " (deleted)") != NULL)
		return none_delegated;
	last = strrchr(line, '/');
	/* A group beside it would escape the limits of this sandbox. */
	if (strncmp(last, "/sbx-", 5) == 0)
		return "this process is in a sandbox's control group";
	*last = '\0';
	/* It is systemd's own, which may switch the controllers off again. */
	if (last - line > 6 && strcmp(last - 6, ".slice") == 0)
		return none_delegated;
	return NULL;
}

/* D: a directory of version 2, wherever that is mounted; `enabled` gets the
 * controllers that are on. */
static int
open_parent(const char *path, char *enabled)
{
	static const char *const mounts[] = {
		"/sys/fs/cgroup",
		"/sys/fs/cgroup/unified",
	};

	for (size_t i = 0; i < countof(mounts); i++) {
		char text[MEMBERSHIP_SIZE + 32];
		struct out whole;
		int fd;

		out_into(&whole, text, sizeof text);
		out_print(&whole, "%s%s", mounts[i], path);
		fd = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (!is_done(fd >= 0))
			continue;
		if (is_done(file_read(fd, "cgroup.subtree_control", enabled,
			FILE_SIZE)))
			return fd;
		close(fd);
	}
	return -1;
}

/*
 * To move a process into a group beside, one must be allowed to write the file
 * of D.  At level full no capability is left that would help when that is done.
 */
static bool
is_delegated(int parent)
{
	struct stat status;

	return fstatat(parent, "cgroup.procs", &status, 0) == 0 &&
	    status.st_uid == geteuid() && (status.st_mode & S_IWUSR) != 0;
}

/* Switches the controllers on one by one: a kernel may have only one. */
static uint32_t
switch_on(int parent, const char *enabled, uint32_t wanted)
{
	uint32_t offered = 0;

	for (int i = 0; i < HOLDERS; i++) {
		const struct holder *holder = &holders()[i];
		struct out text;

		if ((wanted & bit_of(holder->kind)) == 0)
			continue;
		out_init(&text, -1);
		out_print(&text, "+%s", holder->controller);
		if (has_word(enabled, holder->controller) ||
		    is_done(file_write(parent, "cgroup.subtree_control",
			text.text)))
			offered |= bit_of(holder->kind);
	}
	return offered;
}

static void
name_group(struct cgroup *group, struct timespec begin)
{
	struct out name;

	out_into(&name, group->name, sizeof group->name);
	out_print(&name, "sbx-%u-%lu", (unsigned)getpid(),
	    (uint64_t)begin.tv_sec * 1000000000 + (uint64_t)begin.tv_nsec);
}

void
cgroup_init(struct cgroup *group)
{
	*group = (struct cgroup){ .parent = -1, .own = -1 };
}

void
cgroup_forget(struct cgroup *group)
{
	if (group->parent >= 0)
		close(group->parent);
	group->parent = -1;
	group->offered = 0;
}

void
cgroup_find(struct cgroup *group, uint32_t wanted, struct timespec begin)
{
	char text[MEMBERSHIP_SIZE], enabled[FILE_SIZE];
	const char *path;

	if ((wanted & ~group->offered) == 0)
		return;
	cgroup_forget(group);
	group->why = none_mounted;
	if (!is_done(
		file_read(AT_FDCWD, "/proc/self/cgroup", text, sizeof text)) ||
	    (group->why = path_of_parent(text, &path)) != NULL)
		return;
	group->parent = open_parent(path, enabled);
	group->why = none_mounted;
	if (group->parent < 0)
		return;
	group->why = none_delegated;
	if (is_delegated(group->parent)) {
		group->offered = switch_on(group->parent, enabled, wanted);
		group->why = group->offered == wanted ? NULL : no_controllers;
	}
	if (group->offered == 0)
		cgroup_forget(group);
	else
		name_group(group, begin);
}

/* --- ours ----------------------------------------------------------------- */

static bool
set_limit(const struct cgroup *group, const struct holder *holder,
    uint64_t value)
{
	struct out text;

	out_init(&text, -1);
	out_number(&text, value);
	if (!is_done(file_write(group->own, holder->file, text.text)))
		return false;
	/* Without this, memory would only move to swap. */
	return holder->kind != SBX_LIMIT_MEMORY ||
	    file_write(group->own, "memory.swap.max", "0") || errno == ENOENT;
}

static void
set_limits(struct cgroup *group, const struct sbx_blob *blob)
{
	const struct sbx_limit *limit = NULL;

	while ((limit = limit_next(blob, limit)) != NULL) {
		for (int j = 0; j < HOLDERS; j++) {
			const struct holder *holder = &holders()[j];

			if (holder->kind == limit->kind &&
			    (group->offered & bit_of(holder->kind)) != 0 &&
			    set_limit(group, holder, limit->value))
				group->held |= bit_of(holder->kind);
		}
	}
}

void
cgroup_make(struct cgroup *group, const struct sbx_blob *blob, uint32_t wanted)
{
	char type[32];

	group->offered &= wanted;
	if (group->parent < 0 || group->offered == 0 ||
	    !is_done(mkdirat(group->parent, group->name, 0755) == 0))
		return;
	group->own = openat(group->parent, group->name,
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Below a group of threads, processes cannot enter it. */
	if (group->own >= 0 &&
	    file_read(group->own, "cgroup.type", type, sizeof type) &&
	    strcmp(type, "domain\n") == 0)
		set_limits(group, blob);
	if (group->held != 0)
		return;
	if (group->own >= 0)
		close(group->own);
	group->own = -1;
	cgroup_remove(group);
}

const char *
cgroup_try(void)
{
	struct cgroup group;
	struct timespec now;

	clock_now(&now);
	cgroup_init(&group);
	cgroup_find(&group,
	    bit_of(SBX_LIMIT_PROCESSES) | bit_of(SBX_LIMIT_MEMORY), now);
	if (group.parent >= 0 &&
	    (mkdirat(group.parent, group.name, 0755) != 0 ||
		!cgroup_remove(&group)))
		group.why = none_delegated;
	return group.why;
}

/* clone3(2) as of Linux 5.7. */
struct clone_arguments {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack,
	    stack_size, tls, set_tid, set_tid_size, cgroup;
};

/* To move into a group takes the kernel milliseconds; to start in it,
 * nothing. */
static pid_t
fork_into(int group)
{
	struct clone_arguments arguments = {
		.flags = UINT64_C(0x200000000), /* CLONE_INTO_CGROUP */
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)group,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

pid_t
cgroup_fork(const struct cgroup *group)
{
	pid_t pid;

	if (group->own < 0)
		return fork();
	pid = fork_into(group->own);
	if (pid >= 0)
		return pid;
	/* The kernel is older, or a container's filter forbids it. */
	pid = fork();
	if (pid == 0 && !file_write(group->own, "cgroup.procs", "0"))
		refuse(group->name, "cannot enter this control group", errno);
	return pid;
}

/* "sbx-PID-N/FILE", below D: the supervisor has no descriptor of ours. */
static const char *
file_of(const struct cgroup *group, const char *file, struct out *path)
{
	out_init(path, -1);
	out_print(path, "%s/%s", group->name, file);
	return path->text;
}

void
cgroup_kill(const struct cgroup *group)
{
	struct out path;

	/* From Linux 5.14 on; the caller has another way too. */
	if (group->parent >= 0)
		file_write(group->parent, file_of(group, "cgroup.kill", &path),
		    "1");
}

bool
cgroup_remove(const struct cgroup *group)
{
	if (group->parent < 0)
		return true;
	for (int tries = 0; tries < REMOVE_TRIES; tries++) {
		if (unlinkat(group->parent, group->name, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			return true;
		if (errno != EBUSY && errno != EINTR)
			return false;
		if (tries % 16 == 0)
			cgroup_kill(group);
		poll(NULL, 0, tries < 8 ? 1 : 10);
	}
	return false;
}

/* The number after a key at the beginning of a line; without a key, the first
 * one. */
static uint64_t
read_number(const struct cgroup *group, const char *file, const char *key)
{
	char text[FILE_SIZE];
	struct out path;
	size_t len = strlen(key);
	const char *line = text;

	if (!file_read(group->parent, file_of(group, file, &path), text,
		sizeof text))
		return UINT64_MAX;
	while (line != NULL && strncmp(line, key, len) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return line == NULL ? UINT64_MAX : strtoull(line + len, NULL, 10);
}

void
cgroup_measure(const struct cgroup *group, struct cgroup_usage *usage)
{
	*usage = (struct cgroup_usage){ UINT64_MAX, UINT64_MAX, UINT64_MAX };
	if (group->parent < 0)
		return;
	if ((group->offered & bit_of(SBX_LIMIT_MEMORY)) != 0) {
		usage->memory = read_number(group, "memory.peak", "");
		usage->killed = read_number(group, "memory.events",
		    "oom_kill ");
	}
	if ((group->offered & bit_of(SBX_LIMIT_PROCESSES)) != 0)
		usage->refused = read_number(group, "pids.events", "max ");
}
