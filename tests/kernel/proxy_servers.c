/* The servers outside: see proxy.h.  Each connection has a process, but those
 * that are echoed, of which there are a thousand. */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int
listen_on(uint16_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = port == PORT_HOST_SIX ? in6addr_loopback :
						     in6addr_any };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (void *)&address, sizeof address) != 0 ||
	    listen(fd, SOMAXCONN) != 0)
		_exit(9);
	return fd;
}

/* Of the two addresses that a name has this is the last or the first one. */
static int
listen_at_one(uint16_t port, const char *address, int backlog)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	inet_pton(AF_INET, address, &own.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (void *)&own, sizeof own) != 0 || listen(fd, backlog) != 0)
		_exit(9);
	return fd;
}

/* Whoever comes next waits, since nobody takes those who came first. */
static void
fill_queue(uint16_t port, const char *address)
{
	enum { MORE_THAN_FIT = 3 };
	struct sockaddr_in to;
	socklen_t size = sizeof to;

	getsockname(listen_at_one(port, address, 0), (void *)&to, &size);
	for (int i = 0; i < MORE_THAN_FIT; i++)
		connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
		    (void *)&to, sizeof to);
}

static void
echo(int fd)
{
	char bytes[65536];
	ssize_t len;

	while ((len = recv(fd, bytes, sizeof bytes, 0)) > 0 &&
	    send_all(fd, bytes, (size_t)len))
		;
}

static void
serve_ssh(struct shared *shared, int fd)
{
	(void)shared;
	send_all(fd, "SSH-2.0-test\r\n", 14);
	echo(fd);
}

static void
serve_http(struct shared *shared, int fd)
{
	static const char status[] = "HTTP/1.1 200 OK\r\n\r\n";
	char head[16384];
	size_t used = 0;

	(void)shared;
	while (used < sizeof head - 1) {
		ssize_t len = recv(fd, head + used, sizeof head - 1 - used, 0);

		if (len <= 0)
			return;
		used += (size_t)len;
		head[used] = '\0';
		if (strstr(head, "\r\n\r\n") != NULL)
			break;
	}
	send_all(fd, status, sizeof status - 1);
	send_all(fd, head, used);
	/* What comes later is shown as well, until three seconds have been silent. */
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	while (poll(&wait, 1, 3000) > 0) {
		ssize_t len = recv(fd, head, sizeof head, 0);

		if (len <= 0 || !send_all(fd, head, (size_t)len))
			break;
	}
}

static void
reset(int fd)
{
	const struct linger at_once = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static void
serve_reset(struct shared *shared, int fd)
{
	char byte;

	(void)shared;
	send_all(fd, "word", 4);
	recv(fd, &byte, 1, 0);
	reset(fd);
}

static void
count(struct shared *shared, int fd)
{
	static char bytes[1 << 20];
	uint64_t counted = 0;
	ssize_t len;

	while ((len = recv(fd, bytes, sizeof bytes, 0)) > 0) {
		for (ssize_t i = 0; i < len; i += 4099)
			if ((uint8_t)bytes[i] !=
			    (uint8_t)((counted + (uint64_t)i) % 251)) {
				shared->counted = 1;
				_exit(0);
			}
		counted += (uint64_t)len;
		__atomic_add_fetch(&shared->received, (uint64_t)len,
		    __ATOMIC_SEQ_CST);
	}
	if (len < 0)
		__atomic_add_fetch(&shared->resets, 1, __ATOMIC_SEQ_CST);
	shared->counted = counted;
}

static void
serve_half(struct shared *shared, int fd)
{
	send_all(fd, "bye", 3);
	shutdown(fd, SHUT_WR);
	count(shared, fd);
}

static void
serve_sink(struct shared *shared, int fd)
{
	uint64_t counted;

	count(shared, fd);
	counted = shared->counted;
	send_all(fd, &counted, sizeof counted);
}

static void
serve_silent(struct shared *shared, int fd)
{
	(void)shared;
	(void)fd;
	for (;;)
		pause();
}

/* A proxy of the user's: takes one CONNECT, and echoes. */
static void
serve_upstream(struct shared *shared, int fd)
{
	static const char granted[] = "HTTP/1.1 200 yes\r\nVia: x\r\n\r\n",
			  refused[] = "HTTP/1.1 407 no\r\n\r\n";
	char head[8192];
	size_t used = 0;

	(void)shared;
	while (used < sizeof head - 1) {
		if (recv(fd, head + used, 1, 0) != 1)
			return;
		head[++used] = '\0';
		if (strstr(head, "\r\n\r\n") != NULL)
			break;
	}
	if (strncmp(head, "CONNECT good.example:443 ", 25) != 0 &&
	    strncmp(head, "GET http://good.example/", 24) != 0) {
		send_all(fd, refused, sizeof refused - 1);
		return;
	}
	/* In two pieces, which the proxy must put together. */
	send_all(fd, granted, 10);
	usleep(20000);
	send_all(fd, granted + 10, sizeof granted - 1 - 10);
	if (head[0] == 'G')
		send_all(fd, head, used);
	else
		echo(fd);
}

static int
listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (bind(fd, (void *)&address, sizeof address) != 0 ||
	    listen(fd, SOMAXCONN) != 0)
		_exit(9);
	return fd;
}

