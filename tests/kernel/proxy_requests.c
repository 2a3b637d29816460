/* What clients of the proxy's port ask for, by HTTP and by SOCKS, and the names
 * that they give in TLS. */
#include "tests/kernel/proxy.h"

#include <sys/socket.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

/* --- HTTP and SOCKS ------------------------------------------------------------------ */

static const struct {
	const char *request, *expected;
} requests[] = {
	{ "CONNECT good.example:443 HTTP/1.1\r\n\r\nword",
	    "HTTP/1.1 200 Connection established\r\n\r\nword" },
	{ "CONNECT good.example:22 HTTP/1.1\r\nHost: evil.net\r\n\r\n",
	    "HTTP/1.1 200 Connection established\r\n\r\nSSH-2.0-test\r\n" },
	{ "CONNECT GOOD.example.:443 HTTP/1.1\r\n\r\nword",
	    "HTTP/1.1 200 Connection established\r\n\r\nword" },
	{ "CONNECT 10.9.9.8:443 HTTP/1.1\r\n\r\nword",
	    "HTTP/1.1 200 Connection established\r\n\r\nword" },
	{ "CONNECT good.example:8080 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *no-rule*allow network domain "
	    "\"good.example:8080\"*" },
	{ "CONNECT evil.net:443 HTTP/1.1\r\nHost: good.example\r\n\r\n",
	    "HTTP/1.1 403 *allow network domain \"evil.net\"*" },
	{ "CONNECT private.example:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *private-address*{ \"private.example\" private }*" },
	{ "CONNECT denied.wild.example:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *denied*" },
	{ "CONNECT shut.example:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *denied*" },
	{ "CONNECT 10.9.9.9:80 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *allow network connect 10.9.9.9:80*" },
	{ "CONNECT 10.9.9.8:80 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *no-rule*allow network connect 10.9.9.8:80*" },
	{ "CONNECT [::ffff:10.9.9.9]:80 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 *" },
	{ "CONNECT [::1]:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 *" },
	{ "CONNECT 127.0.0.1:5432 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *allow network host tcp 5432*" },
	{ "CONNECT local.example:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *reserved-address*lead to\n" },
	{ "CONNECT corpmeta.example:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *reserved-address*lead to\n" },
	{ "CONNECT 127.1:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT 2130706433:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT 0177.0.0.1:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 *" },
	{ "CONNECT good.example..:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT good.example@evil.net:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 400 *" },
	{ "CONNECT g\xd0\xbeod.example:443 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 400 *" },
	{ "CONNECT good.example HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT good.example:443 HTTP/1.1\n\n\r\n\r\n", "HTTP/1.1 400 *" },
	{ "CONNECT good.example:443 HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
	    "HTTP/1.1 400 *" },
	{ "GET http://good.example/a?b HTTP/1.1\r\nHost: evil.net\r\n"
	  "Proxy-Authorization: x\r\nConnection: x-mine\r\nX-Mine: 1\r\n"
	  "X-Kept: 2\r\n\r\n",
	    "HTTP/1.1 200 OK\r\n\r\nGET /a?b HTTP/1.1\r\n"
	    "Host: good.example\r\nConnection: close\r\nX-Kept: 2\r\n\r\n" },
	{ "GET http://good.example/ HTTP/1.1\r\n\r\n"
	  "GET /other HTTP/1.1\r\nHost: evil.net\r\n\r\n",
	    "HTTP/1.1 200 OK\r\n\r\nGET / HTTP/1.1\r\nHost: good.example\r\n"
	    "Connection: close\r\n\r\n" },
	{ "POST http://good.example/ HTTP/1.1\r\nContent-Length: 4\r\n\r\n"
	  "bodyGET / HTTP/1.1\r\n\r\n",
	    "*Content-Length: 4\r\n\r\nbody" },
	{ "POST http://good.example/ HTTP/1.1\r\nTransfer-Encoding: chunked"
	  "\r\n\r\n4\r\nbody\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
	    "*chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n" },
	{ "POST http://good.example/ HTTP/1.1\r\nContent-Length: 4\r\n"
	  "Transfer-Encoding: chunked\r\n\r\n",
	    "HTTP/1.1 400 *two lengths*" },
	{ "POST http://good.example/ HTTP/1.1\r\nContent-Length : 4\r\n\r\n",
	    "HTTP/1.1 400 *" },
	{ "GET http://u:p@good.example/ HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 400 *password*" },
	{ "GET https://good.example/ HTTP/1.1\r\n\r\n", "HTTP/1.1 400 *" },
	{ "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n",
	    "HTTP/1.1 400 *proxy*" },
	{ "GET http://evil.net/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
	    "HTTP/1.1 403 *" },
	{ "\x16\x03\x01", "" },
};

