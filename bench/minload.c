/*
 * The floor that sbxrun is measured against: a loader that does what a plan
 * says (see plan.h) and nothing else.  It checks nothing, resolves nothing and
 * binds nothing; it is linked as sbxrun is.
 *
 *	minload PLAN COMMAND [ARG...]
 *	minload -f DIRECTORY... - PLAN COMMAND [ARG...]
 *
 * The second form first does what level full comes to, for a superuser: new
 * namespaces, a root in which there are the directories alone (the first of
 * them, which holds the plan, writable), no capabilities, and a process that waits inside.
 */
#include "bench/plan.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
	NR_LANDLOCK_RESTRICT_SELF = 446,
	SECCOMP_MODE_FILTER = 1,
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_MOUNT_SETATTR = 442,
	TREE_CLONE = 1,
	FROM_FD_ITSELF = 4,
	READ_ONLY = 1,
	NO_SETUID_OR_DEVICES = 6,
	MAX_PLACES = 256,
	CAP_LAST = 40,
};

struct beneath {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

struct net_port {
	uint64_t access;
	uint64_t port;
};

struct program {
	unsigned short len;
	const void *insns;
};

static void
must(long value)
{
	if (value < 0)
		_exit(125);
}

static void
add_rule(int ruleset, const struct plan_rule *rule)
{
	struct net_port port = { rule->access, rule->port };
	struct beneath beneath = { rule->access, -1 };

	if (rule->type == PLAN_PORT) {
		must(syscall(NR_LANDLOCK_ADD_RULE, ruleset, PLAN_PORT, &port,
		    0));
		return;
	}
	beneath.fd = open(rule->path, O_PATH | O_CLOEXEC);
	must(beneath.fd);
	must(syscall(NR_LANDLOCK_ADD_RULE, ruleset, PLAN_PATH, &beneath, 0));
	close(beneath.fd);
}

/* Returns the first byte after the rules. */
static const char *
restrict_files(const struct plan *plan)
{
	const char *at = (const char *)(plan + 1);
	int ruleset = -1;

	if (plan->layers > 0) {
		ruleset = (int)syscall(NR_LANDLOCK_CREATE_RULESET, plan->attr,
		    (size_t)plan->attr_size, 0);
		must(ruleset);
	}
	for (uint32_t i = 0; i < plan->rules; i++) {
		const struct plan_rule *rule = (const void *)at;

		add_rule(ruleset, rule);
		at += sizeof *rule + rule->size;
	}
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (plan->layers > 0) {
		must(syscall(NR_LANDLOCK_RESTRICT_SELF, ruleset,
		    plan->restrict_flags));
		close(ruleset);
	}
	return at;
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

static int
open_place(const char *path, bool writable)
{
	struct {
		uint64_t set, clear, propagation, namespace;
	} attributes = { .set = NO_SETUID_OR_DEVICES |
		    (writable ? 0 : READ_ONLY) };
	long tree = syscall(NR_OPEN_TREE, AT_FDCWD, path,
	    TREE_CLONE | O_CLOEXEC);

	must(tree);
	must(syscall(NR_MOUNT_SETATTR, (int)tree, "", AT_EMPTY_PATH,
	    &attributes, sizeof attributes));
	return (int)tree;
}

/* Below the current directory, the root to be. */
static void
show_place(char *path, int tree)
{
	for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(path + 1, 0755);
		*at = '/';
	}
	mkdir(path + 1, 0755);
	must(syscall(NR_MOVE_MOUNT, tree, "", AT_FDCWD, path + 1,
	    FROM_FD_ITSELF));
	close(tree);
}

static void
drop_capabilities(void)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	uint32_t none[6] = { 0 };

	for (unsigned long cap = 0; cap <= CAP_LAST; cap++)
		must(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0));
	must(syscall(SYS_capset, &header, none));
}

/* Returns what follows the directories. */
static char **
enter_view(char **places)
{
	int trees[MAX_PLACES];
	int count = 0;

	wait_for((pid_t)syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWPID |
	    CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0));
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	for (; strcmp(places[count], "-") != 0; count++) {
		must(count < MAX_PLACES ? 0 : -1);
		trees[count] = open_place(places[count], count == 0);
	}
	must(mount("none", "/tmp", "tmpfs", 0, NULL));
	must(chdir("/tmp"));
	for (int i = 0; i < count; i++)
		show_place(places[i], trees[i]);
	must(syscall(SYS_pivot_root, ".", "."));
	must(umount2(".", MNT_DETACH));
	must(chdir(places[0]));
	drop_capabilities();
	wait_for(fork());
	return places + count;
}

int
main(int argc, char **argv, char **environment)
{
	const struct plan *plan;
	struct program program;
	off_t size;
	int fd;

	must(argc < 3 ? -1 : 0);
	if (strcmp(argv[1], "-f") == 0)
		argv = enter_view(argv + 2);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	must(fd);
	size = lseek(fd, 0, SEEK_END);
	must(size);
	plan = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
	    fd, 0);
	if (plan == MAP_FAILED)
		_exit(125);
	close(fd);
	program.len = (unsigned short)plan->insns;
	program.insns = restrict_files(plan);
	if (plan->insns > 0)
		must(syscall(SYS_seccomp, SECCOMP_MODE_FILTER,
		    plan->filter_flags, &program));
	execve(argv[2], argv + 2, environment);
	_exit(127);
}
