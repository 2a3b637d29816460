/*
 * What sbx-proxy answers to clients that ask in HTTP or SOCKS, and what it takes
 * from them (runtime/proxy/client.c).  The connection and the policy are the
 * test's word.
 */
#include "runtime/proxy/proxy.h"
#include "runtime/proxy/socks.h"
#include "tests/lib/tap.h"

#include <sys/socket.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { ROOM = 2 * HTTP_HEAD_MAX, NAME_RULE = 1, ADDRESS_RULE = 0 };

static struct tap tap;
static struct proxy proxy;
static struct conn conn;
static int client = -1;

/* What came of the connection, in words, and what was told. */
static char became[4096], told[4096];

static void
become(const char *what)
{
	size_t used = strlen(became);

	snprintf(became + used, sizeof became - used, "%s%s",
	    used > 0 ? " " : "", what);
}

/* --- in place of the other parts ------------------------------------------ */

void
conn_reset(struct proxy *serving, struct conn *one)
{
	(void)serving;
	one->dead = true;
	become("reset");
}

void
conn_close(struct proxy *serving, struct conn *one)
{
	(void)serving;
	one->dead = true;
	become("closed");
}

void
conn_drain(struct proxy *serving, struct conn *one)
{
	(void)serving;
	(void)one;
	become("drained");
}

void
conn_run(struct proxy *serving, struct conn *one)
{
	(void)serving;
	(void)one;
	become("goes on");
}

void
decide(struct proxy *serving, struct conn *one)
{
	char text[1024];

	(void)serving;
	snprintf(text, sizeof text, "%s %s:%u",
	    one->target.by_name ? "name" : "address", one->target.name,
	    one->target.port);
	become(text);
}

void
tell(struct proxy *serving, const struct conn *one, enum proxy_verdict verdict)
{
	size_t used = strlen(told);

	(void)serving;
	snprintf(told + used, sizeof told - used, "%s %d;", one->target.name,
	    verdict);
}

void
event_fill(struct proxy_event *event, const struct conn *one,
    enum proxy_verdict verdict, const char *name)
{
	*event = (struct proxy_event){ .via = one->via,
		.verdict = (uint8_t)verdict,
		.port = one->target.port };
	snprintf(event->name, sizeof event->name, "%s", name);
}

ssize_t
conn_peek(struct proxy *serving, struct conn *one, struct end *end, size_t size)
{
	(void)one;
	if (!end->readable)
		return -1;
	return recv(end->fd, serving->bytes,
	    size < sizeof serving->bytes ? size : sizeof serving->bytes,
	    MSG_PEEK | MSG_DONTWAIT);
}

void
end_take(struct proxy *serving, struct end *end, size_t len)
{
	static char room[ROOM];

	(void)serving;
	if (recv(end->fd, room, len, MSG_DONTWAIT) != (ssize_t)len)
		become("took too much");
}

/* --- the stage ------------------------------------------------------------ */

static void
begin(void)
{
	int ends[2];

	if (client >= 0) {
		close(client);
		close(conn.client.fd);
	}
	tap_must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
	    "a socket");
	free(conn.head);
	client = ends[0];
	conn = (struct conn){ .client = { .fd = ends[1], .readable = true },
		.via = PROXY_BY_HTTP,
		.stage = STAGE_HEAD,
		.target = { .port = 443,
		    .name = "good.example",
		    .by_name = true } };
	*became = *told = '\0';
	proxy.upstream = NULL;
}

static size_t
hear(char *bytes, size_t size)
{
	ssize_t len = recv(client, bytes, size - 1, MSG_DONTWAIT);

	bytes[len < 0 ? 0 : len] = '\0';
	return len < 0 ? 0 : (size_t)len;
}

static void
send_to_proxy(const void *bytes, size_t len)
{
	tap_must(send(client, bytes, len, 0) == (ssize_t)len, "a request");
}

/* How many bytes nobody has taken. */
static size_t
left(void)
{
	char room[256];
	ssize_t len = recv(conn.client.fd, room, sizeof room,
	    MSG_PEEK | MSG_DONTWAIT);

	return len < 0 ? 0 : (size_t)len;
}

/* --- refusals ------------------------------------------------------------- */

