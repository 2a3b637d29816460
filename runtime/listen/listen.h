/*
 * The seccomp listener.  Below level full, and at full where services of the host
 * may listen in what is only read, a filter hands some system calls of the
 * command (format/trapped.def) to the supervisor, which is outside of the
 * sandbox and answers each after it has done what the call asks for itself.
 *
 *	the command: connect("x")  --filter-->  waits
 *	the supervisor: reads "x" once, opens what it names, asks the model,
 *	    connects its own copy of the socket to that  --answer-->  goes on
 *
 * What was judged is what is used, because it was opened before it was judged.
 * No call that names something by a path or an address is let go on by itself;
 * objects.c says which others are.  What cannot be read, opened or judged is
 * refused.  The supervisor waits for nobody inside: see connect.c.
 *
 * The kernel has room for one listener in all the filters of a process.
 */
#ifndef SBX_LISTEN_H
#define SBX_LISTEN_H

#include "runtime/bind/bind.h"
#include "runtime/explain/explain.h"
#include "runtime/listen/objects.h"
#include "runtime/listen/servers.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

struct network;

/* connect(2)s that wait for the other side; beyond, EAGAIN is the answer. */
enum { LISTEN_MAX_WAITING = 64 };

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* One of them: what was judged, and the call that wants to know. */
struct waiting {
	bool used;
	bool internet; /* in the host's network: see internet.h */
	uint64_t id;
	int socket; /* our copy; -1: none yet */
	int target; /* what it connects to, O_PATH; -1: as in the address */
	/* Whose key the socket must have, NULL: none; see inside.h. */
	struct servers *servers;
	uint32_t len;
	union address address;
};

struct listening {
	bool on;
	const struct binding *binding; /* made before the supervisor forked */
	/* At level full: the command sees other mounts, which tell what it may
	 * write, and maybe no network but its own. */
	bool view, own_network;
	bool abstract; /* the policy opens the host's abstract names */
	bool set_id;   /* and lets files have set-ID bits */
	struct objects *objects; /* of System V; NULL at level full */
	bool answers;            /* the policy's filter has calls for it, too */
	struct explaining *explaining; /* NULL: nothing is */
	/* Below level full: the policy names single ways out; and where
	 * sbx-proxy is, if it has names. */
	bool selected;
	struct network *network;
	/* Below level full: the policy wants a network of its own, so the
	 * command may connect to its own servers of TCP. */
	bool inside;
	/* The rules about sockets: the binding's; and the same where the
	 * scratch directory is seen as /tmp, which the first process tells. */
	const struct sbx_rule *sockets, *moved_sockets;
	bool moved;
	uint32_t socket_count;
	struct servers *servers; /* that the command has, see servers.h */
	/* The way by which the listener comes. */
	int send, receive;
	int listener; /* -1: it has not come yet, or all that used it ended */
	uint32_t turn, waiting_count;
	struct waiting waiting[LISTEN_MAX_WAITING];
};

/*
 * Why this process cannot have a listener, or not look into the command; and
 * why it cannot copy the command's descriptors, without which it connects
 * nothing, knows no servers and adds no watches, but answers all the rest.
 * NULL: it can.
 */
struct listen_obstacles {
	const char *listening, *copying;
	bool nested; /* another supervisor answers for its own policy */
};
struct listen_obstacles listen_obstacles(void);

/* Makes the way for the listener. */
void listen_open(struct listening *listening);

/* In the command: hands the listener over, with the number of the filter that it
 * is of, and closes both. */
void listen_send(const struct listening *listening, int listener,
    uint32_t program);

/* In the first process: closes the way. */
void listen_forget(const struct listening *listening);

/* Closes what a binding has open; the command's process has copies. */
void listen_close_places(const struct binding *binding);

/* In the supervisor.  From here on it has no more rights than the command. */
void listen_begin(struct listening *listening);

/* The same in the keeper of a session, which is no process above the commands
 * and gets their listeners, and what to ask about their sockets by (or -1), by
 * another way; and what to keep of one of them. */
void listen_keep(struct listening *listening, int *diagnosis);
struct listening listen_taken(int listener, const struct listening *first);

/* What to wait for; the milliseconds after which to look again, -1: none; and
 * what to do then. */
struct pollfd listen_wait(const struct listening *listening);
int listen_patience(const struct listening *listening);
void listen_serve(struct listening *listening, const struct pollfd *wait);

#endif
