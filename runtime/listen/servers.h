/*
 * Whose a server is that listens at a path.  A socket in what the command may
 * write can be that of a program outside, and then nobody may connect to it.
 *
 * Whoever connects first and asks then who has answered (SO_PEERCRED) is too
 * late: another thread of the command would have sent something meanwhile.  So
 * the kernel is asked before, which tells the inode that a socket is bound to
 * (sock_diag(7)).  In a network of the sandbox's own all that listens is
 * inside.  In the host's, the listen(2) of the command comes here, and the
 * socket's cookie is kept, which the kernel gives to no other socket.
 *
 * Where the kernel's numbers do not tell the inode, the place of a socket is
 * found out when it begins to listen.
 */
#ifndef SBX_SERVERS_H
#define SBX_SERVERS_H

#include "format/addresses.h"
#include "runtime/listen/diagnosis.h"

struct caller;

enum { SERVERS_MAX = 128, TCP_SERVERS_MAX = 256, TCP_KEY_SIZE = 16 };

/* The servers of TCP, and the key of their sockets: see inside.h. */
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

#endif
