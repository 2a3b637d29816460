/*
 * The namespaces of level full: mounts, processes and System V IPC, and a user
 * namespace that gives the right to make them.  A caller that has the right
 * already (root outside of containers) gets no user namespace.
 */
#ifndef SBX_NAMESPACES_H
#define SBX_NAMESPACES_H

#include <sys/types.h>

enum own_network {
	NETWORK_OUTER,    /* no namespace for it */
	NETWORK_EMPTY,    /* one in which nothing can be reached */
	NETWORK_LOOPBACK, /* one in which lo is up */
};

/*
 * fork(2) into new namespaces; one for the network too if wanted.  In the
 * child it returns 0 with every capability over them; the child is their
 * process 1, dies with its parent, has tried that it may mount, and shares no
 * mount with anybody.  In the parent it returns the child's process id, or -1 where the machine does not
 * give all this; *why then says what is missing and what helps.
 */
pid_t namespaces_fork(enum own_network network, const char **why);

#endif
