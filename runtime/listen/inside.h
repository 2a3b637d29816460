/*
 * TCP between processes of the sandbox at level standard, where the loopback
 * device is the host's.
 *
 * Whoever looks first whose server is there, and connects then, may come to
 * another one that has taken the port meanwhile.  So the kernel tells them
 * apart: the supervisor listens and connects for the command, and before that
 * gives the socket a key of this run (TCP_MD5SIG, RFC 2385).  The kernel drops
 * what comes without the key to a socket that has it, and what comes with a key
 * to a socket that has none.  The filter keeps the command from setting keys.
 *
 * Dropped is not refused: a client would wait for minutes.  So the supervisor
 * also knows the servers of the sandbox, and refuses where there is none.
 */
#ifndef SBX_RUNTIME_LISTEN_INSIDE_H
#define SBX_RUNTIME_LISTEN_INSIDE_H

#include "runtime/listen/internet.h"

/* Whether the address is one of the loopback device; if it is no address at
 * all, which means the same, it becomes one. */
bool inside_is_meant(struct endpoint *endpoint);

/* Whether somebody outside listens there. */
bool inside_is_taken(const struct caller *caller,
    const struct endpoint *endpoint);

/* Gives a socket the key, or takes it off; only a socket that listens may lose
 * it, since who connects needs it until the connection is made. */
bool inside_sign(struct servers *servers, int socket);
bool inside_unsign(int socket);

/* Makes a socket ready to be connected to a server of the sandbox there. */
int inside_connect(const struct caller *caller, int socket,
    const struct endpoint *endpoint);

/* listen(2) on a socket that has this name: its result. */
int inside_listen(const struct caller *caller, int socket,
    const struct endpoint *endpoint);

#endif
