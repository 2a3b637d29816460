/*
 * What the machine offers, and the level that follows from it.
 */
#ifndef SBX_RUNTIME_BASE_MACHINE_H
#define SBX_RUNTIME_BASE_MACHINE_H

#include "runtime/base/kernel.h"

struct machine {
	int landlock_abi;   /* 0: none */
	int landlock_error; /* errno if none */
	bool seccomp;
	bool namespaces; /* worth a try; namespaces_fork() knows */
};

void machine_probe(struct machine *machine);

/* The highest level that the machine may give: full shows when it is tried. */
enum sbx_level machine_level(const struct machine *machine);

/*
 * Whether the kernel counts the processes of the caller for RLIMIT_NPROC: not
 * those of the machine's own root, but those of a root that is somebody else
 * outside of its user namespace.
 */
bool machine_counts_processes(void);

/* The owner that the kernel shows where the user namespace has no number for
 * the real one; kernel.overflowuid, as it is unless somebody changed it. */
enum { OVERFLOW_UID = 65534 };

/* Whether that number is nobody else's here: the caller's user namespace has no
 * such user. */
bool machine_hides_owners(void);

const char *level_name(enum sbx_level level);

#endif
