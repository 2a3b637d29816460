/*
 * The floor that sbxrun is measured against: a loader that does what a plan
 * says (see inspect.h) and nothing else.  It checks nothing, resolves nothing and
 * binds nothing; it is linked as sbxrun is.
 *
 *	minload PLAN COMMAND [ARG...]
 *
 * Where the plan has a view that is made too, with the same namespaces and
 * mounts, no capabilities, and the two processes that wait for the command.
 */
#include "bench/plan.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NR_LANDLOCK_RESTRICT_SELF = 446,
	SECCOMP_MODE_FILTER = 1,
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_FSOPEN = 430,
	NR_FSCONFIG = 431,
	NR_FSMOUNT = 432,
	NR_MOUNT_SETATTR = 442,
	TREE_CLONE = 1,
	TREE_WHOLE = 0x8000,
	FROM_FD_ITSELF = 4,
	SET_STRING = 1,
	CREATE = 6,
	READ_ONLY = 1,
	NO_SETUID_OR_DEVICES = 6,
};

struct program {
	unsigned short len;
	const void *insns;
};

/* --- the view ------------------------------------------------------------- */

static void
write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd);
	must(write(fd, text, len));
	close(fd);
}

/* "ID ID 1" */
static void
write_map(const char *path, unsigned id)
{
	char line[32];
	size_t at = sizeof line, begin;

	line[--at] = '1';
	for (int i = 0; i < 2; i++) {
		unsigned left = id;

		line[--at] = ' ';
		do {
			line[--at] = (char)('0' + left % 10);
			left /= 10;
		} while (left > 0);
	}
	begin = at;
	write_file(path, line + begin, sizeof line - begin);
}

/* Waits for the only child and ends as it did. */
static void
wait_for(pid_t child)
{
	int status = 0;

	must(child);
	if (child == 0)
		return;
	must(waitpid(child, &status, 0));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
}

static void
enter_namespaces(uint64_t namespaces)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	wait_for((pid_t)syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0));
	if ((namespaces & CLONE_NEWUSER) == 0)
		return;
	write_file("/proc/self/setgroups", "deny", 4);
	write_map("/proc/self/uid_map", uid);
	write_map("/proc/self/gid_map", gid);
}

static void
set_attributes(int mount, unsigned flags, uint64_t attributes)
{
	struct {
		uint64_t set, clear, propagation, namespace;
	} attr = { .set = attributes };

	must(syscall(NR_MOUNT_SETATTR, mount, "", AT_EMPTY_PATH | flags, &attr,
	    sizeof attr));
}

static int
new_mount(const char *type, const char *option, const char *value,
    uint64_t attributes)
{
	long context = syscall(NR_FSOPEN, type, 1), mount;

	must(context);
	if (option != NULL)
		must(syscall(NR_FSCONFIG, (int)context, SET_STRING, option,
		    value, 0));
	must(syscall(NR_FSCONFIG, (int)context, CREATE, NULL, NULL, 0));
	mount = syscall(NR_FSMOUNT, (int)context, 1, attributes);
	must(mount);
	close((int)context);
	return (int)mount;
}

static int
copy_mount(int directory, const char *path, unsigned flags)
{
	long tree = syscall(NR_OPEN_TREE, directory, path,
	    TREE_CLONE | O_CLOEXEC | AT_SYMLINK_NOFOLLOW | flags);

	must(tree);
	return (int)tree;
}

static int
mount_of(const struct plan_step *step, int root)
{
	const char *from = step->text + step->at_size;
	int mount;

	switch ((enum plan_step_kind)step->kind) {
	case STEP_BIND:
		mount = copy_mount(AT_FDCWD, from, TREE_WHOLE);
		set_attributes(mount, TREE_WHOLE, step->attributes);
		return mount;
	case STEP_OWN:
		must(fchmodat(root, step->text, 01777, 0));
		return copy_mount(root, step->text, 0);
	case STEP_PTMX:
		return copy_mount(root, "dev/pts/ptmx", 0);
	case STEP_NEW:
		if (strcmp(from, "devpts") == 0)
			return new_mount(from, "ptmxmode", "0666",
			    step->attributes);
		return new_mount(from, NULL, NULL, step->attributes);
	case STEP_DIRECTORY:
	case STEP_FILE:
	case STEP_LINK:
		break;
	}
	_exit(125);
}

static void
take_step(const struct plan_step *step, int root)
{
	int mount;

	switch ((enum plan_step_kind)step->kind) {
	case STEP_DIRECTORY:
		must(mkdirat(root, step->text, 0755));
		return;
	case STEP_FILE:
		must(mknodat(root, step->text, S_IFREG | 0644, 0));
		return;
	case STEP_LINK:
		must(symlinkat(step->text + step->at_size, root, step->text));
		return;
	case STEP_BIND:
	case STEP_OWN:
	case STEP_PTMX:
	case STEP_NEW:
		break;
	}
	mount = mount_of(step, root);
	must(syscall(NR_MOVE_MOUNT, mount, "", root, step->text,
	    FROM_FD_ITSELF));
	close(mount);
}

static void
drop_capabilities(uint32_t count)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	uint32_t none[6] = { 0 };

	/* The last of them was the one that is not there. */
	for (unsigned long cap = 0; cap + 1 < count; cap++)
		must(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0));
	must(syscall(SYS_capset, &header, none));
}

/* Returns what follows the steps. */
static const char *
enter_view(const struct plan *plan, const char *at)
{
	char cwd[4096];
	int root;

	must(syscall(SYS_getcwd, cwd, sizeof cwd));
	enter_namespaces(plan->namespaces);
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	root = new_mount("tmpfs", "mode", "0755", NO_SETUID_OR_DEVICES);
	must(syscall(NR_MOVE_MOUNT, root, "", AT_FDCWD, "/", FROM_FD_ITSELF));
	for (uint32_t i = 0; i < plan->steps; i++) {
		const struct plan_step *step = (const void *)at;

		take_step(step, root);
		at += sizeof *step + step->at_size + step->from_size;
	}
	set_attributes(root, 0, READ_ONLY);
	must(fchdir(root));
	must(syscall(SYS_pivot_root, ".", "."));
	must(umount2(".", MNT_DETACH));
	close(root);
	must(chdir(cwd));
	drop_capabilities(plan->capabilities);
	return at;
}

int
main(int argc, char **argv, char **environment)
{
	const struct plan *plan;
	struct program program;
	const char *rules, *rest;
	int ruleset = -1;

	must(argc < 3 ? -1 : 0);
	plan = plan_read(argv[1]);
	rules = (const char *)(plan + 1);
	rest = plan_after_rules(plan, rules);
	if (plan->namespaces != 0)
		rest = enter_view(plan, rest);
	if (plan->layers > 0)
		ruleset = plan_ruleset(plan, rules);
	if (plan->namespaces != 0)
		wait_for(fork());
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (ruleset >= 0) {
		must(syscall(NR_LANDLOCK_RESTRICT_SELF, ruleset,
		    plan->restrict_flags));
		close(ruleset);
	}
	program.len = (unsigned short)plan->insns;
	program.insns = rest;
	if (plan->insns > 0)
		must(syscall(SYS_seccomp, SECCOMP_MODE_FILTER,
		    plan->filter_flags, &program));
	execve(argv[2], argv + 2, environment);
	_exit(127);
}
