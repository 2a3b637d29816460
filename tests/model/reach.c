/*
 * Random rules about hosts and sockets, and whether the kernel is of the same
 * mind as the model (tests/model/reach.sh):
 *
 *	reach draw SEED DIRECTORY POLICY QUESTIONS
 *	reach serve DIRECTORY READY
 *	reach try full|standard <QUESTIONS
 *
 * `draw` writes a policy and questions in the words of sbxc why.  `serve` listens
 * on the ports of all addresses, and at all sockets of the directory; whoever
 * comes gets a byte.  `try` asks in a sandbox: "allowed" where that byte came,
 * since a connection to a way out alone says nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { PROXY_PORT = 3128, LINE_SIZE = 512, RULES = 12, PATIENCE = 60 };

static const unsigned ports[] = { 22, 80, 443, 5432 };
static const unsigned host_ports[] = { 6000, 6001, 6002 };

/* In tests/model/reach.sh each has its address; the last two a private one. */
static const char *const names[] = {
	"one.test.example",
	"a.one.test.example",
	"b.a.one.test.example",
	"two.test.example",
	"three.other.example",
	"other.example",
	"priv.test.example",
	"x.priv.test.example",
};
enum { PUBLIC_NAMES = 6 };

static const char *const patterns[] = {
	"*.test.example",
	"*.one.test.example",
	"*.a.one.test.example",
	"*.other.example",
	"*.priv.test.example",
};

static const char *const addresses[] = {
	"11.22.33.1",
	"11.22.33.2",
	"11.22.33.129",
	"11.22.34.1",
	"10.2.0.1",
	"10.2.1.1",
	"[fd00:1::1]",
	"[fd00:1::2]",
	"[fd00:2::1]",
};

static const char *const nets[] = {
	"11.22.33.0/24",
	"11.22.33.128/25",
	"11.22.32.0/22",
	"10.2.0.0/16",
	"10.2.0.0/24",
	"[fd00:1::/64]",
	"[fd00::/16]",
};

static const char *const sockets[] = { "s", "a/s", "a/t", "a/b/s", "a/b/t",
	"c/s", "c/t" };
static const char *const directories[] = { "a", "a/b", "c" };

/* --- draw ------------------------------------------------------------------ */

static uint64_t state;

static size_t
below(size_t count)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)((state >> 11) % count);
}

#define ANY(list) (list)[below(countof(list))]

static const char *
effect(void)
{
	return below(3) == 0 ? "deny" : "allow";
}

static void
draw_name(FILE *file)
{
	const char *how = effect();
	bool private = *how == 'a' && below(3) == 0;

	fprintf(file, "    %s network domain { %s", how,
	    below(3) == 0 ? ANY(patterns) : ANY(names));
	if (below(2) == 0)
		fprintf(file, ":%u", ANY(ports));
	fputs(private ? " private }\n" : " }\n", file);
}

static void
draw_address(FILE *file)
{
	fprintf(file, "    %s network connect %s", effect(),
	    below(2) == 0 ? ANY(addresses) : ANY(nets));
	if (below(3) == 0)
		fprintf(file, ":{ %u %u }\n", ports[below(2)],
		    ports[2 + below(2)]);
	else
		fprintf(file, ":%u\n", ANY(ports));
}

static void
draw_socket(FILE *file, const char *directory)
{
	fprintf(file, "    %s socket %s/%s\n", effect(), directory,
	    below(2) == 0 ? ANY(sockets) : ANY(directories));
}

static void
draw_policy(FILE *file, const char *directory)
{
	fputs("sbx 1\nprofile reach extends workspace-write {\n", file);
	fprintf(file, "    allow exec ${workspace}\n");
	/* So that there is a network of its own whatever comes. */
	fprintf(file, "    allow network host tcp %u\n", ANY(host_ports));
	for (size_t i = 0; i < RULES; i++) {
		switch (below(7)) {
		case 0:
		case 1:
			draw_name(file);
			break;
		case 2:
		case 3:
			draw_address(file);
			break;
		case 4:
			fprintf(file, "    %s network host tcp %u\n", effect(),
			    ANY(host_ports));
			break;
		case 5:
			draw_socket(file, directory);
			break;
		default:
			draw_socket(file, directory);
			if (below(3) == 0)
				fprintf(file, "    allow read %s/%s\n",
				    directory, ANY(directories));
		}
	}
	fputs("}\n", file);
}

static void
draw_questions(FILE *file, const char *directory)
{
	for (size_t i = 0; i < countof(names); i++)
		fprintf(file, "domain %s%s:%u\n",
		    i < PUBLIC_NAMES ? "" : "private ", names[i], ANY(ports));
	for (size_t i = 0; i < countof(addresses); i++)
		fprintf(file, "connect tcp %s:%u\n", addresses[i], ANY(ports));
	for (size_t i = 0; i < countof(host_ports); i++)
		fprintf(file, "host tcp %u\n", host_ports[i]);
	for (size_t i = 0; i < countof(sockets); i++)
		fprintf(file, "socket %s/%s\n", directory, sockets[i]);
}

