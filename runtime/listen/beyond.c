/*
 * What no rule decides, and a sandbox refuses all the same: signals and abstract
 * sockets that lead out of it, what takes rights of a superuser or a second
 * number of a user, and more than a limit.  Of each only what would work without
 * the sandbox is told.
 */
#include "runtime/base/files.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAME = UINT32_MAX, GROUPS_MAX = 64, ANCESTORS_MAX = 64 };

/* --- processes ------------------------------------------------------------ */

/* 0: there is no such process. */
static pid_t
parent_of(pid_t process)
{
	char path[64], text[512];
	uint64_t parent = 0;
	const char *at;
	struct out out;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/stat", (unsigned)process);
	/* "4711 (any name) S 1 ..." */
	if (!file_read(AT_FDCWD, path, text, sizeof text) ||
	    (at = strrchr(text, ')')) == NULL || strlen(at) < 5)
		return 0;
	for (at += 4; *at >= '0' && *at <= '9'; at++)
		parent = parent * 10 + (uint64_t)(*at - '0');
	return (pid_t)parent;
}

static bool
is_below(pid_t process, pid_t above)
{
	for (int i = 0; i < ANCESTORS_MAX && process > 1; i++) {
		if (process == above)
			return true;
		process = parent_of(process);
	}
	return false;
}

/* The commands of a session are not below the keeper, so that of them nothing can
 * be told.  At level full the command sees none but its own. */
static bool
is_outside(const struct caller *caller, struct sbx_denial *denial)
{
	const struct explaining *explaining = caller->listening->explaining;
	pid_t process = (pid_t)caller->call.args[0];
	char path[64], name[SBX_PROGRAM_SIZE + 1];
	struct out out;

	if (explaining->view || !explaining->scoped ||
	    (explaining->blob->meta->flags & SBX_SIGNAL_ANYWHERE) != 0 ||
	    process <= 0 || kill(process, 0) != 0 ||
	    !is_below((pid_t)caller->call.thread, getpid()) ||
	    is_below(process, getpid()))
		return false;
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/comm", (unsigned)process);
	if (!file_read(AT_FDCWD, path, name, sizeof name))
		return false;
	name[strcspn(name, "\n")] = '\0';
	out_into(&out, denial->path, sizeof denial->path);
	out_print(&out, "process %u, ", (unsigned)process);
	out_text(&out, name);
	denial->obstacle = SBX_OBSTACLE_SIGNAL;
	return true;
}

/* --- owners --------------------------------------------------------------- */

static bool
is_group_of_ours(gid_t group)
{
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);

	for (int i = 0; i < count; i++) {
		if (groups[i] == group)
			return true;
	}
	return group == getegid();
}

/* What chown(2) asks for and this user could do outside. */
static bool
changes_owner(const struct caller *caller, const char *path, size_t at,
    struct sbx_denial *denial)
{
	uid_t uid = (uid_t)caller->call.args[at];
	gid_t gid = (gid_t)caller->call.args[at + 1];
	struct stat status;
	bool root = geteuid() == 0, owner, group;

	if (*path == '\0' || lstat(path, &status) != 0)
		return false;
	/* A number that the sandbox has not is refused though the file has it. */
	owner = uid != SAME && uid != (root ? 0 : status.st_uid);
	group = gid != SAME && gid != (root ? 0 : status.st_gid);
	if ((!owner && !group) ||
	    (!root &&
		(owner || status.st_uid != geteuid() ||
		    !is_group_of_ours(gid))))
		return false;
	denial->obstacle = owner ? SBX_OBSTACLE_OWNER : SBX_OBSTACLE_GROUP;
	return true;
}

/* --- limits --------------------------------------------------------------- */

static const struct resource {
	int number;
	uint16_t kind;
} resources[] = {
	{ RLIMIT_FSIZE, SBX_LIMIT_FILE_SIZE },
	{ RLIMIT_NPROC, SBX_LIMIT_PROCESSES },
	{ RLIMIT_NOFILE, SBX_LIMIT_OPEN_FILES },
	{ RLIMIT_CPU, SBX_LIMIT_CPU_TIME },
	{ RLIMIT_AS, SBX_LIMIT_MEMORY },
	{ RLIMIT_CORE, SBX_LIMIT_CORE },
	{ RLIMIT_STACK, SBX_LIMIT_STACK },
};

static bool
is_limit(const struct sbx_limit *limit, struct sbx_denial *denial)
{
	struct out out;

	out_into(&out, denial->path, sizeof denial->path);
	out_limit(&out, limit);
	denial->obstacle = SBX_OBSTACLE_LIMIT;
	denial->source = limit->source;
	return true;
}

