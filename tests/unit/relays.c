/*
 * What sbx-proxy lets through once the server is there (runtime/proxy/relay.c):
 * what the user's own proxy answers, the first bytes of TLS, and the end of a body.
 */
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NOW = 1000000, NO_VERDICT = PROXY_VERDICT_END };

static struct proxy proxy = { .now = NOW };
static unsigned refused, granted, resets;

/* Both ends are read here, without taking what is there. */
ssize_t
conn_peek(struct proxy *relaying, struct conn *conn, struct end *end,
    size_t size)
{
	(void)conn;
	if (!end->readable)
		return -1;
	return recv(end->fd, relaying->bytes, size, MSG_PEEK | MSG_DONTWAIT);
}

void
end_take(struct proxy *relaying, struct end *end, size_t len)
{
	if (recv(end->fd, relaying->bytes, len, MSG_DONTWAIT) != (ssize_t)len)
		printf("Bail out! what was looked at is gone\n");
}

bool
client_granted(struct proxy *relaying, struct conn *conn)
{
	(void)relaying;
	(void)conn;
	granted++;
	return true;
}

void
client_refused(struct proxy *relaying, struct conn *conn,
    enum proxy_verdict verdict)
{
	(void)relaying;
	(void)conn;
	refused = verdict;
}

void
conn_run(struct proxy *relaying, struct conn *conn)
{
	(void)relaying;
	(void)conn;
}

void
conn_reset(struct proxy *relaying, struct conn *conn)
{
	(void)relaying;
	conn->dead = true;
	resets++;
}

void
conn_close(struct proxy *relaying, struct conn *conn)
{
	(void)relaying;
	conn->dead = true;
}

void
conn_drain(struct proxy *relaying, struct conn *conn)
{
	(void)relaying;
	conn->stage = STAGE_DRAIN;
}

void
tell(struct proxy *relaying, const struct conn *conn,
    enum proxy_verdict verdict)
{
	(void)relaying;
	(void)conn;
	(void)verdict;
}

void
tell_name(struct proxy *relaying, const struct conn *conn,
    enum proxy_verdict verdict, const char *name)
{
	(void)relaying;
	(void)conn;
	(void)verdict;
	(void)name;
}

/* --- the stage ------------------------------------------------------------- */

struct ends {
	struct conn conn;
	int client, server; /* theirs */
};

static void
open_ends(struct ends *ends, enum stage stage)
{
	int client[2], server[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, server) != 0) {
		printf("Bail out! no sockets\n");
		exit(1);
	}
	*ends = (struct ends){
		.conn = {
			.stage = (uint8_t)stage,
			.target.name = "good.example",
			.client = { .fd = client[1], .writable = true },
			.server = { .fd = server[1], .writable = true },
		},
		.client = client[0],
		.server = server[0],
	};
	flow_init(&ends->conn.up, &ends->conn.client, &ends->conn.server);
	flow_init(&ends->conn.down, &ends->conn.server, &ends->conn.client);
	refused = NO_VERDICT;
	granted = resets = 0;
}

static void
close_ends(struct ends *ends)
{
	flow_close(&ends->conn.up, &proxy.pipes);
	flow_close(&ends->conn.down, &proxy.pipes);
	close(ends->conn.client.fd);
	close(ends->conn.server.fd);
	close(ends->client);
	close(ends->server);
}

static void
put(int from, struct end *end, const void *bytes, size_t len)
{
	if (send(from, bytes, len, MSG_DONTWAIT) != (ssize_t)len)
		printf("Bail out! nothing can be sent\n");
	end->readable = true;
}

static bool
arrives(int at, const char *text)
{
	char bytes[256];
	ssize_t len = recv(at, bytes, sizeof bytes, MSG_DONTWAIT);

	return len == (ssize_t)strlen(text) &&
	    memcmp(bytes, text, (size_t)len) == 0;
}

/* --- the user's own proxy -------------------------------------------------- */

