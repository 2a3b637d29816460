/*
 * A control group (cgroups(7), version 2) for the command and all that it
 * starts.  It holds what no process can hold alone: how many there are, and
 * their memory taken together.
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
	const char *why;  /* there is no D, or it does not offer all */
	char name[CGROUP_NAME_SIZE];
};

/* What became of all processes together; UINT64_MAX: the kernel cannot say. */
struct cgroup_usage {
	uint64_t memory;  /* bytes at the peak */
	uint64_t killed;  /* by the limit on memory */
	uint64_t refused; /* forks, by the limit on processes */
};

/* The policy's limits that a group holds better than rlimits at this level. */
uint32_t cgroup_wanted(const struct sbx_blob *blob, enum sbx_level level);

/* No group; then, looks for D and switches its controllers on.  `begin` makes
 * the name of ours unlike any other.  What was found can be forgotten. */
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

/* Removes ours, killing what is left in it; false if it would not go.  Where
 * it is not there nothing happens. */
bool cgroup_remove(const struct cgroup *group);

/* For a description of the machine: NULL if all limits could be held, else why
 * not and what to do. */
const char *cgroup_try(void);

void cgroup_measure(const struct cgroup *group, struct cgroup_usage *usage);

#endif
