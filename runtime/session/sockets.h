/*
 * Where sessions are found: a directory of the user's own (scratch_sessions()),
 * in which each has a socket of its name.
 *
 * Who makes or removes one of these sockets holds a lock on the directory; who
 * joins needs none.  A socket whose keeper was killed refuses connections, and
 * the next one to make a session of that name removes it.
 */
#ifndef SBX_SOCKETS_H
#define SBX_SOCKETS_H

#include <stdint.h>

/* These give -1 and errno where they fail. */

/* The directory, if there is one. */
int sockets_open(void);

/* The directory, made if it is missing, with its lock; closing it gives the
 * lock back. */
int sockets_lock(void);

/* Gives the lock back, and removes the directory if it is empty. */
void sockets_unlock(int directory);

/* A connection to the session; ENOENT, ECONNREFUSED: there is none. */
int sockets_connect(int directory, const char *name);

/* A socket that listens, in place of one that nobody listens on any more.  The
 * caller has the lock. */
int sockets_listen(int directory, const char *name);

/* The inode of a session's socket, or 0.  sockets_remove() takes the lock, and
 * removes the socket if it still is that one: a socket that refuses connections
 * may have been replaced.  sockets_clean() removes one whose keeper was
 * killed. */
uint64_t sockets_inode(int directory, const char *name);
void sockets_remove(const char *name, uint64_t inode);
void sockets_clean(const char *name);

#endif
