/*
 * What a loader asks of the kernel, written down: record.c watches sbxrun and
 * writes a plan, minload.c carries it out.  A plan is one file in the order
 * of these structures: the header, `rules` records, `steps` records, `insns`
 * instructions of eight bytes.  It is only read on the machine that wrote it.
 */
#ifndef SBX_BENCH_PLAN_H
#define SBX_BENCH_PLAN_H

#include <stdint.h>

struct plan {
	uint32_t rules;
	uint32_t insns;
	uint32_t attr_size;      /* of landlock_ruleset_attr */
	uint32_t restrict_flags; /* of landlock_restrict_self(2) */
	uint32_t filter_flags;   /* of seccomp(2) */
	uint32_t layers;         /* rulesets that were made: 0 or 1 */
	uint64_t attr[4];
	uint64_t namespaces;   /* CLONE_NEW*, or 0: no view either */
	uint32_t steps;        /* of making the view */
	uint32_t capabilities; /* how many were dropped one by one */
};

enum { PLAN_PATH = 1, PLAN_PORT = 2 }; /* enum landlock_rule_type */

struct plan_rule {
	uint64_t access;
	uint64_t port;
	uint32_t type;
	uint32_t size; /* bytes of the path with its NUL, padded to 8 */
	char path[];
};

enum plan_step_kind {
	STEP_DIRECTORY,
	STEP_FILE,
	STEP_LINK, /* to `from` */
	STEP_BIND, /* of `from` */
	STEP_OWN,  /* of the root's own directory there */
	STEP_NEW,  /* of a file system of type `from` */
	STEP_PTMX, /* of the one in the new /dev/pts */
};

/* `at` is relative to the new root. */
struct plan_step {
	uint64_t attributes; /* MOUNT_ATTR_* */
	uint32_t kind;
	uint32_t at_size, from_size; /* with their NULs, padded to 8 */
	uint32_t unused;
	char text[]; /* at, from */
};

/* What carries a plan out ends with status 125 where it cannot. */
void must(long value);

const struct plan *plan_read(const char *path);

/* The ruleset as a descriptor, of the rules that begin at `at`. */
int plan_ruleset(const struct plan *plan, const char *at);

/* What follows the rules, and what follows the steps after them. */
const char *plan_after_rules(const struct plan *plan, const char *at);
const char *plan_after_steps(const struct plan *plan, const char *at);

#endif