static const struct refusal {
	enum proxy_verdict verdict;
	uint8_t via;
	uint16_t port;
	const char *status, *reason, *page;
	enum socks_code code;
} refusals[] = {
	{ PROXY_DENIED, PROXY_BY_HTTP, 443, "403 Forbidden", "denied",
	    "a rule denies it\nsbx: name.sbx:7:8 denies it\n",
	    SOCKS_NOT_ALLOWED },
	{ PROXY_DENIED, PROXY_BY_ENDPOINT, 443, "403 Forbidden", "denied",
	    "a rule denies it\nsbx: address.sbx:3:4 denies it\n",
	    SOCKS_NOT_ALLOWED },
	{ PROXY_NO_RULE, PROXY_BY_HTTP, 443, "403 Forbidden", "no-rule",
	    "no rule allows it\nsbx: this rule would allow it: allow network "
	    "domain \"good.example\"\n",
	    SOCKS_NOT_ALLOWED },
	{ PROXY_NO_RULE, PROXY_BY_HTTP, 22, "403 Forbidden", "no-rule",
	    "no rule allows it\nsbx: this rule would allow it: allow network "
	    "domain \"good.example:22\"\n",
	    SOCKS_NOT_ALLOWED },
	{ PROXY_PRIVATE, PROXY_BY_HTTP, 443, "403 Forbidden", "private-address",
	    "it has no address that is public\nsbx: this rule would allow it: "
	    "allow network domain { \"good.example\" private }\n",
	    SOCKS_NOT_ALLOWED },
	{ PROXY_RESERVED, PROXY_BY_HTTP, 443, "403 Forbidden",
	    "reserved-address",
	    "it has only addresses that no name may lead to\n",
	    SOCKS_NOT_ALLOWED },
	{ PROXY_NO_SUCH_NAME, PROXY_BY_HTTP, 443, "502 Bad Gateway",
	    "no-such-name", "there is no host of this name\n",
	    SOCKS_HOST_UNREACHABLE },
	{ PROXY_FAILED, PROXY_BY_HTTP, 443, "502 Bad Gateway", "failed",
	    "there is no connection to it\n", SOCKS_REFUSED },
	{ PROXY_LIMIT, PROXY_BY_HTTP, 443, "503 Service Unavailable", "limit",
	    "there are too many connections\n", SOCKS_FAILED },
};

static void
refuse(const struct refusal *refusal, enum form form)
{
	begin();
	conn.form = (uint8_t)form;
	conn.via = refusal->via;
	conn.target.port = refusal->port;
	conn.rule = refusal->via == PROXY_BY_ENDPOINT ? ADDRESS_RULE :
							NAME_RULE;
	client_refused(&proxy, &conn, refusal->verdict);
}

static bool
is_page(const char *said, const char *status, const char *reason,
    const char *page)
{
	char expected[1024];

	snprintf(expected, sizeof expected,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nConnection: close\r\n"
	    "X-Sbx-Reason: %s\r\nContent-Length: %zu\r\n\r\n%s",
	    status, reason, strlen(page), page);
	return strcmp(said, expected) == 0;
}

static void
check_refusals(void)
{
	for (size_t i = 0; i < countof(refusals); i++) {
		const struct refusal *refusal = &refusals[i];
		char said[1024], page[512], event[64];
		uint8_t answer[SOCKS_ANSWER + 2];
		bool held = true;

		snprintf(page, sizeof page, "sbx: good.example:%u: %s",
		    refusal->port, refusal->page);
		snprintf(event, sizeof event, "good.example %d;",
		    refusal->verdict);
		for (int form = FORM_TUNNEL; form <= FORM_REQUEST; form++) {
			refuse(refusal, (enum form)form);
			hear(said, sizeof said);
			held &= is_page(said, refusal->status, refusal->reason,
				    page) &&
			    strcmp(became, "drained") == 0 &&
			    strcmp(told, event) == 0;
		}
		tap_ok(&tap, held, "%s by %u, in HTTP", refusal->reason,
		    refusal->via);
		refuse(refusal, FORM_SOCKS);
		held = hear((char *)answer, sizeof answer) == SOCKS_ANSWER;
		tap_ok(&tap,
		    held && answer[0] == 5 && answer[1] == refusal->code &&
			answer[2] == 0 && answer[3] == 1 &&
			strcmp(became, "drained") == 0 &&
			strcmp(told, event) == 0,
		    "in SOCKS: %d", refusal->code);
		refuse(refusal, FORM_BARE);
		tap_ok(&tap,
		    hear(said, sizeof said) == 0 &&
			strcmp(became, "reset") == 0 &&
			strcmp(told, event) == 0,
		    "and of no form, by a reset");
	}
}

