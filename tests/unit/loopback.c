/*
 * Whose a connection to this machine would be: what the kernel says of the host's
 * network, and of the sandbox's own (runtime/listen/loopback.c).  Both are the
 * test's word here.
 */
#include "runtime/listen/loopback.h"
#include "runtime/listen/diagnosis.h"
#include "runtime/network/event.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	THREAD = 77,
	PORT = 5432,
	LISTENS = 10,
	ABOUT_SOCKETS = 20,
	DONE = 3,
	MESSAGE = 88 /* bytes of an answer about one socket */
};

static struct tap tap;
static const char *tables[2];

/* What the kernel answers about the one family and the other. */
static struct {
	char bytes[256];
	size_t len;
} answers[2];
static int asked;
static int asker = -1; /* where the last question can be read */
static enum { ANSWERS, DEAF, ABSENT } diagnosis;

const uint8_t address_v4_prefix[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
	0xff };
const uint8_t address_here[] = { 127, 0, 0, 1 };

int
diagnosis_open(void)
{
	int ends[2];

	if (diagnosis == ABSENT ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return -1;
	if (diagnosis == ANSWERS && answers[asked].len > 0 &&
	    send(ends[1], answers[asked].bytes, answers[asked].len, 0) < 0)
		return -1;
	asked++;
	/* Who is deaf cannot be asked.  The other end of one that answers stays
	 * open, so that what follows is awaited. */
	if (asker >= 0)
		close(asker);
	asker = ends[1];
	if (diagnosis == DEAF) {
		close(asker);
		asker = -1;
	}
	return ends[0];
}

int
open(const char *path, int flags, ...)
{
	static const char first[] = "/proc/77/net/tcp",
			  second[] = "/proc/77/net/tcp6";
	const char *text = NULL;
	va_list rest;
	int fd;

	if (strcmp(path, first) == 0)
		text = tables[0];
	if (strcmp(path, second) == 0)
		text = tables[1];
	/* A program that counts has a file of its own; else there is none. */
	if (text == NULL && strncmp(path, "/proc/", 6) != 0) {
		va_start(rest, flags);
		fd = openat(AT_FDCWD, path, flags, va_arg(rest, mode_t));
		va_end(rest);
		return fd;
	}
	if (text == NULL)
		return -1;
	fd = memfd_create("table", MFD_CLOEXEC);
	if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) != 0)
		return -1;
	return fd;
}

/* --- what the kernel answers ---------------------------------------------- */

/* Appends a message about a socket, as linux/inet_diag.h says. */
static void
put_message(int family, uint32_t len, uint16_t type, uint8_t state,
    uint16_t port, const char *address)
{
	char *message = answers[family].bytes + answers[family].len;
	uint16_t in_network = htons(port);
	int kind = strchr(address, ':') != NULL ? AF_INET6 : AF_INET;

	memset(message, 0, MESSAGE);
	memcpy(message, &len, sizeof len);
	memcpy(message + 4, &type, sizeof type);
	message[16] = (char)kind;
	message[17] = (char)state;
	memcpy(message + 20, &in_network, sizeof in_network);
	inet_pton(kind, address, message + 24);
	answers[family].len += (len + 3) & ~3U;
}

static void
be_silent(void)
{
	memset(answers, 0, sizeof answers);
	diagnosis = ANSWERS;
	tables[0] = tables[1] = NULL;
}

static bool
is_denied_at(const char *address, uint16_t port, bool own, bool known,
    struct sbx_denial *denial)
{
	static struct sbx_meta meta = { .net = SBX_NET_NONE };
	static struct sbx_blob blob = { .meta = &meta };
	struct sbx_denial before[] = {
		{ .kind = SBX_DENIED_HOST, .port = PORT + 1 },
		{ .kind = SBX_DENIED_ADDRESS, .port = PORT },
		{ .kind = SBX_DENIED_HOST, .port = PORT },
	};
	struct explaining explaining = { .blob = &blob,
		.denials = before,
		.count = known ? 3 : 2 };
	struct listening listening = { .explaining = &explaining,
		.own_network = own };
	struct caller caller = { .listening = &listening,
		.call = { .thread = THREAD } };
	uint8_t bytes[SBX_ADDRESS_SIZE] = { 0 };

	if (strchr(address, ':') != NULL) {
		inet_pton(AF_INET6, address, bytes);
	} else {
		memcpy(bytes, address_v4_prefix, sizeof address_v4_prefix);
		inet_pton(AF_INET, address, bytes + 12);
	}
	asked = 0;
	return loopback_judge(&caller, bytes, port, denial);
}

