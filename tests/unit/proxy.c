/*
 * What sbx-proxy reads of clients, case by case; dns.c has queries, tls.c the first
 * message of TLS.
 */
#include "runtime/proxy/protocols.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
static void
try_targets(struct tap *tap)
{
	static const struct {
		const char *text,
		    *name; /* NULL: neither a name nor an address */
		bool by_name;
	} cases[] = {
		{ "Good.Example.", "good.example", true },
		{ "10.0.0.5", "10.0.0.5", false },
		{ "::ffff:10.0.0.5", "10.0.0.5", false },
		{ "2001:DB8::1", "2001:db8::1", false },
		{ "127.1", NULL, false },
		{ "010.0.0.5", NULL, false },
		{ "10.0.0.5.", NULL, false },
		{ "2130706433", NULL, false },
		{ "0x7f.1", NULL, false },
		{ "0x7f000001", NULL, false },
		{ "fe80::1%lo", NULL, false },
		{ "", NULL, false },
		{ "a..b", NULL, false },
		{ "a b", NULL, false },
	};
	static const char bytes[] = "10.0.0.5\0.example";
	struct target hidden;

	for (size_t i = 0; i < countof(cases); i++) {
		struct target target;
		struct text text = { cases[i].text, strlen(cases[i].text) };
		bool read = target_parse(&target, text, 1);

		tap_ok(tap,
		    read == (cases[i].name != NULL) &&
			(!read ||
			    (target.by_name == cases[i].by_name &&
				strcmp(target.name, cases[i].name) == 0)),
		    "'%s' is %s", cases[i].text,
		    cases[i].name != NULL ? cases[i].name : "no target");
	}
	/* In SOCKS a name is bytes with their number. */
	tap_ok(tap,
	    !target_parse(&hidden, (struct text){ bytes, sizeof bytes - 1 }, 1),
	    "what stands before a zero byte is no target");
}