static void
check_granted(void)
{
	static const struct {
		enum form form;
		const char *says;
		size_t len;
	} cases[] = {
		{ FORM_BARE, "", 0 },
		{ FORM_REQUEST, "", 0 },
		{ FORM_TUNNEL, "HTTP/1.1 200 Connection established\r\n\r\n",
		    39 },
		{ FORM_SOCKS, "\5\0\0\1\0\0\0\0\0\0", 10 },
	};
	char said[256];

	for (size_t i = 0; i < countof(cases); i++) {
		begin();
		conn.form = (uint8_t)cases[i].form;
		tap_ok(&tap,
		    client_granted(&proxy, &conn) &&
			hear(said, sizeof said) == cases[i].len &&
			memcmp(said, cases[i].says, cases[i].len) == 0 &&
			*became == '\0' && *told == '\0',
		    "a client of form %d is served", cases[i].form);
		begin();
		shutdown(client, SHUT_RDWR);
		conn.form = (uint8_t)cases[i].form;
		tap_ok(&tap,
		    client_granted(&proxy, &conn) == (cases[i].len == 0) &&
			strcmp(became, cases[i].len == 0 ? "" : "reset") == 0,
		    "one that is gone is not");
	}
}

/* --- requests ------------------------------------------------------------- */

#define GET "GET http://good.example:81/x HTTP/1.1\r\n"

