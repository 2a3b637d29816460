/*
 * How one tells an agent of ssh from other services: the question for its keys
 * and the beginning of the answer, as in draft-ietf-sshm-ssh-agent.  A message
 * is its length, in four bytes, and its kind.
 */
#ifndef SBX_FORMAT_AGENT_H
#define SBX_FORMAT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SBX_AGENT_REQUEST = 11, /* for its identities */
	SBX_AGENT_IDENTITIES = 12,
	SBX_AGENT_FAILURE = 5,
	SBX_AGENT_SIZE = 5, /* of a request, and of what tells of an answer */
	SBX_AGENT_LEN_MAX = 262144,
	SBX_AGENT_PATIENCE = 2, /* seconds, for each step */
};

static const uint8_t sbx_agent_request[SBX_AGENT_SIZE] = { 0, 0, 0, 1,
	SBX_AGENT_REQUEST };

/* Whoever speaks first, or speaks HTTP, D-Bus or X11, begins otherwise. */
static inline bool
sbx_agent_is_answer(const uint8_t bytes[SBX_AGENT_SIZE])
{
	uint32_t len = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	    (uint32_t)bytes[2] << 8 | bytes[3];

	if (len == 0 || len > SBX_AGENT_LEN_MAX)
		return false;
	return bytes[SBX_AGENT_SIZE - 1] == SBX_AGENT_FAILURE ||
	    bytes[SBX_AGENT_SIZE - 1] == SBX_AGENT_IDENTITIES;
}

#endif
