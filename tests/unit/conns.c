/*
 * The life of a connection of sbx-proxy (runtime/proxy/conn.c): what is done in
 * each stage and when it has waited for too long, and that nothing is left of it.
 */
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NOW = 5000000 };

static struct tap tap;
static struct proxy proxy;
static struct conn *conn;
static int client; /* the other end */

/* What was done, in words. */
static char done[512];

/* What relay_run() makes of it: it has more to do so many times. */
static int more;

static void
note(const char *what)
{
	size_t used = strlen(done);

	snprintf(done + used, sizeof done - used, "%s%s", used > 0 ? " " : "",
	    what);
}

/* What was set of sockets: to send at once, to look for those that are gone, and
 * to be reset when they are closed. */
static int at_once, kept_alive, lingers;

int
setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	const struct linger *linger = value;
	int number;

	(void)fd;
	memcpy(&number, value, sizeof number);
	at_once += level == IPPROTO_TCP && name == TCP_NODELAY && number == 1;
	kept_alive += level == SOL_SOCKET && name == SO_KEEPALIVE &&
	    number == 1;
	lingers += level == SOL_SOCKET && name == SO_LINGER &&
	    len == sizeof *linger && linger->l_onoff == 1 &&
	    linger->l_linger == 0;
	return 0;
}

/* --- in place of the other parts ------------------------------------------ */

#define STEP(function, word) \
	void function(struct proxy *serving, struct conn *one) \
	{ \
		(void)serving; \
		(void)one; \
		note(word); \
	}

STEP(resolve_stream, "query")
STEP(client_head, "head")
STEP(client_request, "request")
STEP(connect_check, "check")
STEP(connect_next, "next")
STEP(relay_upstream, "upstream")
STEP(lookup_forget, "forget")

void
relay_run(struct proxy *serving, struct conn *one)
{
	note("relay");
	one->again = more > 0;
	serving->unready |= one->again;
	more -= more > 0;
}

void
client_refused(struct proxy *serving, struct conn *one,
    enum proxy_verdict verdict)
{
	(void)serving;
	(void)one;
	note(verdict == PROXY_FAILED ? "failed" : "refused");
}

void
tell(struct proxy *serving, const struct conn *one, enum proxy_verdict verdict)
{
	(void)serving;
	(void)one;
	note(verdict == PROXY_LIMIT ? "limit" : "told");
}

/* --- the stage ------------------------------------------------------------ */

static void
begin(enum stage stage)
{
	int ends[2];

	memset(&proxy, 0, sizeof proxy);
	proxy.now = NOW;
	proxy.epoll = epoll_create1(EPOLL_CLOEXEC);
	tap_must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		     0, ends) == 0,
	    "a socket");
	client = ends[0];
	conn = conn_new(&proxy, ends[1], PROXY_BY_HTTP);
	tap_must(conn != NULL, "a connection");
	conn->stage = (uint8_t)stage;
	*done = '\0';
	more = lingers = 0;
}

static void
end(void)
{
	if (proxy.conns != NULL && !proxy.conns->dead)
		conn_close(&proxy, proxy.conns);
	proxy.unready = true;
	conns_sweep(&proxy);
	close(client);
	close(proxy.epoll);
}

static bool
did(const char *expected)
{
	if (strcmp(done, expected) == 0)
		return true;
	printf("# %s\n", done);
	return false;
}

/* --- beginning and end ---------------------------------------------------- */

static void
check_new(void)
{
	int before = tap_descriptors(), ends[2];
	struct conn *second;

	at_once = kept_alive = 0;
	begin(STAGE_HEAD);
	tap_ok(&tap, at_once == 1 && kept_alive == 1,
	    "what comes is sent at once, and who is gone is noticed");
	tap_ok(&tap,
	    conn->client.fd >= 0 && conn->server.fd == -1 &&
		conn->via == PROXY_BY_HTTP && conn->rule == UINT32_MAX &&
		conn->id == 1 && proxy.conn_count == 1 && conn->deadline == 0 &&
		conn->up.from == &conn->client &&
		conn->up.to == &conn->server &&
		conn->down.from == &conn->server &&
		conn->down.to == &conn->client,
	    "a new connection");
	tap_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a socket");
	second = conn_new(&proxy, ends[1], PROXY_BY_SOCKS);
	tap_ok(&tap,
	    second != NULL && second->id == 2 && proxy.conn_count == 2 &&
		proxy.conns == second && second->next == conn,
	    "and the next one");
	conn_close(&proxy, conn);
	tap_ok(&tap, conn->dead && proxy.conn_count == 1 && proxy.unready,
	    "the first one is over");
	conns_sweep(&proxy);
	tap_ok(&tap, proxy.conns == second && second->next == NULL, "and gone");
	conn_close(&proxy, second);
	conn_close(&proxy, second);
	tap_ok(&tap, proxy.conn_count == 0, "one ends once");
	close(ends[0]);
	end();
	tap_ok(&tap, proxy.conns == NULL && tap_descriptors() == before,
	    "nothing is left");
	begin(STAGE_HEAD);
	tap_ok(&tap,
	    conn_new(&proxy, dup(conn->client.fd), PROXY_BY_HTTP) != NULL &&
		conn_new(&proxy, open("/dev/null", O_RDONLY | O_CLOEXEC),
		    PROXY_BY_HTTP) == NULL,
	    "what cannot be waited for is none");
	conn_close(&proxy, proxy.conns->next);
	end();
	if (proxy.conns != NULL)
		conn_close(&proxy, proxy.conns);
	proxy.unready = true;
	conns_sweep(&proxy);
	tap_ok(&tap, proxy.conns == NULL && tap_descriptors() == before,
	    "of which nothing is left either");
}