void
try_requests(struct stage *stage)
{
	static char room[32768];

	for (size_t i = 0; i < countof(requests); i++) {
		int fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
		const char *got = exchange(fd, requests[i].request, room,
		    sizeof room);

		/* Unread bytes of a second request may end in a reset. */
		if (!tap_ok(&stage->tap,
			sbx_pattern_match(requests[i].expected, room,
			    strlen(room)),
			"%.*s", (int)strcspn(requests[i].request, "\r\n\x16"),
			requests[i].request))
			printf("# got: %s: %s\n", got, room);
	}
	forget_events(stage);
}

static size_t
socks(struct stage *stage, const char *request, size_t len, uint8_t answer[12])
{
	int fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	size_t used;

	send_all(fd, "\5\1\0", 3);
	send_all(fd, request, len);
	used = read_all(fd, (char *)answer, 12, NULL);
	close(fd);
	return used;
}

#define SOCKS(request) request, sizeof request - 1

void
try_socks(struct stage *stage)
{
	static const struct {
		const char *name, *request;
		size_t len;
		uint8_t code;
	} cases[] = {
		{ "a name", SOCKS("\5\1\0\3\14good.example\1\273"), 0 },
		{ "no name of a rule", SOCKS("\5\1\0\3\10evil.net\1\273"), 2 },
		{ "a NUL", SOCKS("\5\1\0\3\16good.example\0x\1\273"), 2 },
		{ "an address", SOCKS("\5\1\0\1\12\11\11\10\1\273"), 0 },
		{ "its text",
		    SOCKS("\5\1\0\3\10"
			  "10.9.9.8\1\273"),
		    0 },
		{ "no address of a rule", SOCKS("\5\1\0\1\12\11\11\12\1\273"),
		    2 },
		{ "another spelling",
		    SOCKS("\5\1\0\3\7"
			  "10.9.99\1\273"),
		    2 },
		{ "UDP", SOCKS("\5\3\0\3\14good.example\1\273"), 7 },
		{ "another type", SOCKS("\5\1\0\2\14good.example\1\273"), 8 },
	};
	uint8_t answer[12];

	for (size_t i = 0; i < countof(cases); i++) {
		size_t len = socks(stage, cases[i].request, cases[i].len,
		    answer);

		if (!tap_ok(&stage->tap,
			len >= 4 && answer[1] == 0 &&
			    answer[3] == cases[i].code,
			"SOCKS: %s answers %u", cases[i].name, cases[i].code))
			printf("# %zu bytes, code %u\n", len, answer[3]);
	}
	forget_events(stage);
}

/* --- TLS ---------------------------------------------------------------------------------- */

