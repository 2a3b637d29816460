/*
 * The life of connections in sbx-proxy, without a network: clients and servers
 * are sockets of this process, and each byte of the input says what happens
 * next.  Somebody comes, sends in pieces, ends his side, goes; a name is looked
 * up; time passes; or one of the next calls of the proxy fails, as any of them
 * may.
 *
 * However that goes, what is relayed without a head is what was sent, as far as
 * it came; nothing goes round for ever; and at the end no connection, descriptor
 * or byte of memory is left.
 */
#include "runtime/proxy/proxy.h"
#define FUZZ_NO_TEXTS
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PEERS = 6,
	TURNS_MAX = 2000, /* until nothing is left to be done */
	STEPS_MAX = 400,
	PERIOD = 251,
	BULK = 100000,
};

/* A connection, from outside of the proxy. */
struct peer {
	int client, server; /* our ends; -1: closed, or none yet */
	struct conn *conn;  /* NULL: unknown, or gone */
	uint64_t id;
	bool bare;                /* nothing but the pattern goes through */
	bool web;                 /* and that is neither TLS nor HTTP */
	uint64_t sent[2], got[2]; /* by the client, by the server */
};

static struct world {
	struct proxy proxy;
	struct peer peers[PEERS];
	struct conn *looked_up; /* waits for an answer */
	unsigned fault;         /* which of the next calls fails; 0: none */
	int error;
	const uint8_t *at, *end; /* of the input */
} world;

static uint8_t
next(void)
{
	return world.at < world.end ? *world.at++ : 0;
}

/* --- calls that may fail -------------------------------------------------- */

static bool
fails(void)
{
	if (world.fault == 0 || --world.fault > 0)
		return false;
	errno = world.error;
	return true;
}

ssize_t __real_splice(int in, off_t *from, int out, off_t *to, size_t size,
    unsigned flags);
ssize_t __wrap_splice(int in, off_t *from, int out, off_t *to, size_t size,
    unsigned flags);
ssize_t __real_recv(int fd, void *bytes, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t size, int flags);
ssize_t __real_send(int fd, const void *bytes, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __real_pipe2(int ends[2], int flags);
int __wrap_pipe2(int ends[2], int flags);
int __real_epoll_ctl(int poll, int what, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int poll, int what, int fd, struct epoll_event *event);
int __real_getsockopt(int fd, int level, int name, void *value,
    socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value,
    socklen_t *size);
int __real_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __wrap_socket(int family, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t size);

ssize_t
__wrap_splice(int in, off_t *from, int out, off_t *to, size_t size,
    unsigned flags)
{
	return fails() ? -1 : __real_splice(in, from, out, to, size, flags);
}

ssize_t
__wrap_recv(int fd, void *bytes, size_t size, int flags)
{
	return fails() ? -1 : __real_recv(fd, bytes, size, flags);
}

ssize_t
__wrap_send(int fd, const void *bytes, size_t size, int flags)
{
	return fails() ? -1 : __real_send(fd, bytes, size, flags);
}

ssize_t
__wrap_write(int fd, const void *bytes, size_t size)
{
	return fails() ? -1 : __real_write(fd, bytes, size);
}

int
__wrap_pipe2(int ends[2], int flags)
{
	return fails() ? -1 : __real_pipe2(ends, flags);
}

int
__wrap_epoll_ctl(int poll, int what, int fd, struct epoll_event *event)
{
	return fails() ? -1 : __real_epoll_ctl(poll, what, fd, event);
}

int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	return fails() ? -1 : __real_getsockopt(fd, level, name, value, size);
}

