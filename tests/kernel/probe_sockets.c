/*
 * What the probe does with sockets.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* clang-format off */
static const struct name families[] = {
	{"unix", 1}, {"inet", 2}, {"ax25", 3}, {"ipx", 4}, {"inet6", 10},
	{"netlink", 16}, {"packet", 17}, {"rds", 21}, {"can", 29},
	{"tipc", 30}, {"bluetooth", 31}, {"alg", 38}, {"vsock", 40},
	{"kcm", 41}, {"qipcrtr", 42}, {"smc", 43}, {"xdp", 44},
};

static const struct name socket_types[] = {
	{"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM}, {"raw", SOCK_RAW},
	{"rdm", SOCK_RDM}, {"seqpacket", SOCK_SEQPACKET}, {"packet", 10},
};

static const struct name protocols[] = {
	{"ip", 0}, {"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"sctp", 132},
	{"udplite", 136}, {"mptcp", 262}, {"route", 0}, {"audit", 9},
	{"netfilter", 12},
};
/* clang-format on */

static int
try_socket(char **words, int count)
{
	return opened(socket((int)LOOK_UP(families, words[0]),
	    (int)LOOK_UP(socket_types, words[1]),
	    count > 2 ? (int)LOOK_UP(protocols, words[2]) : 0));
}

/* The kernel's argument is an int: what stands above it must not matter. */
static int
try_socket_high(char **words, int count)
{
	unsigned long high = 1UL << 32;

	return opened(syscall(SYS_socket, high | LOOK_UP(families, words[0]),
	    high | LOOK_UP(socket_types, words[1]),
	    high | (count > 2 ? LOOK_UP(protocols, words[2]) : 0)));
}

static int
try_socketpair(char **words, int count)
{
	int fds[2];

	if (socketpair((int)LOOK_UP(families, words[0]),
		(int)LOOK_UP(socket_types, words[1]),
		count > 2 ? (int)LOOK_UP(protocols, words[2]) : 0, fds) < 0)
		return errno;
	close(fds[0]);
	return opened(fds[1]);
}

static struct sockaddr_in
loopback(const char *port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* Ends an attempt that opened a socket: keeps its errno, closes the socket. */
static int
socket_result(int fd, long value)
{
	int error = value < 0 ? errno : 0;

	close(fd);
	return error;
}

static int
try_connect_tcp(char **words, int count)
{
	struct sockaddr_in address = loopback(words[0]);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    connect(fd, (struct sockaddr *)&address, sizeof address));
}

static int
try_bind_tcp(char **words, int count)
{
	struct sockaddr_in address = loopback(words[0]);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	(void)count;
	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	return socket_result(fd,
	    bind(fd, (struct sockaddr *)&address, sizeof address));
}

/* Without a bind, so that the kernel chooses the port. */
static int
try_listen_tcp(char **words, int count)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)words;
	(void)count;
	return fd < 0 ? errno : socket_result(fd, listen(fd, 1));
}

static int
try_send_udp(char **words, int count)
{
	struct sockaddr_in address = loopback(words[0]);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    sendto(fd, "", 1, 0, (struct sockaddr *)&address, sizeof address));
}

/* The loopback address of a family, with a port of the kernel's choice. */
static socklen_t
loopback_any(struct sockaddr_storage *address, int family)
{
	struct sockaddr_in inet = loopback("0");
	struct sockaddr_in6 inet6 = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};

	if (family == AF_INET6) {
		memcpy(address, &inet6, sizeof inet6);
		return sizeof inet6;
	}
	memcpy(address, &inet, sizeof inet);
	return sizeof inet;
}

/* A byte through two sockets of one kind by way of a loopback address. */
static int
try_loopback(char **words, int count)
{
	int family = (int)LOOK_UP(families, words[0]);
	int type = (int)LOOK_UP(socket_types, words[1]);
	int server = socket(family, type | SOCK_CLOEXEC, 0);
	int client = socket(family, type | SOCK_CLOEXEC, 0);
	struct sockaddr_storage address = { 0 };
	socklen_t len = loopback_any(&address, family);
	char byte = 0;

	(void)count;
	if (server < 0 || client < 0 ||
	    bind(server, (struct sockaddr *)&address, len) != 0 ||
	    (type == SOCK_STREAM && listen(server, 1) != 0) ||
	    getsockname(server, (struct sockaddr *)&address, &len) != 0 ||
	    connect(client, (struct sockaddr *)&address, len) != 0 ||
	    send(client, "x", 1, 0) != 1 ||
	    (type == SOCK_STREAM &&
		(server = accept(server, NULL, NULL)) < 0) ||
	    recv(server, &byte, 1, 0) != 1)
		return errno;
	close(client);
	return byte == 'x' ? socket_result(server, 0) : EPROTO;
}

/* Whether any way leads out, without sending: 192.0.2.1 is nobody's. */
static int
try_route(char **words, int count)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(0xc0000201),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)words;
	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    connect(fd, (struct sockaddr *)&address, sizeof address));
}

/* For others to be connected to: puts its port into a file and stays. */
static int
try_serve_tcp(char **words, int count)
{
	struct sockaddr_in address = loopback("0");
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *file;

	(void)count;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
	    listen(fd, 16) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0 ||
	    (file = fopen(words[0], "w")) == NULL)
		return errno;
	fprintf(file, "%u\n", ntohs(address.sin_port));
	fclose(file);
	for (;;)
		pause();
}