/* In a process of its own. */
static void
accept_all(struct shared *shared, int listener,
    void (*serve)(struct shared *, int))
{
	if (fork() != 0) {
		close(listener);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		__atomic_add_fetch(&shared->accepted, 1, __ATOMIC_SEQ_CST);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(shared, fd);
			close(fd);
			_exit(0);
		}
		close(fd);
	}
}

static void
echo_all(struct shared *shared, uint16_t port)
{
	struct rlimit limit;
	struct epoll_event event = { .events = EPOLLIN };
	int listener = listen_on(port), poll = epoll_create1(0);
	static char bytes[65536];

	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	event.data.fd = listener;
	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		ssize_t len;

		if (epoll_wait(poll, &event, 1, -1) != 1)
			continue;
		if (event.data.fd == listener) {
			event.data.fd = accept(listener, NULL, NULL);
			__atomic_add_fetch(&shared->accepted, 1,
			    __ATOMIC_SEQ_CST);
			event.events = EPOLLIN;
			epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
			continue;
		}
		len = recv(event.data.fd, bytes, sizeof bytes, 0);
		if (len <= 0 || !send_all(event.data.fd, bytes, (size_t)len))
			close(event.data.fd);
	}
}

void
serve_all(struct shared *shared)
{
	static const struct {
		uint16_t port;
		void (*serve)(struct shared *, int);
	} servers[] = {
		{ PORT_SSH, serve_ssh },
		{ PORT_HTTP, serve_http },
		{ PORT_RESET, serve_reset },
		{ PORT_HALF, serve_half },
		{ PORT_SILENT, serve_silent },
		{ PORT_SINK, serve_sink },
		{ PORT_UPSTREAM, serve_upstream },
		{ PORT_HOST, serve_ssh },
		{ PORT_HOST_SIX, serve_ssh },
	};

	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
		accept_all(shared, listen_on(servers[i].port),
		    servers[i].serve);
	accept_all(shared, listen_at(UPSTREAM_PATH), serve_upstream);
	fill_queue(PORT_FULL, "11.22.33.44");
	accept_all(shared, listen_at_one(PORT_LAST, "11.22.33.45", SOMAXCONN),
	    serve_ssh);
	accept_all(shared, listen_at_one(PORT_FULL, "11.22.33.45", SOMAXCONN),
	    serve_ssh);
	echo_all(shared, PORT_ECHO);
	_exit(9);
}

/* Answers every second query for rebind.example with an address that is
 * private, every name below slow.example never, and no other name. */
void
serve_dns(struct shared *shared)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0,
		4 };
	static const uint8_t open_one[] = { 11, 22, 33, 44 },
			     private_one[] = { 10, 9, 9, 9 };
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_port = htons(53) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned turns = 0;

	inet_pton(AF_INET, "127.0.0.53", &own.sin_addr);
	if (bind(fd, (void *)&own, sizeof own) != 0)
		_exit(9);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint8_t query[600], type;
		struct sockaddr_in from;
		socklen_t size = sizeof from;
		ssize_t len = recvfrom(fd, query, 512, 0, (void *)&from, &size);
		size_t used = 12;
		bool found;

		if (len < 17)
			continue;
		__atomic_add_fetch(&shared->queries, 1, __ATOMIC_SEQ_CST);
		while (query[used] != 0 && used < (size_t)len - 5)
			used += query[used] + 1u;
		type = query[used + 2];
		used += 5;
		query[2] |= 0x80;
		query[10] = query[11] = 0;
		if (memcmp(query + 12, "\4slow", 5) == 0)
			continue;
		found = memcmp(query + 12, "\5found\4evil\7example", 20) == 0;
		if (!found &&
		    memcmp(query + 12, "\6rebind\7example", 16) != 0) {
			query[3] = 3;
		} else if (type == 1) {
			query[7] = 1;
			memcpy(query + used, record, sizeof record);
			used += sizeof record;
			memcpy(query + used,
			    found || turns++ % 2 == 0 ? open_one : private_one,
			    4);
			used += 4;
		}
		sendto(fd, query, used, 0, (void *)&from, size);
	}
}
