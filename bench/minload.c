/*
 * The floor that sbxrun is measured against: a loader that does what a plan
 * says (see plan.h) and nothing else.  It checks nothing, resolves nothing and
 * binds nothing; it is linked as sbxrun is.
 *
 *	minload PLAN COMMAND [ARG...]
 */
#include "bench/plan.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
	NR_LANDLOCK_RESTRICT_SELF = 446,
	SECCOMP_MODE_FILTER = 1,
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

int
main(int argc, char **argv, char **environment)
{
	int fd = argc < 3 ? -1 : open(argv[1], O_RDONLY | O_CLOEXEC);
	const struct plan *plan;
	struct program program;
	off_t size;

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
