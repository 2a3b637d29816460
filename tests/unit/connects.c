/*
 * How sbx-proxy connects: one address after another, or the user's proxy; and the
 * pipes by which bytes go from one socket to the other.
 */
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NOW = 1000000, NO_VERDICT = PROXY_VERDICT_END };

static struct proxy proxy = { .now = NOW };
static unsigned watched, relayed, inside, refused;

bool
end_watch(struct proxy *connecting, struct end *end, struct source *source)
{
	(void)connecting;
	(void)source;
	watched++;
	return end->fd >= 0;
}

int
inside_socket(const struct proxy *connecting, int family)
{
	(void)connecting;
	inside++;
	return family == AF_INET ? -1 : -2;
}

void
relay_start(struct proxy *connecting, struct conn *conn)
{
	(void)connecting;
	(void)conn;
	relayed++;
}

void
client_refused(struct proxy *connecting, struct conn *conn,
    enum proxy_verdict verdict)
{
	(void)connecting;
	(void)conn;
	refused = verdict;
}

/* --- the stage ------------------------------------------------------------- */

/* A server, or, without listen(2), a port that nobody serves. */
static int
open_port(bool serves, uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(fd, (struct sockaddr *)&address, sizeof address);
	if (serves)
		listen(fd, 8);
	getsockname(fd, (struct sockaddr *)&address, &len);
	*port = ntohs(address.sin_port);
	return fd;
}

static void
add_address(struct conn *conn, const char *text)
{
	uint8_t *address = conn->addresses[conn->address_count++];

	address[10] = address[11] = 0xff;
	inet_pton(AF_INET, text, address + 12);
}

/* To two addresses, or one. */
static struct conn
conn_to(uint16_t port, const char *first, const char *second)
{
	struct conn conn = { .target.port = port, .server.fd = -1 };

	watched = relayed = inside = 0;
	refused = NO_VERDICT;
	add_address(&conn, first);
	if (second != NULL)
		add_address(&conn, second);
	return conn;
}

/* --- one address after another --------------------------------------------- */

#define HERE "127.0.0.1"
/* No socket of TCP connects to all: the kernel says so at once. */
#define NOWHERE "255.255.255.255"

static void
test_addresses(struct tap *tap, uint16_t port)
{
	struct conn conn = conn_to(port, HERE, HERE);

	connect_start(&proxy, &conn);
	tap_ok(tap,
	    conn.stage == STAGE_CONNECT && conn.server.fd >= 0 &&
		conn.address_next == 1 && watched == 1,
	    "the first address is connected to");
	tap_ok(tap,
	    conn.connect_end == NOW + CONNECT_TIME &&
		conn.deadline == NOW + ATTEMPT_TIME,
	    "which has less time, since there is another one");
	connect_next(&proxy, &conn);
	tap_ok(tap, conn.address_next == 2 && conn.deadline == conn.connect_end,
	    "and the last one all that is left");
	connect_next(&proxy, &conn);
	tap_ok(tap, conn.server.fd == -1 && refused == PROXY_FAILED,
	    "behind which there is none");
	conn = conn_to(port, HERE, HERE);
	conn.connect_end = NOW + 1;
	connect_next(&proxy, &conn);
	tap_ok(tap, conn.deadline == NOW + 1, "no attempt has more than all");
	close(conn.server.fd);
}

static void
test_at_once(struct tap *tap, uint16_t port)
{
	struct conn conn = conn_to(port, NOWHERE, HERE);

	connect_start(&proxy, &conn);
	tap_ok(tap,
	    conn.server.fd >= 0 && conn.address_next == 2 && watched == 1 &&
		refused == NO_VERDICT,
	    "what cannot be reached at all is not waited for");
	close(conn.server.fd);
	conn = conn_to(port, NOWHERE, NULL);
	connect_start(&proxy, &conn);
	tap_ok(tap,
	    conn.server.fd == -1 && watched == 0 && refused == PROXY_FAILED,
	    "and refused if there is nothing else");
	conn = conn_to(port, HERE, NULL);
	conn.via = PROXY_BY_PUBLISH;
	connect_start(&proxy, &conn);
	tap_ok(tap, inside == 1 && refused == PROXY_FAILED,
	    "no socket inside for what is published");
}

