/*
 * Bytes through a connection: who serves them, who asks for them, a plain proxy
 * between, and a comparison of ways to the server.
 *
 *	stream serve ADDRESS PORT       sends as many bytes as it is asked for
 *	stream proxy PORT               takes CONNECT HOST:PORT, on 127.0.0.1
 *	stream fetch HOST PORT [PROXY_PORT]
 *	        for each number that it reads makes a connection, asks for as many
 *	        bytes, and writes how many microseconds that took
 *	stream compare ROUNDS BYTES LABEL FETCH... [-- LABEL FETCH...]...
 *	        starts all these commands, and has them fetch in turn (A B C A B C
 *	        ...), so that what disturbs the machine disturbs all
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1 << 16, WAYS_MAX = 8, ROUNDS_MAX = 1000 };

static void
must(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static bool
send_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t count = send(fd, at, len, MSG_NOSIGNAL);

		if (count <= 0)
			return false;
		at += count;
		len -= (size_t)count;
	}
	return true;
}

/* --- the server and the proxy --------------------------------------------- */

static int
listen_on(const char *address, const char *port)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	must(inet_pton(AF_INET, address, &own.sin_addr) == 1, address);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	must(bind(fd, (void *)&own, sizeof own) == 0 &&
		listen(fd, SOMAXCONN) == 0,
	    "listen");
	return fd;
}

static int
dial(const char *host, const char *port)
{
	struct addrinfo *all,
	    hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (getaddrinfo(host, port, &hints, &all) != 0)
		return -1;
	if (connect(fd, all->ai_addr, all->ai_addrlen) != 0) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(all);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

static void
give(int fd)
{
	static const char bytes[SIZE];
	uint64_t wanted;

	if (recv(fd, &wanted, sizeof wanted, MSG_WAITALL) != sizeof wanted)
		return;
	while (wanted > 0) {
		size_t len = wanted < SIZE ? (size_t)wanted : SIZE;

		if (!send_all(fd, bytes, len))
			return;
		wanted -= len;
	}
}

static void
relay(int fd)
{
	static const char granted[] = "HTTP/1.1 200 OK\r\n\r\n";
	char bytes[SIZE], *colon;
	struct pollfd both[2] = { { .fd = fd, .events = POLLIN },
		{ .events = POLLIN } };
	ssize_t len = recv(fd, bytes, sizeof bytes - 1, 0);

	bytes[len > 0 ? len : 0] = '\0';
	colon = strchr(bytes, ':');
	if (strncmp(bytes, "CONNECT ", 8) != 0 || colon == NULL)
		return;
	*colon = '\0';
	colon[1 + strspn(colon + 1, "0123456789")] = '\0';
	both[1].fd = dial(bytes + 8, colon + 1);
	if (both[1].fd < 0 || !send_all(fd, granted, sizeof granted - 1))
		return;
	while (poll(both, 2, -1) > 0) {
		for (int i = 0; i < 2; i++) {
			if (both[i].revents == 0)
				continue;
			len = recv(both[i].fd, bytes, sizeof bytes, 0);
			if (len <= 0 ||
			    !send_all(both[1 - i].fd, bytes, (size_t)len))
				return;
		}
	}
}

static void
serve(int listener, void (*connection)(int fd))
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			connection(fd);
			_exit(0);
		}
		close(fd);
	}
}

/* --- who fetches ---------------------------------------------------------- */

static int
dial_through(const char *proxy, const char *host, const char *port)
{
	char text[512];
	int fd = dial("127.0.0.1", proxy);
	size_t used = 0;

	snprintf(text, sizeof text,
	    "CONNECT %s:%s HTTP/1.1\r\nHost: %s:%s\r\n\r\n", host, port, host,
	    port);
	if (fd < 0 || !send_all(fd, text, strlen(text)))
		return -1;
	while (used < sizeof text - 1 && recv(fd, text + used, 1, 0) == 1) {
		text[++used] = '\0';
		if (strstr(text, "\r\n\r\n") != NULL)
			break;
	}
	return strstr(text, " 200 ") != NULL ? fd : -1;
}

