/*
 * TCP at level standard, in the network of the host, for a policy that names
 * single ways out or wants a network of its own.  Landlock's rules have no
 * address, so it opens no port to connect to: the supervisor judges the address
 * and connects its copy of the socket.  It does listen(2) as well.  What is
 * meant for the sandbox itself, inside.h does.
 *
 * 127.0.0.1:3128 stands for sbx-proxy, which listens on a port of the kernel's
 * choice.  There it takes only connections from ports that it was told before.
 */
#ifndef SBX_INTERNET_H
#define SBX_INTERNET_H

#include "runtime/listen/caller.h"

/* An address and a port; one of IPv4 is ::ffff:a.b.c.d. */
struct endpoint {
	uint8_t address[SBX_ADDRESS_SIZE];
	uint16_t port;
};

enum { ADDRESS_V4_SIZE = 4 };
extern const uint8_t address_v4_prefix[SBX_ADDRESS_SIZE - ADDRESS_V4_SIZE];
extern const uint8_t address_here[ADDRESS_V4_SIZE]; /* 127.0.0.1 */

/* The socket's own name; false: it has none. */
bool internet_name(int socket, struct endpoint *endpoint);

/* Whether the socket is neither connected nor about to be. */
bool internet_is_closed(int socket);

/* Whether this kind of socket is judged here: TCP, where the policy says so. */
bool internet_is_judged(const struct listening *listening, int socket);

/* Judges the address of an attempt, and puts there what to connect to; 0 or a
 * negative errno. */
int internet_judge(const struct caller *caller, struct waiting *attempt);

/* listen(2) on the copy of a socket: its result. */
int internet_listen(const struct caller *caller, int socket);

/* Whether an attempt that has begun has come to an end. */
bool internet_is_ready(int socket);

#endif
