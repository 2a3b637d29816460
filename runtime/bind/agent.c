/* See agent.h; the protocol is that of draft-ietf-sshm-ssh-agent. */
#include "runtime/bind/agent.h"

#include "runtime/base/file.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	PATIENCE = 2, /* seconds, for each step */
	LEN_SIZE = 4,
	REQUEST_IDENTITIES = 11,
	IDENTITIES_ANSWER = 12,
	FAILURE = 5,
	LEN_MAX = 262144,
};

/* A message is its length, in four bytes, and its kind.  Whoever speaks first,
 * or speaks HTTP, D-Bus or X11, begins otherwise. */
static bool
is_answer(const uint8_t bytes[LEN_SIZE + 1])
{
	uint32_t len = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	    (uint32_t)bytes[2] << 8 | bytes[3];

	if (len == 0 || len > LEN_MAX)
		return false;
	return bytes[LEN_SIZE] == FAILURE ||
	    bytes[LEN_SIZE] == IDENTITIES_ANSWER;
}

static bool
answers(int socket)
{
	static const uint8_t request[] = { 0, 0, 0, 1, REQUEST_IDENTITIES };
	uint8_t answer[LEN_SIZE + 1];

	return send(socket, request, sizeof request, MSG_NOSIGNAL) ==
	    (ssize_t)sizeof request &&
	    recv(socket, answer, sizeof answer, MSG_WAITALL) ==
	    (ssize_t)sizeof answer &&
	    is_answer(answer);
}

bool
agent_answers(int target)
{
	static const struct timeval patience = { .tv_sec = PATIENCE };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool found;

	if (fd < 0)
		return false;
	descriptor_path(name.sun_path, target);
	found = setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		    sizeof patience) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof patience) == 0 &&
	    connect(fd, (struct sockaddr *)&name, sizeof name) == 0 &&
	    answers(fd);
	close(fd);
	return found;
}
