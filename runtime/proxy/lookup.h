/*
 * What the proxy and the process that looks names up say to each other, a
 * message each.
 */
#ifndef SBX_PROXY_LOOKUP_H
#define SBX_PROXY_LOOKUP_H

#include "runtime/proxy/proxy.h"

enum lookup_outcome { LOOKUP_FOUND, LOOKUP_NO_SUCH_NAME, LOOKUP_FAILED };

struct lookup_query {
	uint64_t id;
	char name[SBX_NAME_SIZE];
};

struct lookup_answer {
	uint64_t id;
	uint8_t outcome; /* enum lookup_outcome */
	uint8_t count;
	uint8_t addresses[ADDRESSES_MAX][SBX_ADDRESS_SIZE];
};

/* The process; it ends when the socket does. */
void lookup_serve(int socket) __attribute__((noreturn));

#endif