static void
test_upstream(struct tap *tap)
{
	static const struct {
		const char *answer;
		bool opens;
	} cases[] = {
		{ "HTTP/1.1 199 no\r\n\r\n", false },
		{ "HTTP/1.1 200 yes\r\n\r\n", true },
		{ "HTTP/1.1 299 yes\r\n\r\n", true },
		{ "HTTP/1.1 300 no\r\n\r\n", false },
		{ "HTTP/1.1 407 no\r\n\r\n", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ends ends;

		open_ends(&ends, STAGE_UPSTREAM);
		put(ends.server, &ends.conn.server, cases[i].answer,
		    strlen(cases[i].answer));
		relay_upstream(&proxy, &ends.conn);
		tap_ok(tap,
		    cases[i].opens ? granted == 1 && refused == NO_VERDICT &&
			    ends.conn.stage == STAGE_RELAY :
				     granted == 0 && refused == PROXY_FAILED &&
			    ends.conn.stage == STAGE_UPSTREAM,
		    "the user's proxy answers %.12s", cases[i].answer);
		close_ends(&ends);
	}
}

/* --- the first bytes of TLS ------------------------------------------------ */

/* Whoever begins it and says no more must not stay for ever. */
static void
test_hello(struct tap *tap)
{
	static const uint8_t begun[] = { 22, 3, 1, 0, 100, 1 };
	struct ends ends;

	open_ends(&ends, STAGE_RELAY);
	ends.conn.hello_pending = true;
	put(ends.client, &ends.conn.client, begun, sizeof begun - 1);
	relay_run(&proxy, &ends.conn);
	tap_ok(tap,
	    ends.conn.deadline == NOW + HANDSHAKE_TIME && resets == 0 &&
		ends.conn.hello_pending && !arrives(ends.server, "word"),
	    "a hello that has begun has a bound, and does not pass");
	proxy.now = NOW + 1;
	put(ends.client, &ends.conn.client, begun + sizeof begun - 1, 1);
	relay_run(&proxy, &ends.conn);
	proxy.now = NOW;
	tap_ok(tap, ends.conn.deadline == NOW + HANDSHAKE_TIME,
	    "which more of it does not move");
	close_ends(&ends);
	open_ends(&ends, STAGE_RELAY);
	ends.conn.hello_pending = true;
	ends.conn.deadline = NOW + HANDSHAKE_TIME;
	put(ends.client, &ends.conn.client, "word", 4);
	relay_run(&proxy, &ends.conn);
	tap_ok(tap,
	    ends.conn.deadline == 0 && !ends.conn.hello_pending &&
		arrives(ends.server, "word"),
	    "what is no TLS passes, and has none");
	close_ends(&ends);
}

/* --- bodies ---------------------------------------------------------------- */

/* Bytes behind it are neither sent nor looked at again and again. */
static void
test_body(struct tap *tap)
{
	static const char body[] = "1\r\nx\r\n0\r\n\r\n", behind[] = "GET /";
	struct ends ends;

	open_ends(&ends, STAGE_RELAY);
	ends.conn.form = FORM_REQUEST;
	ends.conn.chunked = true;
	ends.conn.up.budget = 0;
	put(ends.client, &ends.conn.client, body, sizeof body - 1);
	put(ends.client, &ends.conn.client, behind, sizeof behind - 1);
	relay_run(&proxy, &ends.conn);
	tap_ok(tap,
	    arrives(ends.server, body) && resets == 0 && !ends.conn.dead,
	    "a body of chunks passes, and nothing behind it");
	relay_run(&proxy, &ends.conn);
	tap_ok(tap, !ends.conn.again && !ends.conn.chunked && resets == 0,
	    "for which nobody is woken any more");
	put(ends.server, &ends.conn.server, "answer", 6);
	shutdown(ends.server, SHUT_WR);
	relay_run(&proxy, &ends.conn);
	tap_ok(tap,
	    arrives(ends.client, "answer") && ends.conn.stage == STAGE_DRAIN,
	    "the answer is the end");
	close_ends(&ends);
}

int
main(void)
{
	struct tap tap = { 0 };

	/* As in the proxy. */
	signal(SIGPIPE, SIG_IGN);
	test_upstream(&tap);
	test_hello(&tap);
	test_body(&tap);
	return tap_done(&tap);
}