static socklen_t
unix_address(struct sockaddr_un *address, const char *path, bool abstract)
{
	size_t len = strlen(path);

	if (len + 1 >= sizeof address->sun_path)
		misuse("too long for a socket:", path);
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path + abstract, path, len);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
}

static int
connect_unix(const char *path, bool abstract)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, path, abstract);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	return socket_result(fd, connect(fd, (struct sockaddr *)&address, len));
}

static int
try_unix_connect(char **words, int count)
{
	(void)count;
	return connect_unix(words[0], false);
}

static int
try_abstract_connect(char **words, int count)
{
	(void)count;
	return connect_unix(words[0], true);
}

static int
try_unix_bind(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd, bind(fd, (struct sockaddr *)&address, len));
}

static int
try_unix_dgram_send(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    sendto(fd, "", 1, 0, (struct sockaddr *)&address, len));
}

/* One of a pair may still be pointed elsewhere: no socket(2) is needed. */
static int
try_unix_pair_send(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fds[2];

	(void)count;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0)
		return errno;
	close(fds[1]);
	return socket_result(fds[0],
	    sendto(fds[0], "", 1, 0, (struct sockaddr *)&address, len));
}

/* with-datagrams COMMAND...: it has such a socket as its input. */
static int
try_with_datagrams(char **words, int count)
{
	int fds[2];

	(void)count;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0 || dup2(fds[0], 0) < 0)
		return errno;
	execv(words[0], words);
	return errno;
}

/* Connects its input. */
static int
try_unix_input(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);

	(void)count;
	return result(connect(0, (struct sockaddr *)&address, len));
}

/* --- servers of sockets with a path ---------------------------------------- */

/* Sends a descriptor (SCM_RIGHTS), or takes one, for which `file` is -1. */
static int
pass_descriptor(int fd, int file)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof file), SOL_SOCKET,
			  SCM_RIGHTS } };
	char byte = 0;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};

	if (file >= 0) {
		memcpy(CMSG_DATA(&control.header), &file, sizeof file);
		return sendmsg(fd, &message, MSG_NOSIGNAL) == 1 ? file : -1;
	}
	if (recvmsg(fd, &message, 0) != 1)
		return -1;
	if (message.msg_controllen == 0) {
		errno = ENODATA;
		return -1;
	}
	memcpy(&file, CMSG_DATA(&control.header), sizeof file);
	return file;
}

static int
unix_server(const char *path, bool abstract, int type)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, path, abstract);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
	    (type != SOCK_DGRAM && listen(fd, 16) != 0))
		return -1;
	return fd;
}

/* Tells who waits for it that the server is there. */
static int
announce(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	return fd < 0 ? -1 : close(fd);
}

/* unix-serve KIND PATH READY [FILE]: takes connections, and hands each FILE's
 * descriptor over if it has one; or drops datagrams. */
static int
try_serve_unix(char **words, int count)
{
	bool abstract = strcmp(words[0], "abstract") == 0;
	int type = abstract ? SOCK_STREAM :
			      (int)LOOK_UP(socket_types, words[0]);
	int server = unix_server(words[1], abstract, type);
	int file = count > 3 ? open(words[3], O_RDONLY | O_CLOEXEC) : -1;

	if (server < 0 || (count > 3 && file < 0) || announce(words[2]) != 0)
		return errno;
	for (;;) {
		int fd = type == SOCK_DGRAM ? -1 : accept(server, NULL, NULL);

		if (type == SOCK_DGRAM)
			pause();
		if (fd < 0)
			return errno;
		if (file >= 0)
			pass_descriptor(fd, file);
		close(fd);
	}
}

/* unix-take PATH: reads the file that a server hands over. */
static int
try_unix_take(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), file;
	char byte;

	(void)count;
	if (fd < 0)
		return errno;
	if (connect(fd, (struct sockaddr *)&address, len) != 0)
		return socket_result(fd, -1);
	file = pass_descriptor(fd, -1);
	if (file < 0)
		return socket_result(fd, -1);
	return socket_result(fd, read(file, &byte, 1) == 1 ? 0 : -1);
}

static int
try_unix_seqpacket(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd, connect(fd, (struct sockaddr *)&address, len));
}

/* clang-format off */
const struct operation socket_operations[] = {
	{"socket", 2, 3, try_socket},
	{"socket-high", 2, 3, try_socket_high},
	{"socketpair", 2, 3, try_socketpair},
	{"connect-tcp", 1, 1, try_connect_tcp},
	{"bind-tcp", 1, 1, try_bind_tcp},
	{"listen-tcp", 0, 0, try_listen_tcp},
	{"send-udp", 1, 1, try_send_udp},
	{"loopback", 2, 2, try_loopback},
	{"route", 0, 0, try_route},
	{"serve-tcp", 1, 1, try_serve_tcp},
	{"unix-connect", 1, 1, try_unix_connect},
	{"unix-serve", 3, 4, try_serve_unix},
	{"unix-bind", 1, 1, try_unix_bind},
	{"unix-seqpacket", 1, 1, try_unix_seqpacket},
	{"unix-take", 1, 1, try_unix_take},
	{"unix-dgram-send", 1, 1, try_unix_dgram_send},
	{"unix-pair-send", 1, 1, try_unix_pair_send},
	{"unix-input", 1, 1, try_unix_input},
	{"with-datagrams", 1, MAX_WORDS, try_with_datagrams},
	{"abstract-connect", 1, 1, try_abstract_connect},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