/* Each change is told once, and the end of what the client says is one. */
static void
check_watched(void)
{
	struct epoll_event event = { .events = 0 };
	int first, second, third;

	begin(STAGE_HEAD);
	first = epoll_wait(proxy.epoll, &event, 1, 0);
	tap_ok(&tap,
	    first == 1 && event.events == EPOLLOUT &&
		event.data.ptr == &conn->client_source,
	    "a client that may be written to");
	second = epoll_wait(proxy.epoll, &event, 1, 0);
	shutdown(client, SHUT_WR);
	third = epoll_wait(proxy.epoll, &event, 1, 0);
	tap_ok(&tap,
	    second == 0 && third == 1 &&
		event.events == (EPOLLIN | EPOLLOUT | EPOLLRDHUP),
	    "and then one that says no more");
	end();
}

/* Whatever it has open. */
static void
check_end(void)
{
	for (int reset = 0; reset < 2; reset++) {
		int before = tap_descriptors(), ends[2];

		begin(STAGE_RELAY);
		tap_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0,
		    "a socket");
		conn->server.fd = ends[0];
		tap_must(flow_put(&conn->up, &proxy.pipes, "a", 1) &&
			flow_put(&conn->down, &proxy.pipes, "b", 1),
		    "pipes");
		conn->head = malloc(16);
		if (reset)
			conn_reset(&proxy, conn);
		else
			conn_close(&proxy, conn);
		tap_ok(&tap,
		    did("forget") && lingers == 2 * reset && conn->dead &&
			conn->client.fd == -1 && conn->server.fd == -1 &&
			proxy.pipes.large == 0,
		    "reset %d: it waits for no name, and has no pipes", reset);
		close(ends[1]);
		end();
		tap_ok(&tap, tap_descriptors() == before,
		    "reset %d: nothing is open", reset);
	}
}

/* --- stages --------------------------------------------------------------- */