/* What is in a request, or why it is bad. */
static void
try_requests(struct tap *tap)
{
	static const struct {
		const char *text, *fault; /* NULL: it is good */
		uint16_t port;
	} cases[] = {
		{ "GET http://a/ HTTP/1.1\r\n\r\n", NULL, 80 },
		{ "GET http://a:65535/ HTTP/1.1\r\n\r\n", NULL, 65535 },
		{ "GET http://a:65536/ HTTP/1.1\r\n\r\n", "65535", 0 },
		{ "GET http://a:0/ HTTP/1.1\r\n\r\n", "65535", 0 },
		{ "GET http://a:8x/ HTTP/1.1\r\n\r\n", "65535", 0 },
		{ "GET http://a:/ HTTP/1.1\r\n\r\n", "port is missing", 0 },
		{ "GET http:///x HTTP/1.1\r\n\r\n", "host is missing", 0 },
		{ "GET http://[::1]:81/ HTTP/1.1\r\n\r\n", NULL, 81 },
		{ "GET http://[::1]/ HTTP/1.1\r\n\r\n", NULL, 80 },
		{ "GET http://[::1 HTTP/1.1\r\n\r\n", "no end", 0 },
		{ "GET http://[::1]81/ HTTP/1.1\r\n\r\n", "more behind", 0 },
		{ "GET http://[::1]:/ HTTP/1.1\r\n\r\n", "port is missing", 0 },
		{ "GET http://[a]/ HTTP/1.1\r\n\r\n", "malformed", 0 },
		{ "GET http://a[b/ HTTP/1.1\r\n\r\n", "malformed", 0 },
		{ "GET http://a/#b HTTP/1.1\r\n\r\n", "fragment", 0 },
		{ "GET http://u@a/ HTTP/1.1\r\n\r\n", "password", 0 },
		{ "GET http://a/@b HTTP/1.1\r\n\r\n", NULL, 80 },
		{ "GET http://a/\x80 HTTP/1.1\r\n\r\n", "ASCII", 0 },
		{ "GET http://a/\t HTTP/1.1\r\n\r\n", "ASCII", 0 },
		{ "GET http://a/ HTTP/1.2\r\n\r\n", "HTTP/1.1", 0 },
		{ "GET http://a/ HTTP/1.1 \r\n\r\n", "HTTP/1.1", 0 },
		{ "GET  HTTP/1.1\r\n\r\n", "first line", 0 },
		{ "G(T http://a/ HTTP/1.1\r\n\r\n", "method", 0 },
		{ " http://a/ HTTP/1.1\r\n\r\n", "method", 0 },
		{ "connect a:1 HTTP/1.1\r\n\r\n", "this is a proxy", 0 },
		{ "CONNECT a:1 HTTP/1.1\r\n\r\n", NULL, 1 },
		{ "CONNECT a HTTP/1.1\r\n\r\n", "port is missing", 0 },
		{ "GET http://a/ HTTP/1.1\r\nA: \x1f\r\n\r\n", "control", 0 },
		{ "GET http://a/ HTTP/1.1\r\nA: \x7f\r\n\r\n", "control", 0 },
		{ "GET http://a/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n", "control",
		    0 },
		{ "GET http://a/ HTTP/1.1\r\nA: b\rC: d\r\n\r\n", "control",
		    0 },
		{ "GET http://a/ HTTP/1.1\r\nA: \tb\r\n\r\n", NULL, 80 },
		{ "GET http://a/ HTTP/1.1\r\nA : b\r\n\r\n", "a field", 0 },
		{ "GET http://a/ HTTP/1.1\r\nA\r\n\r\n", "a field", 0 },
		{ "GET http://a/ HTTP/1.1\r\n: b\r\n\r\n", "a field", 0 },
		{ "GET http://a/ HTTP/1.0\r\nTransfer-Encoding: "
		  "chunked\r\n\r\n",
		    "unknown way", 0 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct http_request request;
		size_t len = strlen(cases[i].text);
		enum parsed parsed = http_parse(cases[i].text, len, &request);
		bool good = cases[i].fault == NULL;

		if (!tap_ok(tap,
			good ? parsed == PARSED_OK && request.head == len &&
				request.port == cases[i].port :
			       parsed == PARSED_BAD &&
				strstr(request.fault, cases[i].fault) != NULL,
			"a request: %.*s",
			(int)strcspn(cases[i].text, "\r\t\x80"), cases[i].text))
			printf("# %d: %s\n", parsed,
			    request.fault != NULL ? request.fault : "fine");
	}
}

/* A head of so many bytes, or its beginning. */
static enum parsed
parse_long(size_t len, bool whole)
{
	static const char begin[] = "GET http://a/ HTTP/1.1\r\nA: ";
	static char head[HTTP_HEAD_MAX + 2];
	struct http_request request;

	memset(head, 'b', sizeof head);
	memcpy(head, begin, sizeof begin - 1);
	if (whole)
		memcpy(head + len - 4, "\r\n\r\n", 4);
	return http_parse(head, len, &request);
}

static void
try_lengths(struct tap *tap)
{
	tap_ok(tap, parse_long(HTTP_HEAD_MAX, true) == PARSED_OK,
	    "a head may fill its room");
	tap_ok(tap, parse_long(HTTP_HEAD_MAX + 1, true) == PARSED_BAD,
	    "and be no byte longer");
	tap_ok(tap, parse_long(HTTP_HEAD_MAX - 1, false) == PARSED_MORE,
	    "its last byte is waited for");
	tap_ok(tap, parse_long(HTTP_HEAD_MAX, false) == PARSED_BAD,
	    "and no other one");
}

/* What goes on to a server: two readers must agree on where it ends. */
static void
try_rewritten(struct tap *tap)
{
#define GET(fields) "GET http://a:8/x HTTP/1.1\r\n" fields "\r\n"
	static const struct {
		const char *text, *kept; /* NULL: it is bad */
	} cases[] = {
		{ GET(""), "" },
		{ GET("Content-Length: 1\r\n"), "Content-Length: 1\r\n" },
		{ GET("Content-Length: 1\r\nContent-Length: 1\r\n"), NULL },
		{ GET("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
		    NULL },
		{ GET("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
		    NULL },
		{ GET("Transfer-Encoding: chunked\r\n"
		      "Transfer-Encoding: chunked\r\n"),
		    NULL },
		{ GET("Transfer-Encoding: gzip\r\n"), NULL },
		{ GET("Content-Length: 9223372036854775807\r\n"),
		    "Content-Length: 9223372036854775807\r\n" },
		{ GET("Content-Length: 9223372036854775808\r\n"), NULL },
		{ GET("Content-Length: \r\n"), NULL },
		{ GET("Content-Length: 1 1\r\n"), NULL },
		{ GET("Content-Length: 0x1\r\n"), NULL },
		{ GET("Host: b\r\nTE: x\r\nUpgrade: x\r\nKeep-Alive: x\r\n"),
		    "" },
		{ GET("Proxy-Connection: x\r\nProxy-Authorization: x\r\n"
		      "Proxy-Authenticate: x\r\nClose: x\r\n"),
		    "" },
		{ GET("Connection: close, A ,b\r\na: 1\r\nB: 2\r\nc: 3\r\n"),
		    "c: 3\r\n" },
		{ GET("Connection: Content-Length\r\nContent-Length: 1\r\n"),
		    "Content-Length: 1\r\n" },
		{ GET("Connection: Transfer-Encoding\r\n"
		      "Transfer-Encoding: chunked\r\n"),
		    "Transfer-Encoding: chunked\r\n" },
	};
#undef GET
	static char head[HTTP_HEAD_MAX], expected[HTTP_HEAD_MAX];

	for (size_t i = 0; i < countof(cases); i++) {
		struct http_request request;
		size_t len = 0;
		bool read = http_parse(cases[i].text, strlen(cases[i].text),
				&request) == PARSED_OK;

		if (read)
			len = http_rewrite(&request, false, head);
		snprintf(expected, sizeof expected,
		    "GET /x HTTP/1.1\r\nHost: a:8\r\nConnection: close\r\n"
		    "%s\r\n",
		    cases[i].kept);
		if (!tap_ok(tap,
			read == (cases[i].kept != NULL) &&
			    (!read ||
				(len == strlen(expected) &&
				    memcmp(head, expected, len) == 0)),
			"fields, case %zu", i + 1))
			printf("# %s: %.*s\n", read ? "read" : request.fault,
			    (int)len, head);
	}
}

/* The first line and the host, for a server and for another proxy. */
static void
try_first_lines(struct tap *tap)
{
	static const struct {
		const char *url, *line, *host, *proxy_line;
	} cases[] = {
		{ "http://a", "GET / ", "a", "GET http://a/ " },
		{ "http://a:80/", "GET / ", "a", "GET http://a/ " },
		{ "http://a?b", "GET /?b ", "a", "GET http://a/?b " },
		{ "http://a:81/b", "GET /b ", "a:81", "GET http://a:81/b " },
		{ "http://a:65535/b", "GET /b ", "a:65535",
		    "GET http://a:65535/b " },
		{ "http://[::1]/b", "GET /b ", "[::1]", "GET http://[::1]/b " },
		{ "HTTP://[::1]:8/", "GET / ", "[::1]:8",
		    "GET http://[::1]:8/ " },
	};
	static char head[HTTP_HEAD_MAX];

	for (size_t i = 0; i < countof(cases); i++) {
		char text[128], expected[256];
		struct http_request request;
		bool held = true;

		snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n\r\n",
		    cases[i].url);
		http_parse(text, strlen(text), &request);
		for (int proxy = 0; proxy < 2; proxy++) {
			size_t len = http_rewrite(&request, proxy, head);

			snprintf(expected, sizeof expected,
			    "%sHTTP/1.0\r\nHost: %s\r\nConnection: close\r\n"
			    "\r\n",
			    proxy ? cases[i].proxy_line : cases[i].line,
			    cases[i].host);
			held &= len == strlen(expected) &&
			    memcmp(head, expected, len) == 0;
		}
		tap_ok(tap, held, "what is asked of a server: %s",
		    cases[i].url);
	}
}

static void
try_answers(struct tap *tap)
{
	static const struct {
		const char *text;
		enum parsed parsed;
		unsigned status;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\n\r\nrest", PARSED_OK, 200 },
		{ "HTTP/1.0 407\r\nA: b\r\n\r\n", PARSED_OK, 407 },
		{ "HTTP/1.1 200\r\n\r\n", PARSED_OK, 200 },
		{ "HTTP/1.1 20\r\n\r\n", PARSED_BAD, 0 },
		{ "HTTP/1.1-200\r\n\r\n", PARSED_BAD, 0 },
		{ "HTTP/1.1 2x0\r\n\r\n", PARSED_BAD, 0 },
		{ "HTTP/1.1 200 OK\r\n", PARSED_MORE, 0 },
		{ "HTTP/2 200\r\n\r\n\r\n", PARSED_BAD, 0 },
		{ "HTTP/1.1 20 OK\r\n\r\n", PARSED_BAD, 0 },
		{ "HTTP/1.1 2000\r\n\r\n", PARSED_BAD, 0 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		unsigned status;
		size_t head;
		enum parsed parsed = http_answer(cases[i].text,
		    strlen(cases[i].text), &status, &head);

		tap_ok(tap,
		    parsed == cases[i].parsed && status == cases[i].status,
		    "an answer: %.12s", cases[i].text);
	}
}

static void
try_chunks(struct tap *tap)
{
	static const struct {
		const char *text;
		enum http_chunk_state state;
		size_t used;
	} cases[] = {
		{ "4\r\nbody\r\n0\r\n\r\nrest", CHUNK_END, 14 },
		{ "4;x=y\r\nbody\r\n0\r\nA: b\r\n\r\n", CHUNK_END, 24 },
		{ "1\r\nx\r\n0\r\n\r\n", CHUNK_END, 11 },
		{ "2\r\nxy\r\n1\r\nz\r\n000\r\n\r\n", CHUNK_END, 20 },
		{ "000000000000001\r\nx\r\n000000000000001\r\ny\r\n",
		    CHUNK_SIZE, 40 },
		{ "fF\r\n", CHUNK_DATA, 4 },
		{ "1g\r\n", CHUNK_BAD, 1 },
		{ "1:\r\n", CHUNK_BAD, 1 },
		{ "1@\r\n", CHUNK_BAD, 1 },
		{ ";\r\n", CHUNK_BAD, 0 },
		{ "1\rx", CHUNK_BAD, 2 },
		{ "1\r\nx\n", CHUNK_BAD, 4 },
		{ "1\r\nx\rx", CHUNK_BAD, 5 },
		{ "0\r\nA: b\rx", CHUNK_BAD, 8 },
		{ "0\r\nA\r\nB\r\n\rx", CHUNK_BAD, 10 },
		{ "a\r\n0123", CHUNK_DATA, 7 },
		{ "4\r\nbodyX\r\n", CHUNK_BAD, 7 },
		{ "\r\n", CHUNK_BAD, 0 },
		{ "-1\r\n", CHUNK_BAD, 0 },
		{ "4\n", CHUNK_BAD, 1 },
		{ "1000000000000000\r\n", CHUNK_BAD, 15 },
		{ "4;x\nbody", CHUNK_BAD, 3 },
		{ "0\r\nA: b\n", CHUNK_BAD, 7 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct http_chunks chunks = { .state = CHUNK_SIZE };
		size_t used = http_chunks_scan(&chunks, cases[i].text,
		    strlen(cases[i].text));

		if (!tap_ok(tap,
			used == cases[i].used && chunks.state == cases[i].state,
			"chunks, case %zu", i + 1))
			printf("# %zu bytes, state %d\n", used, chunks.state);
	}
}

/* The size of a chunk, with an extension of so many bytes. */
static enum http_chunk_state
scan_line(size_t len)
{
	struct http_chunks chunks = { .state = CHUNK_SIZE };
	char line[HTTP_CHUNK_LINE + 8];

	memset(line, 'x', sizeof line);
	memcpy(line, "4;", 2);
	memcpy(line + 2 + len, "\r\n", 2);
	http_chunks_scan(&chunks, line, len + 4);
	return chunks.state;
}

static void
try_chunk_lines(struct tap *tap)
{
	struct http_chunks hidden = { .state = CHUNK_SIZE };

	/* The digit and the end of the line count. */
	tap_ok(tap, scan_line(HTTP_CHUNK_LINE - 2) == CHUNK_DATA,
	    "chunks: the longest line");
	tap_ok(tap, scan_line(HTTP_CHUNK_LINE - 1) == CHUNK_BAD,
	    "chunks: one byte longer");
	http_chunks_scan(&hidden, "4;x\0y\r\n", 7);
	tap_ok(tap, hidden.state == CHUNK_BAD, "chunks: a byte that is zero");
}

/* Trailers: each line has as much room. */
static void
try_trailers(struct tap *tap)
{
	struct http_chunks chunks = { .state = CHUNK_SIZE };
	char line[HTTP_CHUNK_LINE + 1];
	bool held = true;

	memset(line, 'x', sizeof line);
	memcpy(line + HTTP_CHUNK_LINE - 1, "\r\n", 2);
	http_chunks_scan(&chunks, "0;x\r\n", 5);
	for (int i = 0; i < 3; i++)
		held &= http_chunks_scan(&chunks, line, sizeof line) ==
			sizeof line &&
		    chunks.state == CHUNK_TRAILER;
	tap_ok(tap, held, "chunks: three trailers of the longest line");
	line[HTTP_CHUNK_LINE - 1] = 'x';
	http_chunks_scan(&chunks, line, sizeof line);
	tap_ok(tap, chunks.state == CHUNK_BAD, "chunks: a longer one");
}

/* Whole, and each beginning of it; what stands behind is not part of it. */
static void
try_socks(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		enum parsed parsed;
		uint8_t command;
		const char *name; /* or */
		uint8_t last;     /* of the address */
	} cases[] = {
		{ "a name", BYTES("\5\1\0\3\1a\1\2"), PARSED_OK, 1, "a", 0 },
		{ "IPv4", BYTES("\5\2\0\1\1\2\3\4\1\2"), PARSED_OK, 2, NULL,
		    4 },
		{ "IPv6", BYTES("\5\3\0\4aaaaaaaaaaaaaaab\1\2"), PARSED_OK, 3,
		    NULL, 'b' },
		{ "an empty name", BYTES("\5\1\0\3\0\1\2"), PARSED_BAD, 0, NULL,
		    0 },
		{ "another type", BYTES("\5\1\0\2\1a\1\2"), PARSED_BAD, 0, NULL,
		    0 },
		{ "SOCKS 4", BYTES("\4\1\0\1\1\2\3\4\1\2"), PARSED_BAD, 0, NULL,
		    0 },
		{ "a byte that is reserved", BYTES("\5\1\1\3\1a\1\2"),
		    PARSED_BAD, 0, NULL, 0 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct socks_request request;
		bool more = true, good = cases[i].parsed == PARSED_OK;

		for (size_t len = 0; good && len < cases[i].len; len++)
			more &= socks_request(cases[i].bytes, len, &request) ==
			    PARSED_MORE;
		tap_ok(tap,
		    socks_request(cases[i].bytes, cases[i].len, &request) ==
			    cases[i].parsed &&
			(!good ||
			    (more && request.len == cases[i].len &&
				request.command == cases[i].command &&
				request.port == 258 &&
				(cases[i].name != NULL ?
					request.name.len == 1 &&
					    *request.name.at == 'a' :
					request.name.len == 0 &&
					    request.address[10] ==
						(cases[i].bytes[3] == 1 ?
							0xff :
							'a') &&
					    request.address[15] ==
						cases[i].last))),
		    "SOCKS: %s", cases[i].what);
	}
}

static void
try_socks_greetings(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		bool open;
	} cases[] = {
		{ "open", BYTES("\5\1\0"), true },
		{ "with a password", BYTES("\5\1\2"), false },
		{ "either", BYTES("\5\2\2\0"), true },
		{ "none", BYTES("\5\0"), false },
	};
	struct socks_greeting greeting;

	for (size_t i = 0; i < countof(cases); i++) {
		bool more = true;

		for (size_t len = 0; len < cases[i].len; len++)
			more &= socks_greeting(cases[i].bytes, len,
				    &greeting) == PARSED_MORE;
		tap_ok(tap,
		    more &&
			socks_greeting(cases[i].bytes, cases[i].len,
			    &greeting) == PARSED_OK &&
			greeting.len == cases[i].len &&
			greeting.open == cases[i].open,
		    "SOCKS, a greeting: %s", cases[i].what);
	}
	tap_ok(tap, socks_greeting(BYTES("\4\1"), &greeting) == PARSED_BAD,
	    "SOCKS, a greeting: another version");
}

int
main(void)
{
	struct tap tap = { 0 };

	try_targets(&tap);
	try_requests(&tap);
	try_rewritten(&tap);
	try_first_lines(&tap);
	try_answers(&tap);
	try_chunks(&tap);
	try_chunk_lines(&tap);
	try_trailers(&tap);
	try_lengths(&tap);
	try_socks(&tap);
	try_socks_greetings(&tap);
	return tap_done(&tap);
}
