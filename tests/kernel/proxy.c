/*
 * sbx-proxy as sbxrun starts it, but between two networks of this test's: what it
 * lets through and what not, and that nothing is lost on the way.
 */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

static const struct rule rules[] = {
	{ .name = "good.example" },
	{ .name = "good.example", .port = PORT_SSH },
	{ .name = "good.example", .port = PORT_RESET },
	{ .name = "good.example", .port = PORT_HALF },
	{ .name = "good.example", .port = PORT_SILENT },
	{ .name = "good.example", .port = PORT_SINK },
	{ .name = "wild.example", .flags = SBX_NAME_BELOW },
	{ .name = "denied.wild.example", .effect = SBX_DENY },
	{ .name = "private.example" },
	{ .name = "mixed.example" },
	{ .name = "meta.example" },
	{ .name = "local.example" },
	{ .name = "cgnat.example" },
	{ .name = "mapped.example" },
	{ .name = "nat64.example" },
	{ .name = "sixtofour.example" },
	{ .name = "six.example" },
	{ .name = "rebind.example" },
	{ .name = "found" },
	{ .name = "nowhere.example" },
	{ .name = "slow.example", .flags = SBX_NAME_BELOW },
	{ .name = "half.example" },
	{ .name = "corp.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpmeta.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corplocal.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpaws.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpnat64.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpgoogle.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpazure.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpalibaba.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corporacle.example", .flags = SBX_NAME_PRIVATE },
	{ .address = "10.9.9.8", .port = PORT_ECHO },
	{ .op = SBX_HOST_TCP, .port = PORT_HOST },
	{ .op = SBX_HOST_TCP, .port = PORT_HOST_SIX },
	{ .op = SBX_PUBLISH_TCP, .port = PORT_PUBLISHED },
};

/* --- the resolver ---------------------------------------------------------------- */

static const struct {
	const char *name;
	int code;
	bool has_address;
	uint16_t type;
} queries[] = {
	{ "good.example", 0, true, 1 },
	{ "GOOD.Example", 0, true, 1 },
	{ "good.example", 0, false, 28 },
	{ "good.example", 0, false, 16 },
	{ "good.example", 0, false, 65 },
	{ "a.wild.example", 0, true, 1 },
	{ "a.b.wild.example", 0, true, 1 },
	{ "wild.example", 3, false, 1 },
	{ "denied.wild.example", 3, false, 1 },
	{ "other.example", 3, false, 1 },
	{ "secret.good.example", 3, false, 1 },
	{ "good.example.evil.net", 3, false, 1 },
	{ "xgood.example", 3, false, 1 },
	{ "127.0.0.1", 3, false, 1 },
	{ "g\xd0\xbeod.example", 3, false, 1 },
};

static void
try_queries(struct stage *stage)
{
	uint64_t before = stage->shared->queries;
	char address[64], again[64];

	for (size_t i = 0; i < countof(queries); i++) {
		int code = ask(stage, queries[i].name, queries[i].type,
		    address);

		tap_ok(&stage->tap,
		    code == queries[i].code &&
			(*address != '\0') == queries[i].has_address,
		    "a query for %s, type %u, answers %d", queries[i].name,
		    queries[i].type, queries[i].code);
	}
	ask(stage, "good.example", 1, address);
	ask(stage, "good.example", 1, again);
	tap_ok(&stage->tap,
	    strcmp(address, again) == 0 && strncmp(address, "198.1", 5) == 0,
	    "a name has one address, of the range that is nobody's");
	tap_ok(&stage->tap, stage->shared->queries == before,
	    "no query leaves the machine");
	tap_ok(&stage->tap,
	    saw(stage, PROXY_BY_RESOLVER, PROXY_NO_RULE, "other.example"),
	    "a refused name is told");
	forget_events(stage);
}

/* --- names by address -------------------------------------------------------------- */

/* "echo", "reset" or what was read. */
static const char *
talk(int fd, const char *word, char *room, size_t size)
{
	bool reset, sent;
	size_t len;

	if (fd < 0)
		return "refused";
	/* Who sends hears of a reset first, and who reads then does not. */
	sent = send_all(fd, word, strlen(word)) || errno != ECONNRESET;
	if (shutdown(fd, SHUT_WR) != 0 && errno != ENOTCONN)
		sent = false;
	len = read_all(fd, room, size - 1, &reset);
	reset |= !sent;
	close(fd);
	room[len] = '\0';
	return reset ? "reset" : strcmp(room, word) == 0 ? "echo" : room;
}

