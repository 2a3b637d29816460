/*
 * What the kernel tells of sockets that listen (sock_diag(7)), in the
 * network of whoever opened the descriptor to ask by.
 */
#ifndef SBX_DIAGNOSIS_H
#define SBX_DIAGNOSIS_H

#include "format/addresses.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

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

#endif
