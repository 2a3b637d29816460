/*
 * Knocks at addresses, and says who answered:
 *
 *	knock HOW ADDRESS PORT [TEXT]
 *
 * HOW is tcp, udp, fast (data in the first packet, TCP Fast Open), mptcp, raw,
 * hold (connects and stays) or many (as many connections as TEXT says, which
 * then stay).  Prints the first line of the answer, or the error.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

struct knock {
	const char *how, *text;
	struct sockaddr_storage address;
	socklen_t size;
};

static const struct way {
	const char *how;
	int type, protocol;
} ways[] = {
	{ "tcp", SOCK_STREAM, 0 },
	{ "hold", SOCK_STREAM, 0 },
	{ "many", SOCK_STREAM, 0 },
	{ "fast", SOCK_STREAM, 0 },
	{ "udp", SOCK_DGRAM, 0 },
	{ "mptcp", SOCK_STREAM, IPPROTO_MPTCP },
	{ "raw", SOCK_RAW, IPPROTO_ICMP },
};

/* In words of ours, since each libc has its own. */
static const struct {
	int error;
	const char *word;
} errors[] = {
	{ ENETUNREACH, "unreachable" },
	{ EHOSTUNREACH, "unreachable" },
	{ ECONNREFUSED, "refused" },
	{ ECONNRESET, "reset" },
	{ EPIPE, "reset" },
	{ EPERM, "denied" },
	{ EACCES, "denied" },
	{ EOPNOTSUPP, "denied" },
	{ EPROTONOSUPPORT, "denied" },
	{ EAFNOSUPPORT, "denied" },
	{ ESOCKTNOSUPPORT, "denied" },
};

static void
fail(void)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		if (errors[i].error == errno) {
			puts(errors[i].word);
			exit(1);
		}
	}
	puts(strerror(errno));
	exit(1);
}

static bool
is(const struct knock *knock, const char *how)
{
	return strcmp(knock->how, how) == 0;
}

static int
open_socket(const struct knock *knock)
{
	static const struct timeval patience = { .tv_sec = 60 };
	const struct way *way = ways;
	int fd;

	while (strcmp(way->how, knock->how) != 0)
		way++;
	fd = socket(knock->address.ss_family, way->type, way->protocol);
	if (fd < 0)
		fail();
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	return fd;
}

static void
read_address(struct knock *knock, const char *address, const char *port)
{
	struct sockaddr_in *v4 = (void *)&knock->address;
	struct sockaddr_in6 *v6 = (void *)&knock->address;
	in_port_t number = htons((in_port_t)atoi(port));

	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = number;
		knock->size = sizeof *v4;
	} else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = number;
		knock->size = sizeof *v6;
	} else {
		exit(2);
	}
}

static int
knock_once(const struct knock *knock)
{
	const struct sockaddr *address = (const void *)&knock->address;
	size_t len = strlen(knock->text);
	int fd = open_socket(knock);

	if (is(knock, "fast")) {
		if (sendto(fd, knock->text, len, MSG_FASTOPEN, address,
			knock->size) < 0)
			fail();
		return fd;
	}
	if (connect(fd, address, knock->size) != 0)
		fail();
	if (!is(knock, "many") && send(fd, knock->text, len, MSG_NOSIGNAL) < 0)
		fail();
	return fd;
}

static void
knock_often(const struct knock *knock)
{
	struct rlimit limit;
	int made = 0, wanted = atoi(knock->text);

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (; made < wanted; made++) {
		int fd = open_socket(knock);

		if (connect(fd, (const void *)&knock->address, knock->size) !=
		    0)
			break;
	}
	printf("%d connections\n", made);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct knock knock = { .text = argc > 4 ? argv[4] : "x" };
	char answer[512];
	ssize_t got;
	int fd;

	if (argc < 4)
		return 2;
	knock.how = argv[1];
	read_address(&knock, argv[2], argv[3]);
	if (is(&knock, "many")) {
		knock_often(&knock);
		return 0;
	}
	fd = knock_once(&knock);
	got = recv(fd, answer, sizeof answer - 1, 0);
	if (got < 0)
		fail();
	answer[got] = '\0';
	answer[strcspn(answer, "\r\n")] = '\0';
	puts(got == 0 ? "closed" : answer);
	fflush(stdout);
	if (is(&knock, "hold"))
		pause();
	return 0;
}
