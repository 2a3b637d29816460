/*
 * Whether an agent of ssh answers (runtime/bind/agent.c), and whoever does not
 * answer at all: each step has its patience, which is a moment here.
 */
#include "runtime/bind/bind.h"

#include "format/protocol.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOMENT = 50000 /* microseconds */, LATE = 10 /* seconds */ };

static struct tap tap;
static struct sockaddr_un address = { .sun_family = AF_UNIX };

/* In place of libc's. */
int
setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	const struct timeval *given = value;
	const struct timeval moment = { .tv_usec = MOMENT };

	if (size == sizeof moment && given->tv_sec == SBX_AGENT_PATIENCE)
		value = &moment;
	return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

static int
listen_there(int waiting)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(address.sun_path);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(fd, waiting) != 0)
		abort();
	return fd;
}

static bool
asks(void)
{
	int target = open(address.sun_path, O_PATH | O_CLOEXEC);
	bool found = agent_answers(target);

	close(target);
	return found;
}

/* Who takes one connection, reads the question and says these bytes. */
static pid_t
serve(int server, const uint8_t *bytes, size_t len)
{
	pid_t child = fork();
	uint8_t question[SBX_AGENT_SIZE];
	int client;

	if (child != 0)
		return child;
	client = accept(server, NULL, NULL);
	if (client < 0 ||
	    recv(client, question, sizeof question, MSG_WAITALL) !=
		sizeof question ||
	    memcmp(question, sbx_agent_request, sizeof question) != 0 ||
	    send(client, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
		_exit(1);
	_exit(0);
}

static void
answers(const char *name, const uint8_t *bytes, size_t len, bool is)
{
	int server = listen_there(1), status;
	pid_t child = serve(server, bytes, len);
	bool found = asks();

	tap_ok(&tap,
	    waitpid(child, &status, 0) == child && status == 0 && found == is,
	    "%s", name);
	close(server);
}

/* It would be waited for until the alarm. */
static void
test_silent(void)
{
	struct sockaddr *any = (struct sockaddr *)&address;
	int server = listen_there(0), others[2];

	alarm(LATE);
	tap_ok(&tap, !asks(), "who takes no connection");
	for (int i = 0; i < 2; i++) {
		others[i] = socket(AF_UNIX,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (others[i] < 0)
			abort();
		connect(others[i], any, sizeof address);
	}
	tap_ok(&tap, !asks(), "who has no room for one");
	alarm(0);
	for (int i = 0; i < 2; i++)
		close(others[i]);
	close(server);
	tap_ok(&tap, !asks(), "who has ended");
}

int
main(void)
{
	static const uint8_t keys[] = { 0, 0, 0, 5, SBX_AGENT_IDENTITIES },
			     failure[] = { 0, 0, 0, 1, SBX_AGENT_FAILURE },
			     other[] = { 'H', 'T', 'T', 'P', '/' };
	char directory[] = "/tmp/sbx-agent-XXXXXX";

	if (mkdtemp(directory) == NULL)
		abort();
	snprintf(address.sun_path, sizeof address.sun_path, "%s/s", directory);
	answers("an agent", keys, sizeof keys, true);
	answers("one that has no keys to show", failure, sizeof failure, true);
	answers("another service", other, sizeof other, false);
	answers("a part of an answer", keys, sizeof keys - 1, false);
	test_silent();
	unlink(address.sun_path);
	rmdir(directory);
	return tap_done(&tap);
}