/* What epoll(7) would tell. */
static void
await(struct conn *conn)
{
	struct pollfd wait = { .fd = conn->server.fd, .events = POLLOUT };

	poll(&wait, 1, -1);
	conn->server.writable = true;
}

static void
test_check(struct tap *tap, uint16_t port, uint16_t unserved)
{
	struct conn conn = conn_to(port, HERE, NULL);

	connect_start(&proxy, &conn);
	conn.server.writable = false;
	connect_check(&proxy, &conn);
	tap_ok(tap, relayed == 0 && conn.deadline != 0,
	    "as long as it is not writable, it is not connected");
	await(&conn);
	connect_check(&proxy, &conn);
	tap_ok(tap, relayed == 1 && conn.deadline == 0, "then it is");
	close(conn.server.fd);
	conn = conn_to(unserved, HERE, NULL);
	connect_start(&proxy, &conn);
	if (refused == NO_VERDICT) {
		await(&conn);
		connect_check(&proxy, &conn);
	}
	tap_ok(tap,
	    relayed == 0 && refused == PROXY_FAILED && conn.server.fd == -1,
	    "nobody serves the port");
}

static void
test_upstream(struct tap *tap, uint16_t port)
{
	const struct sbx_proxy upstream = { .port = port };
	struct conn conn = conn_to(1, HERE, NULL);

	proxy.upstream = &upstream;
	connect_upstream(&proxy, &conn);
	tap_ok(tap,
	    conn.stage == STAGE_CONNECT && watched == 1 &&
		refused == NO_VERDICT && conn.address_count == 0 &&
		conn.deadline == NOW + CONNECT_TIME,
	    "the user's proxy, by its port");
	await(&conn);
	connect_check(&proxy, &conn);
	tap_ok(tap, relayed == 1 && refused == NO_VERDICT,
	    "which is connected to");
	close(conn.server.fd);
	conn = conn_to(1, HERE, NULL);
	proxy.upstream_path = "/nonexistent/proxy";
	connect_upstream(&proxy, &conn);
	tap_ok(tap, watched == 0 && refused == PROXY_FAILED,
	    "by a path at which there is none");
	if (conn.server.fd >= 0)
		close(conn.server.fd);
}

/* --- pipes ----------------------------------------------------------------- */

struct line {
	struct end from, to;
	int in, out; /* the other ends */
	struct flow flow;
};

static void
open_line(struct line *line)
{
	int in[2], out[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) != 0) {
		printf("Bail out! no sockets\n");
		exit(1);
	}
	line->in = in[0];
	line->out = out[0];
	line->from = (struct end){ .fd = in[1], .readable = true };
	line->to = (struct end){ .fd = out[1] };
	flow_init(&line->flow, &line->from, &line->to);
}

static void
close_line(struct line *line, struct pipes *pipes)
{
	flow_close(&line->flow, pipes);
	close(line->in);
	close(line->out);
	close(line->from.fd);
	close(line->to.fd);
}

static bool
arrives(const struct line *line, const char *text)
{
	char bytes[64];
	ssize_t len = recv(line->out, bytes, sizeof bytes, MSG_DONTWAIT);

	return len == (ssize_t)strlen(text) &&
	    memcmp(bytes, text, (size_t)len) == 0;
}

static void
put(const struct line *line, const char *text)
{
	if (write(line->in, text, strlen(text)) < 0)
		printf("Bail out! nothing can be written\n");
}

/* A pipe that was given back is the next one's, and nobody else's. */
static void
test_pipes(struct tap *tap)
{
	struct pipes pipes = { .count = 0 };
	struct line first, second;

	open_line(&first);
	open_line(&second);
	first.to.writable = second.to.writable = true;
	put(&first, "one");
	tap_ok(tap,
	    flow_run(&first.flow, &pipes) == FLOW_WAITS &&
		arrives(&first, "one"),
	    "bytes go by");
	tap_ok(tap, pipes.count == 1 && first.flow.pipe.read == -1,
	    "who has none any more has no pipe");
	second.to.writable = false;
	put(&second, "two");
	flow_run(&second.flow, &pipes);
	tap_ok(tap, pipes.count == 0 && second.flow.held == 3,
	    "who waits has it");
	first.from.readable = true;
	put(&first, "three");
	flow_run(&first.flow, &pipes);
	tap_ok(tap, arrives(&first, "three"), "each gets its own bytes");
	second.to.writable = true;
	flow_run(&second.flow, &pipes);
	tap_ok(tap, arrives(&second, "two"), "and the other one, too");
	tap_ok(tap, pipes.count == 2 && pipes.large == 2, "two pipes are kept");
	close_line(&first, &pipes);
	close_line(&second, &pipes);
}

