/*
 * See here.h: agents of ssh.  The loader asks in the same way, in
 * runtime/bind/agent.c.
 */
#include "compiler/query/here.h"
#include "format/agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int
open_place(struct sbx_place place)
{
	char path[SBX_MAX_PATH + 1];

	if (place.len >= sizeof path)
		return -1;
	snprintf(path, sizeof path, "%.*s", (int)place.len, place.path);
	return open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

bool
here_is_own_socket(struct sbx_place place)
{
	int fd = open_place(place);
	struct stat status;
	bool is = fd >= 0 && fstat(fd, &status) == 0 &&
	    S_ISSOCK(status.st_mode) && status.st_uid == geteuid();

	if (fd >= 0)
		close(fd);
	return is;
}

static bool
answers(int fd)
{
	uint8_t answer[SBX_AGENT_SIZE];

	return send(fd, sbx_agent_request, sizeof sbx_agent_request,
		   MSG_NOSIGNAL) == (ssize_t)sizeof sbx_agent_request &&
	    recv(fd, answer, sizeof answer, MSG_WAITALL) ==
	    (ssize_t)sizeof answer &&
	    sbx_agent_is_answer(answer);
}

bool
here_agent_answers(struct sbx_place place)
{
	static const struct timeval patience = { .tv_sec = SBX_AGENT_PATIENCE };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int target = open_place(place);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool found;

	/* The name of a socket is shorter than a path can be. */
	snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d",
	    target);
	found = target >= 0 && fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof patience) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof patience) == 0 &&
	    connect(fd, (const struct sockaddr *)&name, sizeof name) == 0 &&
	    answers(fd);
	if (target >= 0)
		close(target);
	if (fd >= 0)
		close(fd);
	return found;
}
