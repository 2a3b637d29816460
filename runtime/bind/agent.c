/*
 * Whether an agent of ssh listens at a socket.
 */
#include "runtime/bind/bind.h"

#include "format/protocol.h"
#include "runtime/base/files.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static bool
answers(int socket)
{
	uint8_t answer[SBX_AGENT_SIZE];

	return send(socket, sbx_agent_request, sizeof sbx_agent_request,
		   MSG_NOSIGNAL) == (ssize_t)sizeof sbx_agent_request &&
	    recv(socket, answer, sizeof answer, MSG_WAITALL) ==
	    (ssize_t)sizeof answer &&
	    sbx_agent_is_answer(answer);
}

bool
agent_answers(int target)
{
	static const struct timeval patience = { .tv_sec = SBX_AGENT_PATIENCE };
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
