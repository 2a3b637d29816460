/* See observe.h: the addresses that calls name. */
#include "tests/unit/observe.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <unistd.h>

static const struct {
	const char *what;
	int number;
	const char *address; /* "/..." or a name: a local socket */
	uint16_t port;
	size_t cut; /* bytes of the address that are missing */
	bool own, inside, selected;
	const char *sees, *wants; /* wants: NULL: nothing */
} ways[] = {
	{ "a path", SYS_connect, "/s", 0, 0, false, false, false,
	    "connect /s, server /s", "/s" },
	{ "a path to listen at", SYS_bind, "/s", 0, 0, false, false, false,
	    "make /s", "/s" },
	{ "a path from here", SYS_connect, "s", 0, 0, false, false, false,
	    "connect /usr/bin/s, server /usr/bin/s", "/usr/bin/s" },
	{ "a name", SYS_connect, "@s", 0, 0, false, false, false, "", NULL },
	{ "a port", SYS_connect, "192.0.2.1", 80, 0, false, false, false,
	    "to 80", "192.0.2.1" },
	{ "a port to listen on", SYS_bind, "127.0.0.1", 80, 0, false, false,
	    false, "on 80", "127.0.0.1" },
	{ "any port to listen on", SYS_bind, "127.0.0.1", 0, 0, false, false,
	    false, "on 0", "127.0.0.1" },
	{ "port 0", SYS_connect, "192.0.2.1", 0, 0, false, false, false, "to 0",
	    NULL },
	{ "an address that stands for a name", SYS_connect, "198.18.0.1", 80, 0,
	    false, false, false, "to 80", NULL },
	{ "IPv6", SYS_connect, "2001:db8::1", 80, 0, false, false, false,
	    "to 80", "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1" },
	{ "one that is too short", SYS_connect, "192.0.2.1", 80, 1, false,
	    false, false, "", NULL },
	{ "a network of its own", SYS_connect, "192.0.2.1", 80, 0, true, false,
	    false, "way ::ffff:192.0.2.1 80, host ::ffff:192.0.2.1 80",
	    "192.0.2.1" },
	{ "in which it listens", SYS_bind, "192.0.2.1", 80, 0, true, false,
	    false, "on 80", "192.0.2.1" },
	{ "of IPv6", SYS_connect, "::1", 80, 0, true, false, false,
	    "way ::1 80, host ::1 80", "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1" },
	{ "of IPv6, as short as once", SYS_connect, "::1", 80, 4, true, false,
	    false, "way ::1 80, host ::1 80",
	    "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1" },
	{ "of IPv6, and shorter", SYS_connect, "2001:db8::", 80, 5, true, false,
	    false, "", "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.0" },
	{ "one below level full", SYS_connect, "192.0.2.1", 80, 0, false, true,
	    false, "way ::ffff:192.0.2.1 80, host ::ffff:192.0.2.1 80",
	    "192.0.2.1" },
	{ "with single ways out", SYS_connect, "192.0.2.1", 80, 0, false, true,
	    true, "to 80", "192.0.2.1" },
};

static size_t
put_address(union address *address, const char *text, uint16_t port)
{
	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, text, &address->in.sin_addr) == 1) {
		address->in.sin_family = AF_INET;
		address->in.sin_port = htons(port);
		return sizeof address->in;
	}
	if (strchr(text, ':') != NULL) {
		inet_pton(AF_INET6, text, &address->in6.sin6_addr);
		address->in6.sin6_family = AF_INET6;
		address->in6.sin6_port = htons(port);
		return sizeof address->in6;
	}
	address->un.sun_family = AF_UNIX;
	strcpy(address->un.sun_path, text);
	if (*text == '@')
		address->un.sun_path[0] = '\0';
	return offsetof(struct sockaddr_un, sun_path) + strlen(text) + 1;
}

