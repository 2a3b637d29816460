/*
 * What sbx-proxy reads, case by case: queries, requests, the first message of
 * TLS; and the addresses that it hands out for names.
 */
#include "format/addresses.h"
#include "runtime/proxy/dns.h"
#include "runtime/proxy/fakes.h"
#include "runtime/proxy/http.h"
#include "runtime/proxy/socks.h"
#include "runtime/proxy/target.h"
#include "runtime/proxy/tls.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define ID "\1\2"
#define SIXTY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ONE "\1\0\0\1\0\0\0\0\0\0"

static void
try_dns(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		enum dns_code code;
		const char *name; /* NULL: no host's */
	} cases[] = {
		{ "a query", BYTES(ID ONE "\1a\2b-\0\0\1\0\1"), DNS_OK, NULL },
		{ "a name", BYTES(ID ONE "\1A\1b\0\0\1\0\1"), DNS_OK, "a.b" },
		{ "the root", BYTES(ID ONE "\0\0\1\0\1"), DNS_OK, NULL },
		{ "a dot in a label", BYTES(ID ONE "\3a.b\0\0\1\0\1"), DNS_OK,
		    NULL },
		{ "a NUL in a label", BYTES(ID ONE "\3a\0b\0\0\1\0\1"), DNS_OK,
		    NULL },
		{ "an address", BYTES(ID ONE "\003127\0011\0\0\1\0\1"), DNS_OK,
		    NULL },
		{ "another class", BYTES(ID ONE "\1a\0\0\1\0\3"), DNS_REFUSED,
		    "a" },
		{ "no header", BYTES(ID "\1\0\0\1\0\0\0\0\0"), DNS_SILENCE,
		    NULL },
		{ "an answer", BYTES(ID "\201\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"),
		    DNS_SILENCE, NULL },
		{ "an update", BYTES(ID "\50\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"),
		    DNS_NOTIMP, NULL },
		{ "no question", BYTES(ID "\1\0\0\0\0\0\0\0\0\0"), DNS_FORMERR,
		    NULL },
		{ "two questions",
		    BYTES(ID "\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1"),
		    DNS_FORMERR, NULL },
		{ "an answer beside it",
		    BYTES(ID "\1\0\0\1\0\1\0\0\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "an authority beside it",
		    BYTES(ID "\1\0\0\1\0\0\0\1\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "a label of 63 bytes",
		    BYTES(ID ONE "\77" SIXTY "abc\0\0\1\0\1"), DNS_OK,
		    SIXTY "abc" },
		{ "one of 64", BYTES(ID ONE "\100" SIXTY "abcd\0\0\1\0\1"),
		    DNS_FORMERR, NULL },
		{ "a pointer", BYTES(ID ONE "\300\14\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "no end", BYTES(ID ONE "\7abc"), DNS_FORMERR, NULL },
		{ "no type", BYTES(ID ONE "\1a\0\0\1\0"), DNS_FORMERR, NULL },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct dns_query query;
		enum dns_code code = dns_parse(cases[i].bytes, cases[i].len,
		    &query);

		tap_ok(tap,
		    code == cases[i].code &&
			(cases[i].name == NULL ?
				(code != DNS_OK || !query.is_name) :
				strcmp(query.name, cases[i].name) == 0),
		    "DNS: %s answers %d", cases[i].what, cases[i].code);
	}
}

/* What was asked for: an address of either family. */
static void
try_dns_answers(struct tap *tap)
{
	static const uint8_t six[16] = { 1, [12] = 198, 18, 0, 7 };
	static const uint8_t a[] = ID ONE "\1a\0\0\1\0\1",
			     aaaa[] = ID ONE "\1a\0\0\34\0\1";
	uint8_t answer[DNS_ANSWER_MAX];
	struct dns_query query;
	size_t len;

	dns_parse(a, sizeof a - 1, &query);
	len = dns_answer(a, &query, DNS_OK, six + 12, answer);
	tap_ok(tap,
	    len == sizeof a - 1 + 16 &&
		memcmp(answer + len - 16, "\300\14\0\1\0\1\0\0\0\1", 10) == 0 &&
		memcmp(answer + len - 6, "\0\4\306\22\0\7", 6) == 0,
	    "DNS: an address of IPv4, for a second");
	dns_parse(aaaa, sizeof aaaa - 1, &query);
	len = dns_answer(aaaa, &query, DNS_OK, six, answer);
	tap_ok(tap,
	    len == sizeof aaaa - 1 + 28 &&
		memcmp(answer + len - 18, "\0\20", 2) == 0 &&
		memcmp(answer + len - 16, six, 16) == 0,
	    "DNS: an address of IPv6");
}

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
	/* The digit and the end of the line count. */
	tap_ok(tap, scan_line(HTTP_CHUNK_LINE - 2) == CHUNK_DATA,
	    "chunks: the longest line");
	tap_ok(tap, scan_line(HTTP_CHUNK_LINE - 1) == CHUNK_BAD,
	    "chunks: one byte longer");
}

static void
try_hellos(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		enum tls_hello found;
	} cases[] = {
		{ "nothing", BYTES(""), TLS_MORE },
		{ "a byte", BYTES("\26"), TLS_MORE },
		{ "SSH", BYTES("SSH-2.0"), TLS_NONE },
		{ "SSL 2", BYTES("\200\56\1\3\1"), TLS_NONE },
		{ "an alert first", BYTES("\25\3\1\0\2\1\0"), TLS_BAD },
		{ "another message", BYTES("\26\3\1\0\4\2\0\0\0"), TLS_BAD },
		{ "an empty record", BYTES("\26\3\1\0\0\26\3\1"), TLS_BAD },
		{ "an endless one", BYTES("\26\3\1\100\0\1\1\0\0"), TLS_BAD },
		{ "the longest record", BYTES("\26\3\1\100\0\1\0\0\74"),
		    TLS_MORE },
		{ "a longer one", BYTES("\26\3\1\100\1\1\0\0\74"), TLS_BAD },
		{ "another version behind", BYTES("\26\3\1\0\1\1\26\2"),
		    TLS_BAD },
		{ "its beginning", BYTES("\26\3\1\0\100\1\0\0\74"), TLS_MORE },
		{ "two kinds of records", BYTES("\26\3\1\0\1\1\27\3\1\0\1\0"),
		    TLS_BAD },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		char name[TLS_NAME_SIZE];
		size_t len;

		tap_ok(tap,
		    tls_server_name(cases[i].bytes, cases[i].len, name, &len) ==
			cases[i].found,
		    "TLS: %s", cases[i].what);
	}
}

/* A whole hello, with these extensions and what stands behind them. */
static enum tls_hello
read_hello(const uint8_t *extensions, size_t len, const char *behind,
    char name[TLS_NAME_SIZE])
{
	static uint8_t bytes[1024];
	static const uint8_t fields[] = { 0, 0, 2, 0x13, 1, 1, 0 };
	size_t more = strlen(behind), name_len,
	       body = 2 + 32 + sizeof fields + 2 + len + more;
	const uint8_t header[] = { 22, 3, 1, 0, (uint8_t)(body + 4), 1, 0, 0,
		(uint8_t)body, 3, 3 };
	uint8_t *at = bytes;

	memset(bytes, 0, sizeof bytes);
	memcpy(at, header, sizeof header);
	at += sizeof header + 32;
	memcpy(at, fields, sizeof fields);
	at += sizeof fields;
	*at++ = 0;
	*at++ = (uint8_t)len;
	memcpy(at, extensions, len);
	memcpy(at + len, behind, more);
	return tls_server_name(bytes, body + 9, name, &name_len);
}

#define NAMED(name) "\0\0\0\6\0\4\0\0\1" name

static void
try_extensions(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		const char *behind;
		enum tls_hello found;
	} cases[] = {
		{ "no extension", BYTES(""), "", TLS_NO_NAME },
		{ "a name", BYTES(NAMED("a")), "", TLS_NAME },
		{ "another extension before it", BYTES("\0\1\0\0" NAMED("a")),
		    "", TLS_NAME },
		{ "two names in two", BYTES(NAMED("a") NAMED("a")), "",
		    TLS_BAD },
		{ "two names in one", BYTES("\0\0\0\12\0\10\0\0\1a\0\0\1b"), "",
		    TLS_BAD },
		{ "no name in one", BYTES("\0\0\0\2\0\0"), "", TLS_BAD },
		{ "an empty name", BYTES("\0\0\0\5\0\3\0\0\0"), "", TLS_BAD },
		{ "a name of another kind", BYTES("\0\0\0\6\0\4\1\0\1a"), "",
		    TLS_BAD },
		{ "more behind the list", BYTES("\0\0\0\7\0\4\0\0\1ab"), "",
		    TLS_BAD },
		{ "a list that is too long", BYTES("\0\0\0\6\0\5\0\0\1a"), "",
		    TLS_BAD },
		{ "an extension that is too long", BYTES("\0\0\0\7\0\4\0\0\1a"),
		    "", TLS_BAD },
		{ "half an extension", BYTES(NAMED("a") "\0\1"), "", TLS_BAD },
		{ "more behind the extensions", BYTES(NAMED("a")), "x",
		    TLS_BAD },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		char name[TLS_NAME_SIZE] = "";
		enum tls_hello found = read_hello(cases[i].bytes, cases[i].len,
		    cases[i].behind, name);

		if (!tap_ok(tap,
			found == cases[i].found &&
			    (found != TLS_NAME || strcmp(name, "a") == 0),
			"TLS, extensions: %s", cases[i].what))
			printf("# %d\n", found);
	}
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

/* More names than there is room for, and all of them again. */
static void
try_fakes(struct tap *tap)
{
	struct fakes *fakes = fakes_new();
	uint32_t first = fakes_address(fakes, "first.example"), last = 0;
	const char *found;
	char name[64];
	bool unique = true, kept = true;

	for (unsigned i = 0; i < 30 * FAKES_MAX; i++) {
		snprintf(name, sizeof name, "n%u.example", i);
		last = fakes_address(fakes, name);
		unique &= last != first && last >> 17 == SBX_FAKE_NET >> 17;
		found = fakes_name(fakes, last);
		kept &= found != NULL && strcmp(found, name) == 0 &&
		    fakes_address(fakes, name) == last;
	}
	tap_ok(tap, kept, "each name has its address, as long as it has one");
	tap_ok(tap, unique && fakes_name(fakes, first) == NULL,
	    "an address that was forgotten leads to nothing else");
	for (unsigned i = 1; i < FAKES_MAX; i++) {
		snprintf(name, sizeof name, "m%u.example", i);
		fakes_address(fakes, name);
		fakes_name(fakes, last);
	}
	tap_ok(tap, fakes_name(fakes, last) != NULL,
	    "what is used is not forgotten");
	free(fakes);
}

int
main(void)
{
	struct tap tap = { 0 };

	try_dns(&tap);
	try_dns_answers(&tap);
	try_targets(&tap);
	try_requests(&tap);
	try_rewritten(&tap);
	try_answers(&tap);
	try_chunks(&tap);
	try_chunk_lines(&tap);
	try_lengths(&tap);
	try_hellos(&tap);
	try_extensions(&tap);
	try_socks(&tap);
	try_socks_greetings(&tap);
	try_fakes(&tap);
	return tap_done(&tap);
}
