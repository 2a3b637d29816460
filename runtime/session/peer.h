/*
 * Who is at the other end of a session's socket.  A sandbox may hold a place in
 * which sockets lie, and must neither join a session nor pass for a keeper.
 */
#ifndef SBX_PEER_H
#define SBX_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How confined a process is: what its /proc/PID/status says of no_new_privs and
 * of filters. */
struct standing {
	char text[96]; /* "": it cannot be read */
};

extern const char peer_unknown[]; /* what is wrong then, of this process */

void standing_read(struct standing *standing, const char *process);

/*
 * NULL if the process that called connect(2), or for a keeper listen(2), is
 * alive, of the same user, and as confined as `own`, or as this process if that
 * is NULL.  Of a keeper, for whoever has a pidfd of itself: and in the same
 * namespaces.  Else what is wrong, with errno or 0.
 */
const char *peer_fault(int socket, const struct standing *own, int self);

/* The number of the UTS namespace of this process; 0: it cannot be told. */
uint64_t peer_own_tag(int self);

/* Its number.  From here on what it sends tells who sends it. */
pid_t peer_process(int socket);

/* Whether that process has ended. */
bool peer_is_gone(int socket);

/*
 * Whether a process that is not reaped runs, or may.  One that is ending has no
 * memory any more, while the kernel has process 1 of a namespace wait for all
 * others to end: nothing new starts then, and its pidfd does not yet say that it
 * has ended.
 */
bool process_runs(pid_t process);

#endif
