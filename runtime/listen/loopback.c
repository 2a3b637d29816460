/*
 * See answers.h.  What listens in another network the kernel tells in the
 * net/tcp of each process that is in it (proc_net(5)), a line each, those that
 * listen first:
 *
 *	  0: 0100007F:1538 00000000:0000 0A ...
 */
#include "runtime/listen/answers.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/listen/listen.h"
#include "runtime/network/event.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- inside --------------------------------------------------------------- */

enum {
	READ_MAX = 1 << 20, /* bytes of a table */
	LISTENS = 10,       /* TCP_LISTEN */
	V4_DIGITS = 8,
	V6_DIGITS = 32,
	FIELDS = 4, /* number, local and remote address, state */
};

static int
digit_of(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* A number of so many digits; -1: it is none. */
static int64_t
number_of(const char *text, size_t digits)
{
	int64_t number = 0;

	for (size_t i = 0; i < digits; i++) {
		int digit = digit_of(text[i]);

		if (digit < 0)
			return -1;
		number = number << 4 | digit;
	}
	return number;
}

/* Any address, or one of this machine: 127.0.0.0/8, ::1.  The kernel writes each
 * 32 bits as a number, which is turned round here as in memory. */
static bool
is_near(const char *digits, size_t len)
{
	static const char any[] = "00000000000000000000000000000000";
	static const char one[] = "00000000000000000000000001000000";
	static const char mapped[] = "0000000000000000FFFF0000";

	if (memcmp(digits, any, len) == 0)
		return true;
	if (len == V4_DIGITS)
		return memcmp(digits + V4_DIGITS - 2, "7F", 2) == 0;
	return memcmp(digits, one, len) == 0 ||
	    (memcmp(digits, mapped, sizeof mapped - 1) == 0 &&
		memcmp(digits + len - 2, "7F", 2) == 0);
}

/* Whether a line is about a server at the port. */
static bool
is_server(const char *line, uint16_t port)
{
	const char *fields[FIELDS];
	size_t len;

	for (int i = 0; i < FIELDS; i++) {
		line += strspn(line, " ");
		fields[i] = line;
		line += strcspn(line, " ");
	}
	len = strcspn(fields[1], ":");
	return (len == V4_DIGITS || len == V6_DIGITS) &&
	    number_of(fields[1] + len + 1, 4) == port &&
	    number_of(fields[3], 2) == LISTENS && is_near(fields[1], len);
}

/* Whether a table has such a line; false if it cannot be read. */
static bool
table_has(const char *path, uint16_t port)
{
	char text[4096 + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0, all = 0;
	bool has = false;
	ssize_t got;

	while (fd >= 0 && !has && all < READ_MAX &&
	    (got = read(fd, text + used, sizeof text - 1 - used)) > 0) {
		char *line = text, *end;

		used += (size_t)got;
		all += (size_t)got;
		text[used] = '\0';
		while (!has && (end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			has = is_server(line, port);
			line = end + 1;
		}
		used -= (size_t)(line - text);
		memmove(text, line, used);
		if (used == sizeof text - 1)
			break;
	}
	if (fd >= 0)
		close(fd);
	return has;
}

static bool
sandbox_has(uint32_t thread, uint16_t port)
{
	static const char *const tables[] = { "tcp", "tcp6" };

	for (int i = 0; i < 2; i++) {
		char path[64];
		struct out out;

		out_into(&out, path, sizeof path);
		out_print(&out, "/proc/%u/net/", thread);
		out_text(&out, tables[i]);
		if (table_has(path, port))
			return true;
	}
	return false;
}

static bool
is_loopback(const uint8_t address[SBX_ADDRESS_SIZE])
{
	static const uint8_t one[SBX_ADDRESS_SIZE] = {
		[SBX_ADDRESS_SIZE - 1] = 1,
	};

	return sbx_address_is_v4(address) ?
	    address[SBX_ADDRESS_SIZE - 4] == 127 :
	    memcmp(address, one, sizeof one) == 0;
}

/* --- outside -------------------------------------------------------------- */

/* Of linux/netlink.h and linux/inet_diag.h, which musl does not have. */
enum {
	ABOUT_SOCKETS = 20, /* SOCK_DIAG_BY_FAMILY */
	REQUEST = 1,
	DUMP = 0x300,
};

struct head {
	uint32_t len;
	uint16_t type, flags;
	uint32_t sequence, port;
};

struct endpoints {
	uint16_t port, peer_port; /* as in the network */
	uint8_t address[SBX_ADDRESS_SIZE], peer[SBX_ADDRESS_SIZE];
	uint32_t interface, cookie[2];
};

struct question {
	struct head head;
	uint8_t family, protocol, show, pad;
	uint32_t states;
	struct endpoints at;
};

struct told {
	struct head head;
	uint8_t family, state, timer, retries;
	struct endpoints at;
	uint32_t expires, queued[2], uid, inode;
};

/* Any address, or one of this machine. */
static bool
is_near_address(const struct told *told)
{
	static const uint8_t any[SBX_ADDRESS_SIZE];

	if (told->family == AF_INET)
		return told->at.address[0] == 127 ||
		    memcmp(told->at.address, any, 4) == 0;
	return memcmp(told->at.address, any, sizeof any) == 0 ||
	    is_loopback(told->at.address);
}

/* Whether an answer names such a server; `over`: no other one follows. */
static bool
answer_has(const char *bytes, size_t len, uint16_t port, bool *over)
{
	bool has = false;

	while (len >= sizeof(struct head) && !*over) {
		struct told told = { .head = { 0 } };
		size_t size;

		memcpy(&told, bytes, len < sizeof told ? len : sizeof told);
		*over = told.head.type != ABOUT_SOCKETS ||
		    told.head.len < sizeof told || told.head.len > len;
		if (*over)
			break;
		has |= told.state == LISTENS && ntohs(told.at.port) == port &&
		    is_near_address(&told);
		size = (told.head.len + 3) & ~(size_t)3;
		bytes += size < len ? size : len;
		len -= size < len ? size : len;
	}
	return has;
}

/* The kernel is asked for this one port: to read its table takes long where
 * there are many connections. */
static bool
family_has(int diagnosis, uint8_t family, uint16_t port)
{
	const struct question question = {
		.head = {
			.len = sizeof question,
			.type = ABOUT_SOCKETS,
			.flags = REQUEST | DUMP,
		},
		.family = family,
		.protocol = IPPROTO_TCP,
		.states = 1U << LISTENS,
		.at = { .port = htons(port) },
	};
	char answer[8192];
	bool has = false, over = false;

	if (send(diagnosis, &question, sizeof question, MSG_NOSIGNAL) !=
	    (ssize_t)sizeof question)
		return false;
	while (!over && !has) {
		ssize_t got = recv(diagnosis, answer, sizeof answer,
		    MSG_DONTWAIT);

		if (got <= 0)
			break;
		has = answer_has(answer, (size_t)got, port, &over);
	}
	return has;
}

static bool
host_has(uint16_t port)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	bool has = false;

	for (int i = 0; i < 2 && !has; i++) {
		int fd = diagnosis_open();

		has = fd >= 0 && family_has(fd, families[i], port);
		if (fd >= 0)
			close(fd);
	}
	return has;
}

/* -------------------------------------------------------------------------- */

/* Who tries again and again is looked at once. */
static bool
is_known(const struct explaining *explaining, uint16_t port)
{
	for (uint32_t i = 0; i < explaining->count; i++) {
		if (explaining->denials[i].kind == SBX_DENIED_HOST &&
		    explaining->denials[i].port == port)
			return true;
	}
	return false;
}

bool
loopback_judge(const struct caller *caller,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial)
{
	const struct sbx_blob *blob = caller->listening->explaining->blob;
	struct sbx_verdict verdict;

	if (port == 0 || !is_loopback(address))
		return false;
	verdict = sbx_port_verdict(blob, KERNEL_WHERE, SBX_HOST_TCP, port);
	/* Below level full the supervisor, which connects, knows whose a server
	 * is. */
	if (sbx_verdict_allows(verdict) || !host_has(port) ||
	    (caller->listening->own_network &&
		!is_known(caller->listening->explaining, port) &&
		sandbox_has(caller->call.thread, port)))
		return false;
	denial->kind = SBX_DENIED_HOST;
	denial->port = port;
	denial->verdict = verdict.rule == SBX_NO_RULE ? PROXY_NO_RULE :
							PROXY_DENIED;
	denial->source = verdict.rule == SBX_NO_RULE ?
	    SBX_NO_SOURCE :
	    blob->ports[verdict.rule].source;
	return true;
}
