/* Reads a plan and makes its ruleset; see inspect.h. */
#include "bench/plan.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
};

struct beneath {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

struct net_port {
	uint64_t access;
	uint64_t port;
};

void
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

int
plan_ruleset(const struct plan *plan, const char *at)
{
	int ruleset = (int)syscall(NR_LANDLOCK_CREATE_RULESET, plan->attr,
	    (size_t)plan->attr_size, 0);

	must(ruleset);
	for (uint32_t i = 0; i < plan->rules; i++) {
		const struct plan_rule *rule = (const void *)at;

		add_rule(ruleset, rule);
		at += sizeof *rule + rule->size;
	}
	return ruleset;
}

const char *
plan_after_rules(const struct plan *plan, const char *at)
{
	for (uint32_t i = 0; i < plan->rules; i++)
		at += sizeof(struct plan_rule) +
		    ((const struct plan_rule *)(const void *)at)->size;
	return at;
}

const char *
plan_after_steps(const struct plan *plan, const char *at)
{
	for (uint32_t i = 0; i < plan->steps; i++) {
		const struct plan_step *step = (const void *)at;

		at += sizeof *step + step->at_size + step->from_size;
	}
	return at;
}

const struct plan *
plan_read(const char *path)
{
	const struct plan *plan;
	off_t size;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd);
	size = lseek(fd, 0, SEEK_END);
	must(size);
	plan = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
	    fd, 0);
	if (plan == MAP_FAILED)
		_exit(125);
	close(fd);
	return plan;
}