/* A limit of the policy that the command wants to raise. */
static bool
raises_limit(const struct caller *caller, uint64_t resource, uint64_t address,
    struct sbx_denial *denial)
{
	struct rlimit_pair wanted, own;

	if (address == 0 ||
	    caller_read(caller, address, &wanted, sizeof wanted) != 0)
		return false;
	for (size_t i = 0; i < countof(resources); i++) {
		const struct sbx_limit *limit =
		    limit_here(caller->listening->explaining->blob,
			resources[i].kind);

		if (resources[i].number == (int)resource && limit != NULL &&
		    wanted.hard > limit->value &&
		    limit_process((int)resource, NULL, &own) == 0 &&
		    (wanted.hard <= own.hard || geteuid() == 0))
			return is_limit(limit, denial);
	}
	return false;
}

bool
beyond_files(const struct caller *caller, struct sbx_denial *denial)
{
	const struct sbx_limit *limit =
	    limit_here(caller->listening->explaining->blob,
		SBX_LIMIT_OPEN_FILES);
	char path[64];
	struct stat status;
	struct out out;

	if (limit == NULL)
		return false;
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/fd", caller->call.thread);
	/* From Linux 6.2 on that is how many it has; it was 0. */
	return stat(path, &status) == 0 &&
	    (uint64_t)status.st_size >= limit->value && is_limit(limit, denial);
}

bool
beyond_port(uint16_t port, struct sbx_denial *denial)
{
	char text[32];
	uint32_t first = 0;

	if (geteuid() != 0 || port == 0 ||
	    !file_read(AT_FDCWD,
		"/proc/sys/net/ipv4/ip_unprivileged_port_start", text,
		sizeof text))
		return false;
	for (const char *at = text; *at >= '0' && *at <= '9'; at++)
		first = first * 10 + (uint32_t)(*at - '0');
	denial->kind = SBX_DENIED_CALL;
	denial->source = SBX_NO_SOURCE;
	denial->obstacle = SBX_OBSTACLE_PORT;
	return port < first;
}

/* -------------------------------------------------------------------------- */

static bool
is_user(uint64_t number, uint32_t own)
{
	return (uint32_t)number == own || (uint32_t)number == SAME;
}

/* Only a superuser becomes somebody else outside. */
static bool
changes_user(const struct caller *caller, struct sbx_denial *denial)
{
	const uint64_t *args = caller->call.args;
	bool own = false;

	if (geteuid() != 0)
		return false;
	switch (caller->call.number) {
	case SYS_setuid:
	case SYS_setgid:
		own = is_user(args[0], 0);
		break;
	case SYS_setreuid:
	case SYS_setregid:
		own = is_user(args[0], 0) && is_user(args[1], 0);
		break;
	case SYS_setresuid:
	case SYS_setresgid:
		own = is_user(args[0], 0) && is_user(args[1], 0) &&
		    is_user(args[2], 0);
		break;
	default:
		break;
	}
	denial->obstacle = SBX_OBSTACLE_IDENTITY;
	return !own;
}

bool
beyond_judge(const struct caller *caller, const char *path,
    struct sbx_denial *denial)
{
	const uint64_t *args = caller->call.args;
	bool told = false;

	switch (caller->call.number) {
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
		return is_outside(caller, denial);
	case SYS_mq_open:
		denial->obstacle = SBX_OBSTACLE_QUEUE;
		return true;
	case SYS_setrlimit:
		return raises_limit(caller, args[0], args[1], denial);
	case SYS_prlimit64:
		return raises_limit(caller, args[1], args[2], denial);
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
		return changes_user(caller, denial);
	case SYS_fchownat:
		told = changes_owner(caller, path, 2, denial);
		break;
	case SYS_mknodat:
		told = geteuid() == 0 && (S_ISCHR(args[2]) || S_ISBLK(args[2]));
		denial->obstacle = SBX_OBSTACLE_DEVICE;
		break;
#if defined(__x86_64__)
	case SYS_chown:
	case SYS_lchown:
		told = changes_owner(caller, path, 1, denial);
		break;
	case SYS_mknod:
		told = geteuid() == 0 && (S_ISCHR(args[1]) || S_ISBLK(args[1]));
		denial->obstacle = SBX_OBSTACLE_DEVICE;
		break;
#endif
	default:
		break;
	}
	if (told)
		memcpy(denial->path, path, strlen(path) + 1);
	return told;
}
