/*
 * What a loader asks of the kernel, written down: record.c watches sbxrun and
 * writes a plan, minload.c carries it out.  A plan is one file in the order
 * of these structures: the header, `rules` records, `insns` instructions of
 * eight bytes.  It is only read on the machine that wrote it.
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
};

enum { PLAN_PATH = 1, PLAN_PORT = 2 }; /* enum landlock_rule_type */

struct plan_rule {
	uint64_t access;
	uint64_t port;
	uint32_t type;
	uint32_t size; /* bytes of the path with its NUL, padded to 8 */
	char path[];
};

#endif
