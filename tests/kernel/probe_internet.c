/*
 * What the probe does with TCP by address, where a supervisor may answer.
 */
#include "tests/kernel/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 500, CROWD = 200 };

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
	socklen_t len;
};

static struct address
address_of(const char *host, const char *port)
{
	struct address address = { .len = sizeof address.in6 };

	if (inet_pton(AF_INET6, host, &address.in6.sin6_addr) == 1) {
		address.in6.sin6_family = AF_INET6;
		address.in6.sin6_port = htons((uint16_t)number(port));
		return address;
	}
	address.len = sizeof address.in;
	if (inet_pton(AF_INET, host, &address.in.sin_addr) != 1)
		misuse("no address:", host);
	address.in.sin_family = AF_INET;
	address.in.sin_port = htons((uint16_t)number(port));
	return address;
}

static int
tcp(const struct address *address, int flags)
{
	return socket(address->any.sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* For others to be connected to, while the parent lives: sends a byte. */
static int
try_serve_at(char **words, int count)
{
	struct address address = address_of(words[0], words[1]);
	int fd = tcp(&address, 0), one = 1;

	(void)count;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (bind(fd, &address.any, address.len) != 0 || listen(fd, 1000) != 0)
		return errno;
	say("ready");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client >= 0 && send(client, "x", 1, MSG_NOSIGNAL) == 1)
			close(client);
	}
}

static int
greeted(int fd)
{
	char byte = 0;

	return recv(fd, &byte, 1, 0) == 1 && byte == 'x' ? 0 : EPROTO;
}

static int
try_greet(char **words, int count)
{
	struct address address = address_of(words[0], words[1]);
	int fd = tcp(&address, 0), error;

	(void)count;
	if (fd < 0)
		return errno;
	error = connect(fd, &address.any, address.len) != 0 ? errno :
							      greeted(fd);
	close(fd);
	return error;
}

/* With a socket of the other family. */
static int
try_greet_mixed(char **words, int count)
{
	struct address address = address_of(words[0], words[1]);
	int family = address.any.sa_family == AF_INET ? AF_INET6 : AF_INET;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	(void)count;
	error = connect(fd, &address.any, address.len) != 0 ? errno :
							      greeted(fd);
	close(fd);
	return error;
}

/* Without waiting: the answer comes by poll(2) and SO_ERROR. */
static int
try_greet_later(char **words, int count)
{
	struct address address = address_of(words[0], words[1]);
	int fd = tcp(&address, SOCK_NONBLOCK), error = 0;
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof error;

	(void)count;
	if (connect(fd, &address.any, address.len) != 0 && errno != EINPROGRESS)
		return errno;
	if (poll(&wait, 1, 20000) != 1 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return EPROTO;
	if (error != 0)
		return error;
	return fcntl(fd, F_SETFL, 0) == 0 ? greeted(fd) : errno;
}

/* Another process writes one address, then the other, while it is judged: "ok" if
 * the second one, which is denied, is ever reached. */
static int
try_greet_switch(char **words, int count)
{
	struct address *shared = mmap(NULL, sizeof *shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct address both[2] = { address_of(words[0], words[1]),
		address_of(words[2], words[3]) };
	int found = EACCES;
	pid_t writer;

	(void)count;
	*shared = both[0];
	writer = fork();
	for (int i = 0; writer == 0; i ^= 1)
		memcpy(&shared->in, &both[i].in, sizeof shared->in);
	for (int i = 0; i < TRIES && found != 0; i++) {
		int fd = tcp(&both[0], 0);
		struct sockaddr_in peer = { 0 };
		socklen_t len = sizeof peer;

		if (connect(fd, &shared->any, both[0].len) == 0 &&
		    getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
		    (peer.sin_addr.s_addr != both[0].in.sin_addr.s_addr ||
			peer.sin_port != both[0].in.sin_port))
			found = 0;
		close(fd);
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	return found;
}

/* More wait for somebody who does not answer than may wait at once: one more is
 * told so, and who is let in is. */
static int
try_crowd(char **words, int count)
{
	struct address silent = address_of(words[0], words[1]),
		       open = address_of(words[2], words[3]);
	int refused = 0, status, error;
	pid_t children[CROWD];

	(void)count;
	for (int i = 0; i < CROWD; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			int fd = tcp(&silent, 0);

			_exit(connect(fd, &silent.any, silent.len) != 0 &&
			    errno == EAGAIN);
		}
	}
	/* Those beyond the bound end, and no others. */
	for (; refused < CROWD - 64; refused++) {
		if (wait(&status) < 0 || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 1)
			return EPROTO;
	}
	error = try_greet(words + 2, 2);
	for (int i = 0; i < CROWD; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	/* Places of the dead are free again. */
	(void)open;
	return error != 0 ? error : try_greet(words + 2, 2);
}

static int
try_listen_at(char **words, int count)
{
	struct address address = address_of(words[0], words[1]);
	int fd = tcp(&address, 0), one = 1, error;

	(void)count;
	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	error = bind(fd, &address.any, address.len) != 0 || listen(fd, 4) != 0 ?
	    errno :
	    0;
	close(fd);
	return error;
}

/* What has no connect(2) in it. */
static int
try_fastopen(char **words, int count)
{
	struct address address = address_of(words[0], words[1]);
	int fd = tcp(&address, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return result(sendto(fd, "x", 1, 0x20000000 /* MSG_FASTOPEN */,
	    &address.any, address.len));
}

/* A number of setsockopt(2): eight bytes, which are an empty route. */
static int
try_route(char **words, int count)
{
	static const char route[8];
	int level = atoi(words[0]), error;
	int fd = socket(level == IPPROTO_IPV6 ? AF_INET6 : AF_INET, SOCK_STREAM,
	    0);

	(void)count;
	if (fd < 0)
		return errno;
	error = result(
	    setsockopt(fd, level, atoi(words[1]), route, sizeof route));
	close(fd);
	return error;
}

/* clang-format off */
const struct operation internet_operations[] = {
	{"serve-at", 2, 2, try_serve_at},
	{"greet", 2, 2, try_greet},
	{"greet-mixed", 2, 2, try_greet_mixed},
	{"greet-later", 2, 2, try_greet_later},
	{"greet-switch", 4, 4, try_greet_switch},
	{"greet-crowd", 4, 4, try_crowd},
	{"listen-at", 2, 2, try_listen_at},
	{"fastopen", 2, 2, try_fastopen},
	{"set-route", 2, 2, try_route},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