static void
check_http(void)
{
	static const struct {
		const char *what, *request, *became, *told, *page;
		enum form form;
		size_t left;
	} cases[] = {
		{ "a tunnel", "CONNECT good.example:22 HTTP/1.1\r\n\r\nSSH",
		    "name good.example:22", "", NULL, FORM_TUNNEL, 3 },
		{ "to an address", "CONNECT 192.0.2.1:22 HTTP/1.1\r\n\r\n",
		    "address 192.0.2.1:22", "", NULL, FORM_TUNNEL, 0 },
		{ "a request", GET "\r\nmore", "name good.example:81", "", NULL,
		    FORM_REQUEST, 4 },
		{ "what is no name", "CONNECT a..b:22 HTTP/1.1\r\n\r\n",
		    "drained", "a..b 2;", "sbx: this is no name of a host\n",
		    FORM_TUNNEL, 0 },
		{ "in a request", "GET http://a..b/ HTTP/1.1\r\n\r\n",
		    "drained", "a..b 2;", "sbx: this is no name of a host\n",
		    FORM_REQUEST, 0 },
		{ "what is no request", "GET / HTTP/1.1\r\n\r\n", "drained", "",
		    "sbx: this is a proxy: ask for http://HOST/...\n",
		    FORM_BARE, 18 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		char said[1024];

		begin();
		send_to_proxy(cases[i].request, strlen(cases[i].request));
		client_head(&proxy, &conn);
		hear(said, sizeof said);
		if (!tap_ok(&tap,
			strcmp(became, cases[i].became) == 0 &&
			    strcmp(told, cases[i].told) == 0 &&
			    conn.form == cases[i].form &&
			    conn.via == PROXY_BY_HTTP &&
			    left() == cases[i].left &&
			    (cases[i].page == NULL ?
				    *said == '\0' :
				    is_page(said, "400 Bad Request",
					"malformed", cases[i].page)),
			"HTTP: %s", cases[i].what))
			printf("# %s, told %s, left %zu\n", became, told,
			    left());
	}
}

/* What goes on to the server, and to the user's own proxy. */
static void
check_heads(void)
{
	static const struct sbx_proxy upstream = { .port = 1 };
	static const struct {
		const char *what, *request;
		bool upstream;
		const char *head;
		uint64_t body;
		bool chunked;
	} cases[] = {
		{ "a request", GET "\r\n", false,
		    "GET /x HTTP/1.1\r\nHost: good.example:81\r\n"
		    "Connection: close\r\n\r\n",
		    0, false },
		{ "with a body", GET "Content-Length: 12\r\n\r\n", false,
		    "GET /x HTTP/1.1\r\nHost: good.example:81\r\n"
		    "Connection: close\r\nContent-Length: 12\r\n\r\n",
		    12, false },
		{ "in chunks", GET "Transfer-Encoding: chunked\r\n\r\n", false,
		    "GET /x HTTP/1.1\r\nHost: good.example:81\r\n"
		    "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
		    0, true },
		{ "to a proxy", GET "\r\n", true,
		    "GET http://good.example:81/x HTTP/1.1\r\n"
		    "Host: good.example:81\r\nConnection: close\r\n\r\n",
		    0, false },
		{ "an address, past it",
		    "GET http://192.0.2.1/x HTTP/1.1\r\n\r\n", true,
		    "GET /x HTTP/1.1\r\nHost: 192.0.2.1\r\n"
		    "Connection: close\r\n\r\n",
		    0, false },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		begin();
		proxy.upstream = cases[i].upstream ? &upstream : NULL;
		send_to_proxy(cases[i].request, strlen(cases[i].request));
		client_head(&proxy, &conn);
		tap_ok(&tap,
		    conn.head != NULL &&
			conn.head_len == strlen(cases[i].head) &&
			memcmp(conn.head, cases[i].head, conn.head_len) == 0 &&
			conn.body == cases[i].body &&
			conn.chunked == cases[i].chunked,
		    "what goes to a server: %s", cases[i].what);
	}
}

/* A head that has room where it comes from, and none with what is added. */
static void
check_long_head(void)
{
	static char request[HTTP_HEAD_MAX];
	char said[1024];
	size_t used = (size_t)sprintf(request, "%sA: ", GET);

	memset(request + used, 'x', sizeof request - used);
	memcpy(request + sizeof request - 4, "\r\n\r\n", 4);
	begin();
	send_to_proxy(request, sizeof request);
	client_head(&proxy, &conn);
	hear(said, sizeof said);
	tap_ok(&tap,
	    is_page(said, "400 Bad Request", "malformed",
		"sbx: the head is too long\n") &&
		strcmp(became, "drained") == 0,
	    "a head that has no room is refused");
}

/* Until it is whole, and as long as more can come. */
static void
check_pieces(void)
{
	static const char request[] = GET "\r\n";

	begin();
	send_to_proxy(request, sizeof request - 2);
	client_head(&proxy, &conn);
	tap_ok(&tap, *became == '\0' && !conn.client.readable && !conn.dead,
	    "HTTP: more is awaited");
	conn.client.readable = conn.client.hung_up = true;
	client_head(&proxy, &conn);
	tap_ok(&tap, strcmp(became, "closed") == 0 && *told == '\0',
	    "unless the client has ended");
	begin();
	shutdown(client, SHUT_WR);
	client_head(&proxy, &conn);
	tap_ok(&tap, strcmp(became, "closed") == 0, "with nothing said");
}

static void
check_greetings(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *became;
		uint8_t answer;
		size_t left;
	} cases[] = {
		{ "\5\1\0", 3, "goes on", 0, 0 },
		{ "\5\2\2\0\5", 5, "goes on", 0, 1 },
		{ "\5\1\2", 3, "drained", 0xff, 0 },
	};
	char said[16];

	for (size_t i = 0; i < countof(cases); i++) {
		begin();
		send_to_proxy(cases[i].bytes, cases[i].len);
		client_head(&proxy, &conn);
		tap_ok(&tap,
		    hear(said, sizeof said) == 2 && said[0] == 5 &&
			(uint8_t)said[1] == cases[i].answer &&
			strcmp(became, cases[i].became) == 0 &&
			conn.form == FORM_SOCKS && conn.via == PROXY_BY_SOCKS &&
			conn.stage == STAGE_REQUEST && left() == cases[i].left,
		    "SOCKS: greeting %zu", i + 1);
	}
	begin();
	send_to_proxy("\5\2\0", 3);
	client_head(&proxy, &conn);
	tap_ok(&tap,
	    *became == '\0' && !conn.client.readable &&
		conn.stage == STAGE_HEAD && left() == 3,
	    "SOCKS: the rest of a greeting is awaited");
}