/* A ClientHello, in records of so many bytes. */
static size_t
make_hello(const char *name, size_t cut, uint8_t *hello)
{
	uint8_t body[1024] = { 3, 3 };
	size_t used = 2 + 32, len = name != NULL ? strlen(name) : 0, out = 0;
	static const uint8_t ciphers[] = { 0, 0, 2, 0x13, 1, 1, 0 };

	memcpy(body + used, ciphers, sizeof ciphers);
	used += sizeof ciphers;
	if (name != NULL) {
		const uint8_t extension[] = { 0, (uint8_t)(len + 9), 0, 0, 0,
			(uint8_t)(len + 5), 0, (uint8_t)(len + 3), 0, 0,
			(uint8_t)len };

		memcpy(body + used, extension, sizeof extension);
		used += sizeof extension;
		memcpy(body + used, name, len);
		used += len;
	}
	memmove(body + 4, body, used);
	body[0] = 1;
	body[1] = 0;
	body[2] = (uint8_t)(used >> 8);
	body[3] = (uint8_t)used;
	used += 4;
	for (size_t at = 0; at < used; at += cut) {
		size_t size = used - at < cut ? used - at : cut;
		const uint8_t header[] = { 22, 3, 1, (uint8_t)(size >> 8),
			(uint8_t)size };

		memcpy(hello + out, header, sizeof header);
		memcpy(hello + out + sizeof header, body + at, size);
		out += sizeof header + size;
	}
	return out;
}

static void
try_hello(struct stage *stage, const char *asked, size_t cut, bool passes)
{
	static uint8_t hello[8192], back[8192];
	size_t len = make_hello(asked, cut, hello), used;
	int fd = dial_name(stage, "good.example", PORT_ECHO);
	bool reset = false, same;

	/* In two pieces, which the proxy must put together. */
	send_all(fd, hello, 7);
	usleep(20000);
	send_all(fd, hello + 7, len - 7);
	used = read_all(fd, (char *)back, len, &reset);
	same = used == len && memcmp(back, hello, len) == 0;
	close(fd);
	tap_ok(&stage->tap, passes ? same : used == 0 && reset,
	    "TLS for %s in records of %zu bytes %s",
	    asked != NULL ? asked : "no name", cut,
	    passes ? "passes" : "is reset");
}

void
try_tunnel_hello(struct stage *stage, const char *asked, bool passes)
{
	static const char request[] =
	    "CONNECT good.example:443 HTTP/1.1\r\n\r\n";
	static uint8_t hello[8192], back[8192];
	size_t len = make_hello(asked, 4096, hello), used;
	int fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	bool reset;

	send_all(fd, request, sizeof request - 1);
	read_all(fd, (char *)back, 39, NULL);
	send_all(fd, hello, len);
	used = read_all(fd, (char *)back, len, &reset);
	close(fd);
	tap_ok(&stage->tap, passes ? used == len : used == 0 && reset,
	    "TLS for %s in a tunnel to good.example %s", asked,
	    passes ? "passes" : "is reset");
}

/* What no server should understand. */
static void
try_odd_hello(struct stage *stage)
{
	static const uint8_t odd[] = { 22, 3, 1, 0, 4, 2, 0, 0, 0 };
	int fd = dial_name(stage, "good.example", PORT_ECHO);
	char byte;
	bool reset;

	send_all(fd, odd, sizeof odd);
	tap_ok(&stage->tap, read_all(fd, &byte, 1, &reset) == 0 && reset,
	    "TLS that begins with another message is reset");
	close(fd);
	tap_ok(&stage->tap,
	    saw(stage, PROXY_BY_ADDRESS, PROXY_OTHER_NAME, "good.example"),
	    "and is told");
}

static void
try_old_hello(struct stage *stage)
{
	static uint8_t hello[8192];
	size_t len = make_hello("other.example", 4096, hello);
	int fd = dial_name(stage, "good.example", PORT_ECHO);
	bool reset = false;
	char byte;

	hello[1] = 5;
	send_all(fd, hello, len);
	tap_ok(&stage->tap, read_all(fd, &byte, 1, &reset) == 0 && reset,
	    "TLS for other.example in an unknown version is reset");
	close(fd);
}

/* To a name whose rule has no port: TLS for it alone, in the version of the
 * record that all have. */
