/* The listener: system calls that the supervisor answers. */
#ifndef SBX_RUNTIME_LISTEN_LISTEN_H
#define SBX_RUNTIME_LISTEN_LISTEN_H

#include "format/model.h"
#include "runtime/bind/bind.h"
#include "runtime/explain/explain.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* --- diagnosis.c ------------------------------------------------------- */

/* A socket, by its number among all sockets and its cookie, which the kernel
 * gives to no other one. */
struct server {
	uint64_t cookie;
	uint32_t inode;
	/* Its place, where the kernel's numbers do not tell it: see servers.c.
	 * 0: they do. */
	uint64_t place, device;
};

/* What it is bound to. */
struct bound {
	/* 32 bits of the inode's number, and the file system, which stat(2)
	 * may call otherwise.  All 0: it has no place. */
	uint32_t inode, device;
	/* The path that bind(2) was given; "": it is abstract. */
	char name[sizeof((struct sockaddr_un *)NULL)->sun_path + 1];
};

/* The descriptor; -1 and errno. */
int diagnosis_open(void);

/* Whether one is what is looked for: of all that listen, or that one alone. */
typedef bool bound_is(const struct bound *bound, const void *wanted);
bool diagnosis_find(int diagnosis, const struct server *server, bound_is *is,
    const void *wanted);

/* The cookie of the socket that takes a connection to this address and port on
 * the loopback device; 0: none does. */
uint64_t diagnosis_listener(int diagnosis,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port);

/* --- objects.c --------------------------------------------------------- */

/*
 * System V's objects that the command has had made: shared memory, sets of
 * semaphores, message queues.  The list lies in memory that the supervisor
 * shares with the first process, so that the objects are removed though the
 * supervisor was killed.
 */

struct objects;

/* An empty list, before the supervisor forks. */
struct objects *objects_open(void);

/* Removes what is left of them; a list that is NULL has none. */
void objects_remove(struct objects *objects);

/* --- servers.c --------------------------------------------------------- */

struct caller;

enum { SERVERS_MAX = 128, TCP_SERVERS_MAX = 256, TCP_KEY_SIZE = 16 };

/* The servers of TCP, and the key of their sockets: see inside.c. */
struct tcp_servers {
	bool has_key;
	uint8_t key[TCP_KEY_SIZE];
	uint32_t count;
	struct tcp_server {
		uint64_t cookie;
		uint8_t address[SBX_ADDRESS_SIZE];
		uint16_t port;
	} list[TCP_SERVERS_MAX];
};

struct servers {
	/* By this one asks about the sockets of the sandbox's network. */
	int diagnosis;
	/* Those that the command has made in the host's network, or had; in one
	 * of its own, those whose place the kernel does not tell. */
	uint32_t count;
	struct server list[SERVERS_MAX];
	struct tcp_servers tcp;
};

/* In a process that is in the sandbox's network. */
void servers_open(struct servers *servers);

/* Whether the socket that is open here, O_PATH, belongs to a server inside.  If
 * it cannot be told, it does not. */
bool servers_have(const struct caller *caller, int target);

/* Whether it belongs to a server of the host that was bound to this very place:
 * what the command may write it may have brought there. */
bool servers_stand(int target, const char *path);

/* --- listen.c ---------------------------------------------------------- */

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
	bool internet; /* in the host's network: see internet.c */
	uint64_t id;
	int socket; /* our copy; -1: none yet */
	int target; /* what it connects to, O_PATH; -1: as in the address */
	/* Whose key the socket must have, NULL: none; see inside.c. */
	struct servers *servers;
	uint32_t len;
	union address address;
};

enum { ANSWERS_MAX = 64 };

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
	struct servers *servers; /* that the command has, see servers.c */
	/* The way by which the listener comes. */
	int send, receive;
	int listener; /* -1: it has not come yet, or all that used it ended */
	uint32_t *refused; /* calls, see answer_name(); or NULL */
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

/* The call that refused[index] counts, or NULL. */
const char *answer_name(uint32_t index);

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