int
__wrap_shutdown(int fd, int how)
{
	return fails() ? -1 : __real_shutdown(fd, how);
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

static struct peer *
peer_of(const struct conn *conn)
{
	for (int i = 0; i < PEERS; i++) {
		if (world.peers[i].conn == conn && conn != NULL)
			return &world.peers[i];
	}
	return NULL;
}

static struct peer *
peer_connecting(int fd)
{
	for (struct conn *conn = world.proxy.conns; conn != NULL;
	     conn = conn->next) {
		if (!conn->dead && conn->server.fd == fd)
			return peer_of(conn);
	}
	return NULL;
}

/* Of no family: connect(2) puts another one in its place. */
int
__wrap_socket(int family, int type, int protocol)
{
	int ends[2];

	(void)family;
	(void)protocol;
	if (fails() || socketpair(AF_UNIX, type, 0, ends) != 0)
		return -1;
	close(ends[1]);
	return ends[0];
}

int
__wrap_connect(int fd, const struct sockaddr *to, socklen_t size)
{
	struct peer *peer = peer_connecting(fd);
	int ends[2];

	(void)to;
	(void)size;
	if (fails())
		return -1;
	must(peer != NULL, "a connection of nobody's");
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		 ends) == 0,
	    "socketpair");
	must(dup3(ends[0], fd, O_CLOEXEC) == fd, "dup3");
	close(ends[0]);
	if (peer->server >= 0)
		close(peer->server);
	peer->server = ends[1];
	errno = EINPROGRESS;
	return -1;
}

/* --- what other files of sbx-proxy do -------------------------------------- */

void
lookup_ask(struct proxy *proxy, struct conn *conn)
{
	conn->stage = STAGE_LOOKUP;
	conn->deadline = proxy->now + LOOKUP_TIME;
	/* One at a time is looked up; others are as if they took too long. */
	if (world.looked_up == NULL)
		world.looked_up = conn;
}

void
lookup_forget(struct proxy *proxy, struct conn *conn)
{
	(void)proxy;
	if (world.looked_up == conn)
		world.looked_up = NULL;
}

int
inside_socket(const struct proxy *proxy, int family)
{
	(void)proxy;
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void
answer_lookup(uint8_t how)
{
	static const uint8_t open_one[SBX_ADDRESS_SIZE] = { [10] = 0xff,
		[11] = 0xff,
		[12] = 11,
		[13] = 22,
		[14] = 33,
		[15] = 44 };
	struct conn *conn = world.looked_up;

	if (conn == NULL)
		return;
	world.looked_up = NULL;
	if (how % 4 == 0) {
		client_refused(&world.proxy, conn,
		    how % 8 == 0 ? PROXY_PRIVATE : PROXY_NO_SUCH_NAME);
		return;
	}
	conn->address_count = how % 4;
	for (int i = 0; i < conn->address_count; i++)
		memcpy(conn->addresses[i], open_one, sizeof open_one);
	connect_start(&world.proxy, conn);
}

/* --- turns ---------------------------------------------------------------- */

/* As in main.c; whether there was anything to do. */
static bool
turn(void)
{
	struct proxy *proxy = &world.proxy;
	struct epoll_event events[64];
	int count = epoll_wait(proxy->epoll, events, 64, 0);
	bool busy = count > 0 || proxy->unready;

	for (int i = 0; i < count; i++) {
		struct source *source = events[i].data.ptr;

		source->ready(proxy, source, events[i].events);
	}
	conns_sweep(proxy);
	/* Who is gone is freed. */
	for (int i = 0; i < PEERS; i++) {
		struct conn *at = proxy->conns;

		while (at != NULL && at->id != world.peers[i].id)
			at = at->next;
		world.peers[i].conn = at;
	}
	return busy;
}

static void
settle(void)
{
	int turns = 0;

	while (turn())
		must(++turns < TURNS_MAX, "there is always more to do");
}

/* --- peers ---------------------------------------------------------------- */

static void
come(struct peer *peer, uint8_t how)
{
	struct proxy *proxy = &world.proxy;
	struct conn *conn;
	int ends[2];

	if (peer->client >= 0 || peer->conn != NULL)
		return;
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		 ends) == 0,
	    "socketpair");
	if (peer->server >= 0)
		close(peer->server);
	*peer = (struct peer){ .client = ends[0],
		.server = -1,
		.bare = how % 2 == 0 };
	conn = conn_new(proxy, ends[1], PROXY_BY_HTTP);
	if (conn == NULL)
		return;
	peer->conn = conn;
	peer->id = conn->id;
	conn->deadline = proxy->now + HANDSHAKE_TIME;
	conn->stage = STAGE_HEAD;
	if (!peer->bare)
		return;
	/* As accept.c has it for an address of the resolver's. */
	conn->via = PROXY_BY_ADDRESS;
	conn->target = (struct target){ .by_name = true,
		.port = how % 4 == 0 ? 443 : 80 };
	peer->web = conn->target.port == 80;
	strcpy(conn->target.name,
	    how % 16 == 0 ? "evil.example" : "good.example");
	decide(proxy, conn);
}