static const struct {
	const char *name;
	uint16_t port;
	const char *expected;
	enum proxy_verdict verdict;
} names[] = {
	{ "good.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "good.example", PORT_SSH, "SSH-2.0-test\r\nword", PROXY_ALLOWED },
	{ "a.wild.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "a.wild.example", PORT_SSH, "reset", PROXY_NO_RULE },
	{ "mixed.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "private.example", PORT_ECHO, "reset", PROXY_PRIVATE },
	{ "meta.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "local.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "cgnat.example", PORT_ECHO, "reset", PROXY_PRIVATE },
	{ "mapped.example", PORT_ECHO, "reset", PROXY_PRIVATE },
	{ "nat64.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "sixtofour.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "six.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "half.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "corpmeta.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corplocal.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpaws.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpnat64.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpgoogle.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpazure.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpalibaba.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corporacle.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corp.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "nowhere.example", PORT_ECHO, "reset", PROXY_NO_SUCH_NAME },
	{ "found", PORT_ECHO, "reset", PROXY_NO_SUCH_NAME },
	{ "rebind.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "rebind.example", PORT_ECHO, "reset", PROXY_PRIVATE },
};

static const struct {
	const char *address;
	uint16_t port;
	const char *expected, *what;
} addresses[] = {
	{ "198.19.255.1", PORT_ECHO, "reset",
	    "an address that nobody was given is reset" },
	{ "10.2.3.4", PORT_ECHO, "reset",
	    "an address that no rule allows is reset" },
	{ "127.0.0.1", PORT_HOST, "SSH-2.0-test\r\nword",
	    "a service of the host is reached" },
	{ "127.0.0.1", PORT_HOST_SIX, "reset",
	    "one that listens on ::1 alone is not" },
	{ "127.0.0.1", PORT_ECHO, "reset",
	    "a port of names is no service of the host" },
};

static void
try_names(struct stage *stage)
{
	char room[256];

	for (size_t i = 0; i < countof(names); i++) {
		int fd = dial_name(stage, names[i].name, names[i].port);
		const char *got = talk(fd, "word", room, sizeof room);

		if (!tap_ok(&stage->tap, strcmp(got, names[i].expected) == 0,
			"%s:%u is %.*s", names[i].name, names[i].port,
			(int)strcspn(names[i].expected, "\r"),
			names[i].expected))
			printf("# got: %s\n", got);
		tap_ok(&stage->tap,
		    saw(stage, PROXY_BY_ADDRESS, names[i].verdict,
			names[i].name),
		    "and is told");
	}
	for (size_t i = 0; i < countof(addresses); i++)
		tap_ok(&stage->tap,
		    strcmp(talk(dial(stage, addresses[i].address,
				    addresses[i].port),
			       "word", room, sizeof room),
			addresses[i].expected) == 0,
		    "%s", addresses[i].what);
	tap_ok(&stage->tap, dial_name(stage, "good.example", 9999) < 0,
	    "a port that no rule names is refused at once");
	forget_events(stage);
}

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
	{ "CONNECT 10.9.9.9:80 HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 403 *allow network connect 10.9.9.9:80*" },
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

static void
try_requests(struct stage *stage)
{
	static char room[32768];

	for (size_t i = 0; i < countof(requests); i++) {
		int fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
		const char *got = talk(fd, requests[i].request, room,
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

static void
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

static void
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

static void
try_tls(struct stage *stage)
{
	try_tunnel_hello(stage, "good.example", true);
	try_tunnel_hello(stage, "other.example", false);
	try_hello(stage, "good.example", 4096, true);
	try_hello(stage, "Good.Example", 4096, true);
	try_hello(stage, "good.example", 3, true);
	try_hello(stage, NULL, 4096, true);
	forget_events(stage);
	try_hello(stage, "other.example", 4096, false);
	tap_ok(&stage->tap,
	    saw(stage, PROXY_BY_ADDRESS, PROXY_OTHER_NAME, "other.example"),
	    "and the other name is told");
	try_hello(stage, "other.example", 2, false);
	try_hello(stage, "good.example.evil.net", 4096, false);
	forget_events(stage);
}

/* --- its processes -------------------------------------------------------------- */

static bool
is_confined(int pid)
{
	static const char *const wanted[] = { "\nSeccomp:\t2\n",
		"\nNoNewPrivs:\t1\n", "\nCapEff:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n" };
	char path[64], text[8192];
	FILE *file;
	size_t len;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	file = fopen(path, "r");
	len = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	for (size_t i = 0; i < countof(wanted); i++) {
		if (strstr(text, wanted[i]) == NULL)
			return false;
	}
	return true;
}

/* How many of the proxy and its children are confined; *all: how many are. */
static int
count_confined(const struct stage *stage, int *all)
{
	char path[64];
	int pid, count = is_confined(stage->proxy);
	FILE *file;

	*all = 1;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", stage->proxy,
	    stage->proxy);
	file = fopen(path, "r");
	while (file != NULL && fscanf(file, "%d", &pid) == 1) {
		++*all;
		count += is_confined(pid);
	}
	if (file != NULL)
		fclose(file);
	return count;
}

/* Each confines itself when it begins. */
static void
try_confined(struct stage *stage, int wanted)
{
	int all = 0, count = 0;

	for (int i = 0; i < 3000 && (count < wanted || count < all); i++) {
		if (i > 0)
			usleep(10000);
		count = count_confined(stage, &all);
	}
	tap_ok(&stage->tap, all >= wanted && count == all,
	    "each process of the proxy is confined: %d of %d", count, all);
}

static void
try_main(struct stage *stage)
{
	policy_make(stage, rules, countof(rules), NULL);
	proxy_begin(stage, "full", NULL);
	try_queries(stage);
	try_confined(stage, 3);
	try_names(stage);
	try_requests(stage);
	try_socks(stage);
	try_tls(stage);
	try_flows(stage);
	tap_ok(&stage->tap, proxy_end(stage) == 0,
	    "the proxy ends with its control socket");
}

/* --- other policies ------------------------------------------------------------- */

/* Whether no process of the proxy is left, by who holds its end of a socket. */
static bool
all_ended(const struct stage *stage)
{
	struct pollfd wait = { .fd = stage->events, .events = POLLIN };
	char room[512];

	while (poll(&wait, 1, 20000) > 0) {
		if (recv(stage->events, room, sizeof room, 0) <= 0)
			return true;
	}
	return false;
}

static void
try_killed(struct stage *stage)
{
	char byte;
	int fd, served, inner = stage->inner;

	/* The sandbox may be handed over as a process or as its network. */
	stage->inner = stage->inside;
	proxy_begin(stage, "full", NULL);
	stage->inner = inner;
	try_published(stage);
	try_confined(stage, 3);
	fd = dial_name(stage, "good.example", PORT_ECHO);
	served = dial_name(stage, "good.example", PORT_SSH);
	tap_ok(&stage->tap, recv(served, &byte, 1, 0) == 1,
	    "the proxy serves until it is killed");
	kill(stage->proxy, SIGKILL);
	while (recv(served, &byte, 1, 0) > 0)
		;
	tap_ok(&stage->tap, recv(fd, &byte, 1, 0) <= 0 && all_ended(stage),
	    "then no connection and no process of it is left");
	close(fd);
	close(served);
	tap_ok(&stage->tap, proxy_end(stage) == 128 + SIGKILL, "killed");
}

static void
try_others(struct stage *stage)
{
	static const struct rule good = { .name = "good.example" };
	struct sbx_proxy upstream = {
		.anchor = SBX_NO_ANCHOR,
		.port = PORT_UPSTREAM,
		.source = SBX_NO_SOURCE,
		.platforms = SBX_ON_LINUX,
	};

	policy_make(stage, &good, 1, NULL);
	proxy_begin(stage, "standard", NULL);
	try_standard(stage, stage->listener);
	close(stage->listener);
	tap_ok(&stage->tap, proxy_end(stage) == 0, "standard: it ends");
	for (int by_path = 0; by_path < 2; by_path++) {
		upstream.anchor = by_path ? SBX_ANCHOR_ROOT : SBX_NO_ANCHOR;
		upstream.port = by_path ? 0 : PORT_UPSTREAM;
		policy_make(stage, NULL, 0, &upstream);
		proxy_begin(stage, "full", by_path ? UPSTREAM_PATH : NULL);
		try_upstream(stage, false);
		tap_ok(&stage->tap, proxy_end(stage) == 0, "it ends");
		policy_make(stage, &good, 1, &upstream);
		proxy_begin(stage, "full", by_path ? UPSTREAM_PATH : NULL);
		try_upstream(stage, true);
		tap_ok(&stage->tap, proxy_end(stage) == 0, "it ends");
	}
}

int
main(void)
{
	struct stage stage = { .proxy_path = getenv("SBX_PROXY") };
	const char *builddir = getenv("builddir");
	char path[512];

	snprintf(path, sizeof path, "%s/sbx-proxy",
	    builddir != NULL ? builddir : "build");
	if (stage.proxy_path == NULL)
		stage.proxy_path = path;
	if (!stage_open(&stage)) {
		tap_skip(&stage.tap, "no namespaces are to be had",
		    "sbx-proxy");
		return tap_done(&stage.tap);
	}
	try_main(&stage);
	try_killed(&stage);
	try_others(&stage);
	stage_close(&stage);
	return tap_done(&stage.tap);
}
