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
#ifndef SBX_CGROUP_H
#define SBX_CGROUP_H

#include "format/model.h"

#include <sys/types.h>
#include <time.h>

enum { CGROUP_NAME_SIZE = 48 };

struct cgroup {
	int parent;       /* D, or -1 */
	int own;          /* ours, where it was made, or -1 */
	uint32_t offered; /* what D can hold: 1 << SBX_LIMIT_... each */
	uint32_t held;    /* what ours does hold */
	const char *why;  /* why there is no D, or it does not offer all */
	char name[CGROUP_NAME_SIZE];
};

/* What the kernel counted of all processes; UINT64_MAX: it does not say. */
struct cgroup_usage {
	uint64_t memory;  /* bytes at the peak */
	uint64_t killed;  /* by the limit on memory */
	uint64_t refused; /* forks, by the limit on processes */
};

/* The limits of the policy that a group enforces better than rlimits do at this
 * level: a bit for each kind. */
uint32_t cgroup_wanted(const struct sbx_blob *blob, enum sbx_level level);

/*
 * cgroup_init() makes it no group.  cgroup_find() looks for D and switches its
 * controllers on; `begin` makes the name of ours unlike any other.
 * cgroup_forget() goes back to no group.
 */
void cgroup_init(struct cgroup *group);
void cgroup_forget(struct cgroup *group);
void cgroup_find(struct cgroup *group, uint32_t wanted, struct timespec begin);

/* Makes ours and sets the limits that are wanted and offered. */
void cgroup_make(struct cgroup *group, const struct sbx_blob *blob,
    uint32_t wanted);

/* fork(2), into our group if there is one; refuses if that cannot be done. */
pid_t cgroup_fork(const struct cgroup *group);

/* Kills all that is in our group. */
void cgroup_kill(const struct cgroup *group);

/* Kills what is left in our group and removes it; false if that fails, true if
 * there is none. */
bool cgroup_remove(const struct cgroup *group);

/* For --status: NULL if a group could enforce all limits, else why not, and
 * what to do. */
const char *cgroup_try(void);

void cgroup_measure(const struct cgroup *group, struct cgroup_usage *usage);

#endif