static int
draw(char **words)
{
	FILE *policy = fopen(words[2], "we"),
	     *questions = fopen(words[3], "we");

	if (policy == NULL || questions == NULL)
		return 99;
	state = strtoull(words[0], NULL, 10) * 0x9e3779b97f4a7c15U + 1;
	for (int i = 0; i < 16; i++)
		below(2);
	draw_policy(policy, words[1]);
	draw_questions(questions, words[1]);
	return fclose(policy) | fclose(questions);
}

/* --- serve ----------------------------------------------------------------- */

enum { SERVERS_MAX = 32 };

static struct pollfd servers[SERVERS_MAX];
static size_t server_count;

static bool
add_server(int family, const void *address, size_t size)
{
	const int on = 1;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, address, (socklen_t)size) != 0 ||
	    listen(fd, 64) != 0)
		return false;
	servers[server_count++] = (struct pollfd){ fd, POLLIN, 0 };
	return true;
}

static bool
serve_port(unsigned port)
{
	const struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	const struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port) };

	return add_server(AF_INET, &in, sizeof in) &&
	    (add_server(AF_INET6, &in6, sizeof in6) || errno == EAFNOSUPPORT);
}

static bool
serve_socket(const char *directory, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory,
	    name);
	return add_server(AF_UNIX, &address, sizeof address) &&
	    chmod(address.sun_path, 0777) == 0;
}

static int
serve(char **words)
{
	bool ok = true;
	FILE *ready;

	for (size_t i = 0; i < countof(ports); i++)
		ok &= serve_port(ports[i]);
	for (size_t i = 0; i < countof(host_ports); i++)
		ok &= serve_port(host_ports[i]);
	for (size_t i = 0; i < countof(sockets); i++)
		ok &= serve_socket(words[0], sockets[i]);
	ready = fopen(words[1], "we");
	if (!ok || ready == NULL || fclose(ready) != 0)
		return 99;
	while (poll(servers, server_count, -1) > 0) {
		for (size_t i = 0; i < server_count; i++) {
			int client;

			if (servers[i].revents == 0)
				continue;
			client = accept(servers[i].fd, NULL, NULL);
			send(client, "y", 1, MSG_NOSIGNAL);
			close(client);
		}
	}
	return 99;
}

/* --- try ------------------------------------------------------------------- */

static bool
came(int fd)
{
	char byte = 0;
	bool ok = recv(fd, &byte, 1, 0) == 1 && byte == 'y';

	close(fd);
	return ok;
}

/* A connected socket that waits a while for what comes; -1: none. */
static int
connected(int family, const void *address, size_t size)
{
	const struct timeval patience = { .tv_sec = PATIENCE };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, address, (socklen_t)size) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool
try_port(const char *host, const char *port)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	bool ok = false;

	if (getaddrinfo(host, port, &wanted, &found) != 0)
		return false;
	for (struct addrinfo *at = found; at != NULL && !ok; at = at->ai_next) {
		int fd = connected(at->ai_family, at->ai_addr, at->ai_addrlen);

		ok = fd >= 0 && came(fd);
	}
	freeaddrinfo(found);
	return ok;
}

static bool
try_proxy(const char *host, const char *port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PROXY_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	char line[LINE_SIZE];
	int fd = connected(AF_INET, &address, sizeof address);
	size_t len = 0;

	if (fd < 0)
		return false;
	snprintf(line, sizeof line,
	    "CONNECT %s:%s HTTP/1.1\r\nHost: %s\r\n\r\n", host, port, host);
	send(fd, line, strlen(line), MSG_NOSIGNAL);
	/* The answer's head, and no byte behind it. */
	while (len < sizeof line - 1 && recv(fd, line + len, 1, 0) == 1) {
		line[++len] = '\0';
		if (len >= 4 && strcmp(line + len - 4, "\r\n\r\n") == 0)
			break;
	}
	line[len] = '\0';
	if (strncmp(line, "HTTP/1.1 200", 12) == 0)
		return came(fd);
	close(fd);
	return false;
}

static bool
try_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	fd = connected(AF_UNIX, &address, sizeof address);
	return fd >= 0 && came(fd);
}

/* "domain [private] NAME:PORT", "connect tcp ADDRESS:PORT", "host tcp PORT" or
 * "socket PATH": the last word is what it is about. */
static bool
answer(char *question, bool full)
{
	char *what = strrchr(question, ' ') + 1, *port = strrchr(what, ':');

	if (*question == 's')
		return try_socket(what);
	if (*question == 'h')
		return try_port("127.0.0.1", what);
	*port++ = '\0';
	if (*question == 'd')
		return full ? try_port(what, port) : try_proxy(what, port);
	if (*what == '[') {
		what++;
		what[strlen(what) - 1] = '\0';
	}
	return try_port(what, port);
}

static int
try(char **words)
{
	bool full = strcmp(words[0], "full") == 0;
	char line[LINE_SIZE];

	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		puts(answer(line, full) ? "allowed" : "denied");
	}
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int words;
		int (*act)(char **words);
	} acts[] = {
		{ "draw", 4, draw },
		{ "serve", 2, serve },
		{ "try", 1, try },
	};

	for (size_t i = 0; argc > 1 && i < countof(acts); i++) {
		if (strcmp(acts[i].name, argv[1]) == 0 &&
		    argc == acts[i].words + 2)
			return acts[i].act(argv + 2);
	}
	fputs("reach: see its first lines\n", stderr);
	return 99;
}