static void
check_socks(void)
{
#define BYTES(text) text, sizeof(text) - 1
	static const struct {
		const char *what, *bytes;
		size_t len;
		const char *became, *told;
		enum socks_code code; /* SOCKS_GRANTED: no answer yet */
		size_t left;
	} cases[] = {
		{ "a name", BYTES("\5\1\0\3\1a\0\26more"), "name a:22", "",
		    SOCKS_GRANTED, 4 },
		{ "an address", BYTES("\5\1\0\1\xc0\0\2\1\0\26"),
		    "address 192.0.2.1:22", "", SOCKS_GRANTED, 0 },
		{ "an address of IPv6",
		    BYTES("\5\1\0\4\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0"
			  "\26"),
		    "address 2001:db8::1:22", "", SOCKS_GRANTED, 0 },
		{ "no name", BYTES("\5\1\0\3\4a..b\0\26"), "drained", "a..b 2;",
		    SOCKS_NOT_ALLOWED, 0 },
		{ "another command", BYTES("\5\2\0\3\1a\0\26"), "drained", "",
		    SOCKS_NO_COMMAND, 0 },
		{ "and no name", BYTES("\5\3\0\3\4a..b\0\26"), "drained",
		    "a..b 2;", SOCKS_NO_COMMAND, 0 },
		{ "another type", BYTES("\5\1\0\2\1a\0\26"), "drained", "",
		    SOCKS_NO_ADDRESS_TYPE, 8 },
	};
	char said[16];

	for (size_t i = 0; i < countof(cases); i++) {
		size_t len;

		begin();
		conn.form = FORM_SOCKS;
		conn.stage = STAGE_REQUEST;
		send_to_proxy(cases[i].bytes, cases[i].len);
		client_request(&proxy, &conn);
		len = hear(said, sizeof said);
		if (!tap_ok(&tap,
			strcmp(became, cases[i].became) == 0 &&
			    strcmp(told, cases[i].told) == 0 &&
			    (cases[i].code == SOCKS_GRANTED ?
				    len == 0 :
				    len == SOCKS_ANSWER &&
					said[1] == (char)cases[i].code) &&
			    left() == cases[i].left,
			"SOCKS: %s", cases[i].what))
			printf("# %s, told %s, left %zu\n", became, told,
			    left());
	}
	for (int hung_up = 0; hung_up < 2; hung_up++) {
		begin();
		conn.form = FORM_SOCKS;
		conn.client.hung_up = hung_up;
		send_to_proxy("\5\1\0\3", 4);
		client_request(&proxy, &conn);
		tap_ok(&tap,
		    !conn.client.readable &&
			strcmp(became, hung_up ? "closed" : "") == 0,
		    "SOCKS: the rest is awaited, if it can come: %d", hung_up);
	}
	begin();
	shutdown(client, SHUT_WR);
	client_request(&proxy, &conn);
	tap_ok(&tap, strcmp(became, "closed") == 0,
	    "SOCKS: no request after a greeting");
}

int
main(void)
{
	static const char strings[] = "\0name.sbx\0address.sbx";
	static const struct sbx_source sources[] = {
		{ .file = 10, .line = 3, .column = 4 },
		{ .file = 1, .line = 7, .column = 8 },
	};
	static const struct sbx_name names[] = {
		{ .source = 1 },
		{ .source = 1 },
	};
	static const struct sbx_endpoint endpoints[] = {
		{ .source = 0 },
		{ .source = 0 },
	};

	proxy.blob.strings = strings;
	proxy.blob.sources = sources;
	proxy.blob.source_count = countof(sources);
	proxy.blob.names = names;
	proxy.blob.name_count = countof(names);
	proxy.blob.endpoints = endpoints;
	proxy.blob.endpoint_count = countof(endpoints);
	check_refusals();
	check_granted();
	check_http();
	check_heads();
	check_long_head();
	check_pieces();
	check_greetings();
	check_socks();
	return tap_done(&tap);
}