static void
check_stages(void)
{
	static const struct {
		enum stage stage;
		const char *run, *late;
		bool ends; /* when it is late */
	} cases[] = {
		{ STAGE_QUERY, "query", "forget", true },
		{ STAGE_HEAD, "head", "limit forget", true },
		{ STAGE_REQUEST, "request", "limit forget", true },
		{ STAGE_LOOKUP, "", "failed", false },
		{ STAGE_CONNECT, "check", "next", false },
		{ STAGE_UPSTREAM, "upstream", "failed", false },
		{ STAGE_RELAY, "relay", "limit forget", true },
		{ STAGE_DRAIN, "", "forget", true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(cases[i].stage);
		conn->again = true;
		conn_run(&proxy, conn);
		tap_ok(&tap, did(cases[i].run) && !conn->again,
		    "stage %d: what is done", cases[i].stage);
		*done = '\0';
		conns_tick(&proxy);
		tap_ok(&tap, did("") && !proxy.ticks,
		    "stage %d: it may wait for ever", cases[i].stage);
		conn->deadline = NOW + 1;
		conns_tick(&proxy);
		tap_ok(&tap, did("") && proxy.ticks, "stage %d: or until then",
		    cases[i].stage);
		conn->deadline = NOW;
		conns_tick(&proxy);
		tap_ok(&tap,
		    did(cases[i].late) && conn->dead == cases[i].ends &&
			proxy.ticks == !cases[i].ends,
		    "stage %d: which is over", cases[i].stage);
		*done = '\0';
		if (cases[i].ends) {
			conns_tick(&proxy);
			tap_ok(&tap, did(""), "and it is not late twice");
		}
		end();
	}
}

/* Who has more to do does it in the next turn. */
static void
check_sweep(void)
{
	begin(STAGE_RELAY);
	more = 2;
	conn_run(&proxy, conn);
	tap_ok(&tap, proxy.unready && conn->again, "it has more to do");
	conns_sweep(&proxy);
	tap_ok(&tap, did("relay relay") && proxy.unready, "and still");
	conns_sweep(&proxy);
	tap_ok(&tap, did("relay relay relay") && !proxy.unready && !conn->again,
	    "and no more");
	conns_sweep(&proxy);
	tap_ok(&tap, did("relay relay relay"), "which is nothing to do");
	proxy.unready = true;
	conns_sweep(&proxy);
	tap_ok(&tap, did("relay relay relay") && !proxy.unready,
	    "also where others have");
	end();
}

/* --- what epoll(7) tells -------------------------------------------------- */

static void
check_events(void)
{
	static const struct {
		uint32_t events;
		bool readable, writable, hung_up;
	} cases[] = {
		{ EPOLLIN, true, false, false },
		{ EPOLLOUT, false, true, false },
		{ EPOLLRDHUP, true, false, true },
		{ EPOLLHUP, true, true, true },
		{ EPOLLERR, true, true, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (int server = 0; server < 2; server++) {
			struct end *end_of, *other;
			struct source *source;

			begin(STAGE_RELAY);
			end_of = server ? &conn->server : &conn->client;
			other = server ? &conn->client : &conn->server;
			source = server ? &conn->server_source :
					  &conn->client_source;
			source->ready(&proxy, source, cases[i].events);
			tap_ok(&tap,
			    did("relay") &&
				end_of->readable == cases[i].readable &&
				end_of->writable == cases[i].writable &&
				end_of->hung_up == cases[i].hung_up &&
				!other->readable && !other->writable &&
				!other->hung_up,
			    "event %#x, server %d", cases[i].events, server);
			conn_close(&proxy, conn);
			*done = '\0';
			source->ready(&proxy, source, cases[i].events);
			tap_ok(&tap, did(""), "nothing of one that is over");
			end();
		}
	}
}

/* An error where nobody reads or writes any more. */
static void
check_gone(void)
{
	for (int i = 0; i < 16; i++) {
		bool server = i & 1, error = i & 2, is_done = i & 4,
		     holds = i & 8;
		struct source *source;
		struct flow *from, *to;

		begin(STAGE_RELAY);
		source = server ? &conn->server_source : &conn->client_source;
		from = server ? &conn->down : &conn->up;
		to = server ? &conn->up : &conn->down;
		from->done = is_done;
		to->held = holds ? 1 : 0;
		source->ready(&proxy, source, error ? EPOLLERR : EPOLLIN);
		to->held = 0;
		tap_ok(&tap, conn->dead == (error && is_done && !holds),
		    "server %d, error %d, at its end %d, more for it %d",
		    server, error, is_done, holds);
		end();
	}
	begin(STAGE_CONNECT);
	conn->client_source.ready(&proxy, &conn->client_source, EPOLLERR);
	tap_ok(&tap, conn->dead && did("forget"),
	    "a client that is gone is not served");
	end();
	begin(STAGE_CONNECT);
	conn->down.done = true;
	conn->server_source.ready(&proxy, &conn->server_source, EPOLLERR);
	tap_ok(&tap, !conn->dead && did("check"),
	    "an error of the server's is for who connects to it");
	end();
}

/* --- bytes ---------------------------------------------------------------- */

static void
check_peek(void)
{
	begin(STAGE_HEAD);
	tap_must(send(client, "abcd", 4, 0) == 4, "bytes");
	tap_ok(&tap, conn_peek(&proxy, conn, &conn->client, 9) == -1,
	    "nobody has said that there is something");
	conn->client.readable = true;
	tap_ok(&tap,
	    conn_peek(&proxy, conn, &conn->client, 3) == 3 &&
		memcmp(proxy.bytes, "abc", 3) == 0 &&
		conn_peek(&proxy, conn, &conn->client, 9) == 4,
	    "bytes are looked at, and stay");
	end_take(&proxy, &conn->client, 3);
	tap_ok(&tap,
	    conn_peek(&proxy, conn, &conn->client, 9) == 1 &&
		*proxy.bytes == 'd' && conn->client.readable,
	    "until they are taken");
	end_take(&proxy, &conn->client, 9);
	tap_ok(&tap,
	    conn_peek(&proxy, conn, &conn->client, 9) == -1 &&
		!conn->client.readable && !conn->dead,
	    "then there is nothing yet");
	conn->client.readable = true;
	shutdown(client, SHUT_WR);
	tap_ok(&tap,
	    conn_peek(&proxy, conn, &conn->client, 9) == 0 &&
		conn->client.readable && !conn->dead,
	    "and the end is one");
	end();
	begin(STAGE_HEAD);
	conn->server = (struct end){ .fd = dup(proxy.epoll), .readable = true };
	tap_ok(&tap,
	    conn_peek(&proxy, conn, &conn->server, 9) == -1 && conn->dead,
	    "an error ends it");
	end();
}

/* A page goes out, and what still comes is read for a while. */
static void
check_drain(void)
{
	static char bytes[100000];
	char byte;

	begin(STAGE_HEAD);
	tap_must(send(client, bytes, sizeof bytes, 0) == sizeof bytes, "bytes");
	conn->client.readable = true;
	conn_drain(&proxy, conn);
	tap_ok(&tap,
	    did("forget") && conn->stage == STAGE_DRAIN &&
		conn->deadline == NOW + DRAIN_TIME && !conn->dead &&
		!conn->client.readable && recv(client, &byte, 1, 0) == 0,
	    "no more is said, and all is read");
	conn->client.readable = true;
	shutdown(client, SHUT_WR);
	conn_run(&proxy, conn);
	tap_ok(&tap, conn->dead, "up to its end");
	end();
}

int
main(void)
{
	check_new();
	check_watched();
	check_end();
	check_stages();
	check_sweep();
	check_events();
	check_gone();
	check_peek();
	check_drain();
	return tap_done(&tap);
}
