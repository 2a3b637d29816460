/*
 * Stands in for sbx-proxy: what the supervisor does for it is tried without
 * names, addresses or another machine.  It tells whoever connects to which
 * address and port that was, answers datagrams, and reports each.  Who sends
 * "die" ends it, "fork" leaves a child behind, "path" is told the path of the
 * user's proxy, and "state" how it was started.
 */
#include "runtime/network/event.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { POLICY = 3, EVENTS, CONTROL, INSIDE, TLS, SOCKETS, MOST = 64 };

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

static void
name_of(const struct sockaddr_storage *address, struct proxy_event *event)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	const void *bytes = address->ss_family == AF_INET ?
	    (const void *)&v4->sin_addr :
	    (const void *)&v6->sin6_addr;

	inet_ntop(address->ss_family, bytes, event->name, sizeof event->name);
	event->port = ntohs(
	    address->ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
}

static void
report(int fd, uint8_t via, char *text, size_t size)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof address;
	struct proxy_event event = { .version = PROXY_EVENT_VERSION,
		.via = via,
		.verdict = via == PROXY_BY_RESOLVER ? PROXY_NO_RULE :
						      PROXY_ALLOWED,
		.rule = PROXY_NO_RULE_INDEX };

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		exit(1);
	name_of(&address, &event);
	snprintf(text, size, "%s %u\n", event.name, event.port);
	send(EVENTS, &event, sizeof event, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
describe(char *text, size_t size)
{
	char cwd[64] = "elsewhere";
	int variables = 0, ignored = 0, blocked = 0;
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct sigaction action;
	struct rlimit files;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number < 32; number++) {
		blocked += sigismember(&mask, number);
		ignored += sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN;
	}
	while (environ[variables] != NULL)
		variables++;
	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(text, size,
	    "in %s, %s, %d variables, %d ignored, %d blocked, %s, %s\n",
	    getcwd(cwd, sizeof cwd) != NULL ? cwd : "none",
	    getsid(0) == getpid() ? "alone" : "in a session", variables,
	    ignored, blocked,
	    files.rlim_cur == files.rlim_max ? "all files" : "some files",
	    (fcntl(program, F_GET_SEALS) & SEALS) == SEALS ? "sealed" : "open");
	close(program);
}

static void
serve(int listener, const char *path)
{
	char text[PROXY_EVENT_NAME + 16], asked[16] = "";
	int fd = accept(listener, NULL, NULL);
	ssize_t got;

	if (fd < 0)
		return;
	report(fd, PROXY_BY_ADDRESS, text, sizeof text);
	got = recv(fd, asked, sizeof asked - 1, 0);
	if (got > 0 && strncmp(asked, "die", 3) == 0)
		abort();
	if (got > 0 && strncmp(asked, "fork", 4) == 0 && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	if (got > 0 && strncmp(asked, "path", 4) == 0)
		snprintf(text, sizeof text, "%s\n", path);
	if (got > 0 && strncmp(asked, "state", 5) == 0)
		describe(text, sizeof text);
	if (write(fd, text, strlen(text)) < 0)
		perror("standin");
	close(fd);
}

static void
answer(int fd)
{
	char text[PROXY_EVENT_NAME + 16];
	struct sockaddr_storage peer;
	socklen_t len = sizeof peer;

	if (recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&peer, &len) <
	    0)
		return;
	report(fd, PROXY_BY_RESOLVER, text, sizeof text);
	sendto(fd, text, strlen(text), 0, (struct sockaddr *)&peer, len);
}

static int
type_of(int fd)
{
	int type = 0;
	socklen_t size = sizeof type;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	return type;
}

int
main(int argc, char **argv)
{
	struct pollfd wait[MOST + 1] = { { CONTROL, POLLIN, 0 } };
	nfds_t count = 1;
	char told[2];

	/* Nobody changes the policy that it has. */
	if ((fcntl(POLICY, F_GET_SEALS) & SEALS) != SEALS)
		return 1;
	for (int fd = SOCKETS; count <= MOST && type_of(fd) != 0; fd++)
		wait[count++] = (struct pollfd){ fd, POLLIN, 0 };
	for (;;) {
		if (poll(wait, count, -1) < 0 && errno != EINTR)
			return 1;
		/* At level standard it is told who comes. */
		if (wait[0].revents != 0 &&
		    recv(CONTROL, told, sizeof told, MSG_DONTWAIT) <= 0)
			return 0;
		for (nfds_t i = 1; i < count; i++) {
			if (wait[i].revents == 0)
				continue;
			if (type_of(wait[i].fd) == SOCK_DGRAM)
				answer(wait[i].fd);
			else
				serve(wait[i].fd, argc > 2 ? argv[2] : "none");
		}
	}
}