static void
fetch(const char *host, const char *port, const char *proxy)
{
	static char bytes[4 * SIZE];
	char line[64];

	while (fgets(line, sizeof line, stdin) != NULL) {
		uint64_t wanted = strtoull(line, NULL, 10), got = 0;
		double begin = now();
		int fd = proxy != NULL ? dial_through(proxy, host, port) :
					 dial(host, port);
		ssize_t len = 1;

		must(fd >= 0, "connect");
		send_all(fd, &wanted, sizeof wanted);
		while (got < wanted && len > 0) {
			len = recv(fd, bytes, sizeof bytes, 0);
			got += len > 0 ? (uint64_t)len : 0;
		}
		must(got == wanted, "fewer bytes than there should be");
		printf("%.1f\n", now() - begin);
		fflush(stdout);
		close(fd);
	}
}

/* --- the comparison ------------------------------------------------------- */

struct way {
	const char *label;
	FILE *in, *out;
	double times[ROUNDS_MAX];
};

static void
start(struct way *way, char **argv)
{
	int in[2], out[2];

	must(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe");
	if (fork() == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execvp(argv[0], argv);
		must(false, argv[0]);
	}
	close(in[0]);
	close(out[1]);
	way->in = fdopen(in[1], "w");
	way->out = fdopen(out[0], "r");
}

static double
ask(struct way *way, uint64_t bytes)
{
	char line[64];

	fprintf(way->in, "%llu\n", (unsigned long long)bytes);
	fflush(way->in);
	must(fgets(line, sizeof line, way->out) != NULL, way->label);
	return strtod(line, NULL);
}

static int
compare_times(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double
middle(double *times, int count)
{
	qsort(times, (size_t)count, sizeof *times, compare_times);
	return times[count / 2];
}

/* The ratio to the first way is that of pairs, which were next to each other. */
static void
report(struct way *ways, int count, int rounds, double bytes)
{
	double ratios[WAYS_MAX];

	for (int i = 0; i < count; i++) {
		double pairs[ROUNDS_MAX];

		for (int j = 0; j < rounds; j++)
			pairs[j] = ways[0].times[j] / ways[i].times[j];
		ratios[i] = middle(pairs, rounds);
	}
	printf("%-10s %10s %10s %10s %10s\n", "way", "least us", "median us",
	    "best GB/s", "of first");
	for (int i = 0; i < count; i++) {
		double median = middle(ways[i].times, rounds);

		printf("%-10s %10.0f %10.0f %10.3f %10.3f\n", ways[i].label,
		    ways[i].times[0], median, bytes / 1e3 / ways[i].times[0],
		    ratios[i]);
	}
}

static int
compare(int rounds, uint64_t bytes, char **argv)
{
	static struct way ways[WAYS_MAX];
	int count = 0;

	must(rounds > 0 && rounds <= ROUNDS_MAX, "rounds");
	while (*argv != NULL && count < WAYS_MAX) {
		char **command = argv + 1;

		ways[count].label = *argv;
		while (*argv != NULL && strcmp(*argv, "--") != 0)
			argv++;
		if (*argv != NULL)
			*argv++ = NULL;
		start(&ways[count++], command);
	}
	for (int i = 0; i < count; i++)
		ask(&ways[i], 1);
	for (int j = 0; j < rounds; j++) {
		for (int i = 0; i < count; i++)
			ways[i].times[j] = ask(&ways[i], bytes);
	}
	for (int i = 0; i < count; i++) {
		fclose(ways[i].in);
		fclose(ways[i].out);
	}
	while (wait(NULL) > 0)
		;
	report(ways, count, rounds, (double)bytes);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	signal(SIGPIPE, SIG_IGN);
	if (strcmp(what, "serve") == 0 && argc == 4)
		serve(listen_on(argv[2], argv[3]), give);
	else if (strcmp(what, "proxy") == 0)
		serve(listen_on("127.0.0.1", argv[2]), relay);
	else if (strcmp(what, "fetch") == 0 && argc >= 4)
		fetch(argv[2], argv[3], argv[4]);
	else if (strcmp(what, "compare") == 0 && argc > 5)
		return compare(atoi(argv[2]), strtoull(argv[3], NULL, 10),
		    argv + 4);
	else
		must(false, "usage");
	return 0;
}