/* More than are kept are closed; what is closed is not kept. */
static void
test_many_pipes(struct tap *tap)
{
	static struct line lines[PIPES_KEPT + 2];
	enum { LINES = PIPES_KEPT + 2 };
	struct pipes pipes = { .count = 0 };
	int before = tap_descriptors();

	for (unsigned i = 0; i < LINES; i++) {
		open_line(&lines[i]);
		put(&lines[i], "x");
		flow_run(&lines[i].flow, &pipes);
	}
	tap_ok(tap, pipes.count == 0 && pipes.large == PIPES_KEPT,
	    "only as many are large as are kept");
	for (unsigned i = 0; i < LINES; i++) {
		lines[i].to.writable = i > 0;
		flow_run(&lines[i].flow, &pipes);
	}
	tap_ok(tap, pipes.count == PIPES_KEPT, "no more are kept");
	for (unsigned i = 0; i < LINES; i++)
		close_line(&lines[i], &pipes);
	tap_ok(tap,
	    pipes.count == PIPES_KEPT && lines[0].flow.held == 0 &&
		lines[0].flow.pipe.read == -1,
	    "a pipe with bytes in it is closed, once");
	tap_ok(tap, tap_descriptors() == before + 2 * PIPES_KEPT,
	    "nothing is open but what is kept");
	while (pipes.count > 0) {
		close(pipes.kept[--pipes.count].read);
		close(pipes.kept[pipes.count].write);
	}
}

static void
test_ends(struct tap *tap)
{
	struct pipes pipes = { .count = 0 };
	struct line line;
	char byte;

	open_line(&line);
	line.to.writable = true;
	line.flow.budget = 2;
	put(&line, "head");
	tap_ok(tap,
	    flow_put(&line.flow, &pipes, "a", 1) &&
		flow_run(&line.flow, &pipes) == FLOW_WAITS &&
		arrives(&line, "ahe"),
	    "ours go first, and then no more than the budget");
	line.flow.budget = FLOW_ENDLESS;
	shutdown(line.in, SHUT_WR);
	line.from.readable = true;
	tap_ok(tap,
	    flow_run(&line.flow, &pipes) == FLOW_DONE && arrives(&line, "ad") &&
		recv(line.out, &byte, 1, MSG_DONTWAIT) == 0,
	    "the rest, and its end");
	tap_ok(tap, flow_run(&line.flow, &pipes) == FLOW_DONE,
	    "which stays the end");
	close_line(&line, &pipes);
	open_line(&line);
	line.to.writable = true;
	close(line.out);
	put(&line, "lost");
	tap_ok(tap, flow_run(&line.flow, &pipes) == FLOW_BROKEN,
	    "nobody is there to take it");
	line.out = -1;
	close_line(&line, &pipes);
}

/* Without room for descriptors. */
static void
test_no_pipe(struct tap *tap)
{
	struct pipes pipes = { .count = 0 };
	struct rlimit before, none;
	struct line line;
	bool put_in;

	open_line(&line);
	put(&line, "lost");
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	put_in = flow_put(&line.flow, &pipes, "a", 1);
	tap_ok(tap,
	    !put_in && flow_run(&line.flow, &pipes) == FLOW_BROKEN &&
		line.flow.held == 0,
	    "without a pipe nothing goes by");
	setrlimit(RLIMIT_NOFILE, &before);
	close_line(&line, &pipes);
}

int
main(void)
{
	struct tap tap = { 0 };
	uint16_t port, unserved;
	int server = open_port(true, &port),
	    other = open_port(false, &unserved);

	/* As in the proxy. */
	signal(SIGPIPE, SIG_IGN);
	test_addresses(&tap, port);
	test_at_once(&tap, port);
	test_check(&tap, port, unserved);
	test_upstream(&tap, port);
	close(server);
	close(other);
	test_pipes(&tap);
	test_many_pipes(&tap);
	test_ends(&tap);
	test_no_pipe(&tap);
	return tap_done(&tap);
}