static bool
is_denied(bool own, bool known)
{
	struct sbx_denial denial = { .kind = SBX_DENIED_READ };
	bool is = is_denied_at("127.0.0.1", PORT, own, known, &denial);

	if (is &&
	    (denial.kind != SBX_DENIED_HOST || denial.port != PORT ||
		denial.verdict != PROXY_NO_RULE ||
		denial.source != SBX_NO_SOURCE))
		printf("# another denial\n");
	return is;
}

static void
check_host(void)
{
	static const struct {
		const char *what, *address;
		uint32_t len;
		uint16_t type, port;
		uint8_t state;
		bool has;
	} cases[] = {
		{ "on 127.0.0.1", "127.0.0.1", MESSAGE, ABOUT_SOCKETS, PORT,
		    LISTENS, true },
		{ "on 127.1.2.3", "127.1.2.3", MESSAGE, ABOUT_SOCKETS, PORT,
		    LISTENS, true },
		{ "on all of IPv4", "0.0.0.0", MESSAGE, ABOUT_SOCKETS, PORT,
		    LISTENS, true },
		{ "on another address", "10.0.0.1", MESSAGE, ABOUT_SOCKETS,
		    PORT, LISTENS, false },
		{ "on ::1", "::1", MESSAGE, ABOUT_SOCKETS, PORT, LISTENS,
		    true },
		{ "on all of IPv6", "::", MESSAGE, ABOUT_SOCKETS, PORT, LISTENS,
		    true },
		{ "on 127.0.0.1 as IPv6", "::ffff:127.0.0.1", MESSAGE,
		    ABOUT_SOCKETS, PORT, LISTENS, true },
		{ "on another address as IPv6", "::ffff:10.0.0.1", MESSAGE,
		    ABOUT_SOCKETS, PORT, LISTENS, false },
		{ "on another of IPv6", "fe80::1", MESSAGE, ABOUT_SOCKETS, PORT,
		    LISTENS, false },
		{ "at another port", "127.0.0.1", MESSAGE, ABOUT_SOCKETS,
		    PORT + 1, LISTENS, false },
		{ "what does not listen", "127.0.0.1", MESSAGE, ABOUT_SOCKETS,
		    PORT, 1, false },
		{ "another message", "127.0.0.1", MESSAGE, DONE, PORT, LISTENS,
		    false },
		{ "a short message", "127.0.0.1", MESSAGE - 4, ABOUT_SOCKETS,
		    PORT, LISTENS, false },
		{ "with an odd length", "127.0.0.1", MESSAGE + 1, ABOUT_SOCKETS,
		    PORT, LISTENS, true },
	};
	struct sbx_denial denial;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int family = strchr(cases[i].address, ':') != NULL;

		be_silent();
		put_message(family, cases[i].len, cases[i].type, cases[i].state,
		    cases[i].port, cases[i].address);
		tap_ok(&tap, is_denied(false, false) == cases[i].has,
		    "a server of the host: %s", cases[i].what);
	}
	be_silent();
	put_message(0, MESSAGE, ABOUT_SOCKETS, LISTENS, PORT, "10.0.0.1");
	put_message(0, MESSAGE, ABOUT_SOCKETS, LISTENS, PORT, "127.0.0.1");
	tap_ok(&tap, is_denied(false, false), "the second one in an answer");
	tap_ok(&tap, !is_denied_at("127.0.0.1", 0, false, false, &denial),
	    "port 0 is none");
	tap_ok(&tap, !is_denied_at("10.0.0.1", PORT, false, false, &denial),
	    "an address elsewhere is not asked for");
	tap_ok(&tap, is_denied_at("::1", PORT, false, false, &denial),
	    "one of IPv6 is");
	answers[0].len -= 4;
	tap_ok(&tap, !is_denied(false, false), "an answer that is cut off");
	be_silent();
	tap_ok(&tap, !is_denied(false, false), "no answer");
	diagnosis = DEAF;
	tap_ok(&tap, !is_denied(false, false), "nobody to ask");
	diagnosis = ABSENT;
	tap_ok(&tap, !is_denied(false, false), "no way to ask");
}

/* As linux/inet_diag.h has it: all sockets of TCP that listen at the port. */
static void
check_questions(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	const uint32_t len = 72, states = 1U << LISTENS;
	const uint16_t type = ABOUT_SOCKETS, flags = 0x301, port = htons(PORT);

	for (int i = 0; i < 2; i++) {
		uint8_t question[128], expected[72] = { 0 };
		ssize_t got;

		memcpy(expected, &len, sizeof len);
		memcpy(expected + 4, &type, sizeof type);
		memcpy(expected + 6, &flags, sizeof flags);
		expected[16] = (uint8_t)families[i];
		expected[17] = IPPROTO_TCP;
		memcpy(expected + 20, &states, sizeof states);
		memcpy(expected + 24, &port, sizeof port);
		/* If the first one tells of a server, nothing else is asked. */
		be_silent();
		if (i == 0)
			put_message(0, MESSAGE, ABOUT_SOCKETS, LISTENS, PORT,
			    "127.0.0.1");
		is_denied(false, false);
		got = recv(asker, question, sizeof question, MSG_DONTWAIT);
		tap_ok(&tap,
		    asked == i + 1 && got == (ssize_t)len &&
			memcmp(question, expected, len) == 0,
		    "question %d", i + 1);
	}
}

