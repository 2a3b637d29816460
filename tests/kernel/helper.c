/*
 * Stands in for the sbxc that sbxrun asks about denials: it tries to change the
 * file `kept` beside it, and says in its answer what came of it.
 */
#include "format/protocol.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *
word(int result)
{
	return result >= 0  ? "done" :
	    errno == EACCES ? "denied" :
			      strerror(errno);
}

static const char *
try_connection(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return word(
	    fd < 0 ? fd : connect(fd, (const struct sockaddr *)&to, sizeof to));
}

int
main(void)
{
	struct sbx_advice advice = { .works = 0 };
	struct sbx_explained head;
	struct sbx_denial denial;
	int last;
	char path[SBX_MAX_PATH + 8] = "", other[SBX_MAX_PATH + 16];

	if (readlink("/proc/self/exe", path, SBX_MAX_PATH) <= 0)
		return 1;
	memcpy(strrchr(path, '/'), "/kept", sizeof "/kept");
	snprintf(other, sizeof other, "%s~", path);
	snprintf(advice.rule, sizeof advice.rule,
	    "truncate %s, write %s, make %s, read %s, connect %s",
	    word(truncate(path, 0)), word(open(path, O_WRONLY)),
	    word(mkdir(other, 0700)), word(open("/proc/self/exe", O_RDONLY)),
	    try_connection());
	if (read(STDIN_FILENO, &head, sizeof head) != (ssize_t)sizeof head)
		return 1;
	while (read(STDIN_FILENO, &denial, sizeof denial) ==
	    (ssize_t)sizeof denial) {
		if (write(STDOUT_FILENO, &advice, sizeof advice) < 0)
			return 1;
	}
	last = dprintf(STDOUT_FILENO, "%s\n", advice.rule);
	return last < 0;
}
