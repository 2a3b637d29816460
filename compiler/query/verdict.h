/*
 * What a policy says of one access: the one place where policies are asked.
 * why, test and diff get their answers here; the answers come from the model
 * in format/model.h and, for system calls, from running the filter itself.
 */
#ifndef SBX_VERDICT_H
#define SBX_VERDICT_H

#include "compiler/lower/filter.h"
#include "compiler/query/access.h"

/* A compiled policy where it is to run. */
struct subject {
	struct places places;    /* holds the blob */
	const struct arch *arch; /* whose rules and filters count */
	enum sbx_level level;
	int abi; /* of Landlock; 0: the newest known */
};

/* Which table of the blob holds what decided. */
enum verdict_by {
	BY_NOTHING,    /* no rule is about it */
	BY_EVERYTHING, /* allow everything */
	BY_PATH,
	BY_PORT,
	BY_NETWORK,    /* network full or loopback, allowed or denied */
	BY_OLD_KERNEL, /* no TCP socket opens below Landlock ABI 4 */
	BY_ENV,
	BY_SET,     /* set env: the value is the policy's own */
	BY_SCRATCH, /* TMPDIR, which leads to the scratch directory */
	BY_SYSCALL, /* its record in the blob, of a rule or the baseline */
	BY_MACHINE, /* it has no such system call */
};

struct verdict {
	bool allowed;
	bool preferred;  /* a `prefer deny` decided */
	bool depends;    /* a system call: on its arguments */
	bool unenforced; /* denied, and nothing at this level holds it */
	enum verdict_by by;
	uint32_t rule;   /* index into that table, for paths, ports, env, set
	                   * and syscalls */
	uint32_t source; /* where it is written, or SBX_NO_SOURCE */
	uint32_t answer; /* of the filter, for a system call that it denies */
};

struct verdict verdict_of(const struct subject *subject,
    const struct access *access);

/* The record of a system call on a machine; NULL if the blob has none. */
const struct sbx_syscall *verdict_syscall(const struct sbx_blob *blob,
    const struct arch *arch, const char *name);

/* The filter that the loader takes, see struct sbx_program; NULL if none. */
const struct sbx_program *verdict_program(const struct subject *subject);

#endif