/* --- the sandbox's own network -------------------------------------------- */

#define TITLE "  sl  local_address rem_address   st tx_queue rx_queue\n"

static void
check_inside(void)
{
	static const struct {
		const char *what, *tcp, *tcp6;
		bool has;
	} cases[] = {
		{ "nothing", TITLE, TITLE, false },
		{ "no tables", NULL, NULL, false },
		{ "a server", TITLE "   0: 0100007F:1538 00000000:0000 0A 0\n",
		    TITLE, true },
		{ "on all addresses",
		    TITLE "   0: 00000000:1538 00000000:0000 0A 0\n", TITLE,
		    true },
		{ "in the last line",
		    TITLE "   0: 0100007F:1539 00000000:0000 0A 0\n"
			  "   1: 0100007F:1538 00000000:0000 0A 0\n",
		    NULL, true },
		{ "a line without an end",
		    TITLE "   0: 0100007F:1538 00000000:0000 0A", NULL, false },
		{ "on another address",
		    TITLE "   0: 0100000A:1538 00000000:0000 0A 0\n", NULL,
		    false },
		{ "at another port",
		    TITLE "   0: 0100007F:1539 00000000:0000 0A 0\n", NULL,
		    false },
		{ "in another state",
		    TITLE "   0: 0100007F:1538 00000000:0000 01 0\n", NULL,
		    false },
		{ "a port of other letters",
		    TITLE "   0: 0100007F:15g8 00000000:0000 0A 0\n", NULL,
		    false },
		{ "of other signs",
		    TITLE "   0: 0100007F:15/8 00000000:0000 0A 0\n", NULL,
		    false },
		{ "of signs between digits and letters",
		    TITLE "   0: 0100007F:15@8 00000000:0000 0A 0\n", NULL,
		    false },
		{ "an address of another length",
		    TITLE "   0: 100007F:1538 00000000:0000 0A 0\n", NULL,
		    false },
		{ "on ::1", TITLE,
		    TITLE "   0: 00000000000000000000000001000000:1538 "
			  "00000000000000000000000000000000:0000 0A 0\n",
		    true },
		{ "on all of IPv6", TITLE,
		    TITLE "   0: 00000000000000000000000000000000:1538 "
			  "00000000000000000000000000000000:0000 0A 0\n",
		    true },
		{ "on 127.0.0.1 as IPv6", TITLE,
		    TITLE "   0: 0000000000000000FFFF00000100007F:1538 "
			  "00000000000000000000000000000000:0000 0A 0\n",
		    true },
		{ "on another as IPv6", TITLE,
		    TITLE "   0: 0000000000000000FFFF00000100000A:1538 "
			  "00000000000000000000000000000000:0000 0A 0\n",
		    false },
		{ "on what only begins so", TITLE,
		    TITLE "   0: 0000000000000000FFFF00010100007F:1538 "
			  "00000000000000000000000000000000:0000 0A 0\n",
		    false },
		{ "on another of IPv6", TITLE,
		    TITLE "   0: 000080FE000000000000000001000000:1538 "
			  "00000000000000000000000000000000:0000 0A 0\n",
		    false },
	};
	static char line[8192];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		be_silent();
		put_message(0, MESSAGE, ABOUT_SOCKETS, LISTENS, PORT,
		    "127.0.0.1");
		tables[0] = cases[i].tcp;
		tables[1] = cases[i].tcp6;
		tap_ok(&tap, is_denied(true, false) == !cases[i].has,
		    "inside: %s", cases[i].what);
	}
	tables[0] = TITLE "   0: 0100007F:1538 00000000:0000 0A 0\n";
	tap_ok(&tap, !is_denied(true, false), "a server inside is meant");
	tap_ok(&tap, is_denied(true, true), "and not looked for again");
	memset(line, ' ', sizeof line - 1);
	tables[0] = line;
	tap_ok(&tap, is_denied(true, false), "a line that is too long");
	/* 4096 bytes are read at a time, and end within the second line. */
	strcpy(line + 4076, "\n   0: 0100007F:1538 00000000:0000 0A 0\n");
	tap_ok(&tap, !is_denied(true, false), "a line that comes in two parts");
}

int
main(void)
{
	check_host();
	check_questions();
	check_inside();
	return tap_done(&tap);
}
