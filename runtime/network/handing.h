/*
 * Many descriptors in one message, over a socket that keeps messages apart.
 */
#ifndef SBX_NETWORK_HANDING_H
#define SBX_NETWORK_HANDING_H

#include "format/blob.h"

#include <stdbool.h>

enum { HANDING_MAX = SBX_MAX_WAYS + 1 };

struct handing {
	uint32_t count;
	int descriptors[HANDING_MAX];
};

/* False with errno. */
bool handing_send(int socket, const struct handing *handing);

/*
 * Waits for the message; the descriptors are closed by execve(2), and none of
 * them has the number of a standard stream.  No descriptors and true: the other
 * end was closed.
 */
bool handing_receive(int socket, struct handing *handing);

#endif