void
check_addresses(void)
{
	for (size_t i = 0; i < countof(ways); i++) {
		union address address;
		size_t len = put_address(&address, ways[i].address,
		    ways[i].port);
		const char *wants = ways[i].wants;
		bool held;

		begin(ways[i].number);
		word.action = SECCOMP_RET_USER_NOTIF;
		explaining.learning = &learning;
		listening.own_network = ways[i].own;
		listening.inside = ways[i].inside;
		listening.selected = ways[i].selected;
		call3(9, POINTER(&address), len - ways[i].cut);
		held = strcmp(seen, ways[i].sees) == 0 && additions == 0 &&
		    lessons == (wants != NULL) &&
		    (wants == NULL ||
			(strcmp(learned.text, wants) == 0 &&
			    learned.port == ways[i].port &&
			    (learned.port == 0 ||
				learned.kind ==
				    (ways[i].number == SYS_connect ?
					    SBX_DENIED_CONNECT :
					    SBX_DENIED_LISTEN))));
		if (!tap_ok(&tap, held, "%s", ways[i].what))
			printf("# it sees %s, learns %s %u\n", seen,
			    lessons > 0 ? learned.text : "nothing",
			    learned.port);
	}
}

/* A name that is as long as it can be has no end. */
void
check_long_name(void)
{
	union address address = { .un = { .sun_family = AF_UNIX } };
	char expected[256] = "";

	memset(address.un.sun_path, 'x', sizeof address.un.sun_path);
	address.un.sun_path[0] = '/';
	snprintf(expected, sizeof expected, "connect %.*s",
	    (int)sizeof address.un.sun_path, address.un.sun_path);
	begin(SYS_connect);
	call3(9, POINTER(&address), 4096);
	tap_ok(&tap, strcmp(seen, expected) == 0, "the longest path");
	begin(SYS_connect);
	call3(9, POINTER(&address), offsetof(struct sockaddr_un, sun_path));
	tap_ok(&tap, *seen == '\0', "no address");
	begin(SYS_connect);
	call3(9, UNREADABLE, sizeof address.in);
	tap_ok(&tap, *seen == '\0', "one that is nowhere");
}

/* libc connects others to learn which address it would have. */
void
check_meant(void)
{
	static const struct {
		int type;
		uint16_t port;
		uint32_t kind;
		bool told;
	} cases[] = {
		{ SOCK_STREAM, 80, SBX_DENIED_ADDRESS, true },
		{ SOCK_STREAM, 80, SBX_DENIED_HOST, true },
		{ SOCK_STREAM, 80, SBX_DENIED_READ, false },
		{ SOCK_DGRAM, 80, SBX_DENIED_ADDRESS, false },
		{ SOCK_DGRAM, 80, SBX_DENIED_HOST, false },
		{ SOCK_DGRAM, NAME_SERVERS, SBX_DENIED_ADDRESS, true },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		int fd = socket(AF_INET, cases[i].type | SOCK_CLOEXEC, 0);
		int before = tap_descriptors();
		union address address;
		size_t len = put_address(&address, "192.0.2.1", cases[i].port);

		begin(SYS_connect);
		word.denies = true;
		word.kind = cases[i].kind;
		listening.own_network = true;
		call3((uint64_t)fd, POINTER(&address), len);
		tap_ok(&tap,
		    additions == cases[i].told && tap_descriptors() == before,
		    "a socket of type %d, port %u, kind %u: %s", cases[i].type,
		    cases[i].port, cases[i].kind,
		    cases[i].told ? "told" : "not meant");
		close(fd);
		begin(SYS_connect);
		word.denies = true;
		word.kind = cases[i].kind;
		listening.own_network = true;
		call3((uint64_t)fd, POINTER(&address), len);
		tap_ok(&tap, additions == 0, "and none that is closed");
	}
}

/* The supervisor refused a socket where the command may write. */
void
check_server(void)
{
	union address address;
	size_t len = put_address(&address, "/s", 0);

	for (int serves = 0; serves < 2; serves++) {
		begin(SYS_connect);
		word.action = SECCOMP_RET_USER_NOTIF;
		word.serves = serves;
		call3(9, POINTER(&address), len);
		tap_ok(&tap, additions == serves,
		    "a server of somebody else's: %d", serves);
	}
	begin(SYS_connect);
	word.action = SECCOMP_RET_USER_NOTIF;
	word.serves = true;
	word.answer = -ECONNREFUSED;
	call3(9, POINTER(&address), len);
	tap_ok(&tap, additions == 0 && strcmp(seen, "connect /s") == 0,
	    "none, if it refused itself");
}