static void
send_pattern(struct peer *peer, int side, size_t len)
{
	static char bytes[BULK + PERIOD];
	int fd = side == 0 ? peer->client : peer->server;
	ssize_t sent;

	if (fd < 0)
		return;
	for (size_t i = 0; i < PERIOD + len; i++)
		bytes[i] = (char)(i % PERIOD);
	sent = __real_send(fd, bytes + peer->sent[side] % PERIOD, len,
	    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		peer->sent[side] += (uint64_t)sent;
}

static void
send_text(struct peer *peer, int side, const void *text, size_t len)
{
	int fd = side == 0 ? peer->client : peer->server;

	/* From here on it is not the pattern alone. */
	peer->bare = false;
	if (fd >= 0)
		__real_send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
take(struct peer *peer, int side, size_t most)
{
	static char bytes[BULK];
	int fd = side == 0 ? peer->client : peer->server;
	ssize_t len = fd < 0 ? -1 : __real_recv(fd, bytes, most, MSG_DONTWAIT);

	for (ssize_t i = 0; peer->bare && i < len; i++)
		must(bytes[i] ==
			(char)((peer->got[side] + (uint64_t)i) % PERIOD),
		    "another byte than was sent");
	if (len > 0)
		peer->got[side] += (uint64_t)len;
	must(!peer->bare || peer->got[side] <= peer->sent[1 - side],
	    "more bytes than were sent");
	must(!peer->bare || !peer->web || side == 0 || peer->got[side] == 0,
	    "no protocol of the web, and a rule without a port");
}

static void
leave(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Whole requests, so that nobody has to guess them. */
static void
send_request(struct peer *peer, uint8_t which)
{
#define TEXT(text) \
	{ \
		text, sizeof(text) - 1 \
	}
	static const struct {
		const char *text;
		size_t len;
	} texts[] = {
		TEXT("CONNECT good.example:443 HTTP/1.1\r\n\r\n"),
		TEXT("GET http://good.example/ HTTP/1.1\r\n\r\n"),
		TEXT("POST http://good.example/ HTTP/1.1\r\n"
		     "Content-Length: 5\r\n\r\nab"),
		TEXT("POST http://good.example/ HTTP/1.1\r\n"
		     "Transfer-Encoding: chunked\r\n\r\n3\r\nabc"),
		TEXT("\r\n0\r\n\r\n"),
		TEXT("\5\1\0"),
		TEXT("\5\1\0\3\14good.example\1\273"),
		TEXT("CONNECT evil.example:443 HTTP/1.1\r\n\r\n"),
		TEXT("HTTP/1.1 200 OK\r\n\r\n"),
		TEXT("GET / HTTP/1.1\r\nHost: good.example\r\n\r\n"),
		TEXT("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
		TEXT("\x16\3\1\0\x44\1\0\0\x40\3\3rrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
		     "rr"
		     "r\0\0\2\x13\1\1\0\0\x15\0\0\0\x11\0\xf\0\0\14good."
		     "example"),
		TEXT("\x16\3\1\0\x44\1\0\0\x40\3\3rrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
		     "rr"
		     "r\0\0\2\x13\1\1\0\0\x15\0\0\0\x11\0\xf\0\0\14evil."
		     "example"),
	};
	size_t index = which % (sizeof texts / sizeof *texts);

	send_text(peer, 0, texts[index].text, texts[index].len);
}

static void
step(void)
{
	static const int errors[] = { EIO, EAGAIN, ENOMEM, EINTR, ECONNRESET,
		EPIPE, EMFILE, EINPROGRESS };
	uint8_t what = next(), how = next();
	struct peer *peer = &world.peers[how % PEERS];
	uint8_t raw[8] = { 0 };
	int side = what >> 7;

	switch (what % 16) {
	case 0:
	case 1:
		come(peer, what >> 4);
		break;
	case 2:
	case 3:
		send_pattern(peer, side, next());
		break;
	case 4:
		send_pattern(peer, side, BULK);
		break;
	case 5:
		send_request(peer, next());
		break;
	case 6:
		for (int i = 0; i < what >> 4 && i < 8; i++)
			raw[i] = next();
		send_text(peer, side, raw, (size_t)(what >> 4 & 7));
		break;
	case 7:
		take(peer, side, next() + 1u);
		break;
	case 8:
		take(peer, side, BULK);
		break;
	case 9:
		if ((side == 0 ? peer->client : peer->server) >= 0)
			__real_shutdown(side == 0 ? peer->client : peer->server,
			    SHUT_WR);
		break;
	case 10:
		leave(side == 0 ? &peer->client : &peer->server);
		break;
	case 11:
		answer_lookup(how);
		break;
	case 12:
		world.proxy.now += how * 64;
		conns_tick(&world.proxy);
		break;
	case 13:
		world.fault = 1u + (what >> 4);
		world.error = errors[how % 8];
		break;
	case 14: /* nothing is done between this step and the next */
		return;
	case 15:
		if (world.proxy.conns != NULL && how == 0)
			conn_reset(&world.proxy, world.proxy.conns);
		break;
	}
	settle();
}

/* --- a run ---------------------------------------------------------------- */

/* What the supervisor is told is nobody's here. */
void
tell(struct proxy *proxy, const struct conn *conn, enum proxy_verdict verdict)
{
	must(!conn->dead && verdict < PROXY_VERDICT_END, "told of nobody");
	(void)proxy;
}

void
tell_name(struct proxy *proxy, const struct conn *conn,
    enum proxy_verdict verdict, const char *name)
{
	must(strlen(name) < PROXY_EVENT_NAME, "a name that is too long");
	tell(proxy, conn, verdict);
}

void
tell_bytes(struct proxy *proxy, const struct conn *conn)
{
	tell(proxy, conn, PROXY_ALLOWED);
}

void
event_fill(struct proxy_event *event, const struct conn *conn,
    enum proxy_verdict verdict, const char *name)
{
	*event = (struct proxy_event){ .version = PROXY_EVENT_VERSION,
		.via = conn->via,
		.verdict = (uint8_t)verdict,
		.port = conn->target.port,
		.rule = conn->rule };
	strncpy(event->name, name, sizeof event->name - 1);
}

void
resolve_stream(struct proxy *proxy, struct conn *conn)
{
	conn_close(proxy, conn);
}

static int
count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 128; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void
end_all(void)
{
	struct proxy *proxy = &world.proxy;

	world.fault = 0;
	for (struct conn *conn = proxy->conns; conn != NULL; conn = conn->next)
		conn_close(proxy, conn);
	settle();
	must(proxy->conns == NULL && proxy->conn_count == 0,
	    "a connection is left");
	for (int i = 0; i < PEERS; i++) {
		leave(&world.peers[i].client);
		leave(&world.peers[i].server);
	}
	while (proxy->pipes.count > 0) {
		struct pipe *pipe = &proxy->pipes.kept[--proxy->pipes.count];

		proxy->pipes.large -= pipe->large;
		close(pipe->read);
		close(pipe->write);
	}
	must(proxy->pipes.large == 0, "a pipe is counted that is not there");
	close(proxy->epoll);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char strings[] = "good.example";
	/* On port 443 any protocol, on port 80 those of the web. */
	static const struct sbx_name names[] = {
		{ .source = SBX_NO_SOURCE, .platforms = SBX_ON_LINUX },
		{ .source = SBX_NO_SOURCE,
		    .platforms = SBX_ON_LINUX,
		    .port = 443 },
	};
	int before = count_descriptors();

	/* As main.c has it: splice(2) knows no MSG_NOSIGNAL. */
	signal(SIGPIPE, SIG_IGN);
	world = (struct world){
		.proxy = {
			.blob = { .strings = strings, .names = names,
				.strings_size = sizeof strings,
				.name_count = 2 },
			.full = true,
			.epoll = epoll_create1(EPOLL_CLOEXEC),
			.conn_max = PEERS,
			.now = 1000,
		},
		.at = data,
		.end = data + size,
	};
	for (int i = 0; i < PEERS; i++)
		world.peers[i] = (struct peer){ .client = -1, .server = -1 };
	for (int i = 0; i < STEPS_MAX && world.at < world.end; i++)
		step();
	end_all();
	must(count_descriptors() == before, "a descriptor is left");
	return 0;
}