static void
try_web_hello(struct stage *stage, const char *asked, uint8_t version,
    bool passes)
{
	static uint8_t hello[8192], back[8192];
	size_t len = make_hello(asked, 4096, hello), used;
	int fd = dial_name(stage, "mixed.example", PORT_ECHO);
	bool reset = false;

	hello[1] = version;
	send_all(fd, hello, len);
	used = read_all(fd, (char *)back, len, &reset);
	close(fd);
	tap_ok(&stage->tap, passes ? used == len : used == 0 && reset,
	    "a rule without a port: TLS for %s, version %u, %s",
	    asked != NULL ? asked : "no name", (unsigned)version,
	    passes ? "passes" : "is reset");
}

/* What is HTTP for the name passes; what servers might read in another way, or as
 * something else, does not. */
static void
try_web_request(struct stage *stage)
{
	static const struct {
		const char *bytes;
		bool passes;
	} cases[] = {
		{ "GET / HTTP/1.1\r\nHost: mixed.example\r\n\r\n", true },
		{ "GET / HTTP/1.0\r\nA: b\r\nhost:Mixed.example.\r\n\r\n",
		    true },
		{ "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", false },
		{ "GET / HTTP/1.1\r\nHost: mixed.example:81\r\n\r\n", false },
		{ "GET / HTTP/1.1\r\nHost: mixed.example\r\n"
		  "Host: other.example\r\n\r\n",
		    false },
		{ "GET / HTTP/1.1\r\nHost: mixed.example\r\n"
		  " , other.example\r\n\r\n",
		    false },
		{ "GET http://other.example/ HTTP/1.1\r\n"
		  "Host: mixed.example\r\n\r\n",
		    false },
		{ "GET / HTTP/1.1\r\n\r\n", false },
		{ "GET / HTTP/1.1\nHost: mixed.example\n\n", false },
		{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false },
		{ "\200\56\1\3\1", false },
	};
	char room[256];

	for (size_t i = 0; i < countof(cases); i++) {
		int fd = dial_name(stage, "mixed.example", PORT_ECHO);
		const char *got = exchange(fd, cases[i].bytes, room,
		    sizeof room);

		if (!tap_ok(&stage->tap,
			strcmp(got, cases[i].passes ? "echo" : "reset") == 0,
			"a rule without a port: request %zu %s", i + 1,
			cases[i].passes ? "passes" : "is reset"))
			printf("# got: %s\n", got);
		close(fd);
	}
}

static void
try_web(struct stage *stage)
{
	char room[64];

	try_web_request(stage);
	try_web_hello(stage, "mixed.example", 3, true);
	try_web_hello(stage, "other.example", 3, false);
	try_web_hello(stage, "other.example", 5, false);
	try_web_hello(stage, "mixed.example", 5, false);
	forget_events(stage);
	try_web_hello(stage, NULL, 3, false);
	tap_ok(&stage->tap,
	    strcmp(exchange(dial_name(stage, "mixed.example", PORT_ECHO),
		       "SSH-2.0-x\r\n", room, sizeof room),
		"reset") == 0 &&
		saw(stage, PROXY_BY_ADDRESS, PROXY_NO_NAME, "mixed.example"),
	    "and another protocol is reset, and is told");
}

void
try_tls(struct stage *stage)
{
	try_web(stage);
	try_tunnel_hello(stage, "good.example", true);
	try_tunnel_hello(stage, "other.example", false);
	try_hello(stage, "good.example", 4096, true);
	try_hello(stage, "Good.Example", 4096, true);
	try_hello(stage, "good.example", 3, true);
	try_hello(stage, NULL, 4096, true);
	/* Some servers do not look at the version of the record. */
	try_old_hello(stage);
	forget_events(stage);
	try_hello(stage, "other.example", 4096, false);
	tap_ok(&stage->tap,
	    saw(stage, PROXY_BY_ADDRESS, PROXY_OTHER_NAME, "other.example"),
	    "and the other name is told");
	try_odd_hello(stage);
	try_hello(stage, "other.example", 2, false);
	try_hello(stage, "good.example.evil.net", 4096, false);
	forget_events(stage);
}
