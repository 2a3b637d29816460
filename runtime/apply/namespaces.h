/*
 * The namespaces of level full: for mounts, processes, System V IPC and mostly
 * the network, and a user namespace, which gives the right to make the others.
 * A caller that has this right already (root outside of containers) gets no
 * user namespace.
 */
#ifndef SBX_NAMESPACES_H
#define SBX_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

enum own_network {
	NETWORK_OUTER,    /* no namespace for it */
	NETWORK_EMPTY,    /* one in which nothing can be reached */
	NETWORK_LOOPBACK, /* one in which lo is up */
};

/*
 * Forks into new namespaces; one for the network too if it is wanted, and one
 * for users, which others make only if they must, with `own_user`.  In the
 * child it returns 0: the child is their process 1, has every capability over
 * them, dies with its parent, may mount, and shares no mount with anybody.  In
 * the parent it returns the child's process id, or -1 where the machine does
 * not offer all this; then *why says what is missing and what helps.  A
 * shortage is no such answer: it refuses (125).
 */
pid_t namespaces_fork(enum own_network network, bool own_user,
    const char **why);

/* Gives the calling process mounts of its own, which it shares with nobody, if
 * it may: NULL, or what it could not do, with errno. */
const char *namespaces_own_mounts(void);

#endif
