/*
 * What the resolver answers, over UDP and over TCP (runtime/proxy/resolve.c): each
 * query after its length, however it comes in pieces, and what is no query ends the
 * connection.  The connection is the test's word.
 */
#include "format/addresses.h"
#include "runtime/base/kernel.h"
#include "runtime/proxy/dns.h"
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <unistd.h>

enum { ROOM = 4096, FAKE = 0x0a010203 };

static struct tap tap;
static struct proxy proxy;
static struct conn conn;

/* What the client sends and gets, and what was told: `NAME VERDICT;` each. */
static struct {
	uint8_t sent[ROOM], got[ROOM];
	size_t sent_len, got_len;
	bool over, closed, deaf;
	char told[256];
} client;

ssize_t
conn_peek(struct proxy *asking, struct conn *one, struct end *end, size_t size)
{
	size_t len = client.sent_len < size ? client.sent_len : size;

	(void)one;
	(void)end;
	memcpy(asking->bytes, client.sent, len);
	return len > 0 || client.over ? (ssize_t)len : -1;
}

void
end_take(struct proxy *asking, struct end *end, size_t len)
{
	(void)asking;
	(void)end;
	client.sent_len -= len;
	memmove(client.sent, client.sent + len, client.sent_len);
}

bool
client_send(struct proxy *asking, struct conn *one, const void *bytes,
    size_t len)
{
	(void)asking;
	(void)one;
	if (client.deaf)
		return false;
	memcpy(client.got + client.got_len, bytes, len);
	client.got_len += len;
	return true;
}

void
conn_close(struct proxy *asking, struct conn *one)
{
	(void)asking;
	(void)one;
	client.closed = true;
}

void
tell(struct proxy *asking, const struct conn *one, enum proxy_verdict verdict)
{
	size_t used = strlen(client.told);

	(void)asking;
	if (verdict == PROXY_NO_RULE && one->rule == UINT32_MAX)
		snprintf(client.told + used, sizeof client.told - used,
		    "%s unruled;", one->target.name);
	else
		snprintf(client.told + used, sizeof client.told - used,
		    "%s %s by %u;", one->target.name,
		    verdict == PROXY_DENIED ? "denied" : "?", one->rule);
}

uint32_t
fakes_address(struct fakes *fakes, const char *name)
{
	(void)fakes;
	return strcmp(name, "good.example") == 0 ? FAKE : FAKE + 1;
}

/* --- queries -------------------------------------------------------------- */

/* The bytes of a query, its labels divided by dots. */
static size_t
put_query(uint8_t *bytes, const char *name, uint16_t type)
{
	static const uint8_t head[DNS_HEADER] = { 0x12, 0x34, 1, 0, 0, 1 };
	size_t len = sizeof head;

	memcpy(bytes, head, sizeof head);
	while (*name != '\0') {
		size_t label = strcspn(name, ".");

		bytes[len++] = (uint8_t)label;
		memcpy(bytes + len, name, label);
		len += label;
		name += label + (name[label] == '.');
	}
	bytes[len++] = 0;
	bytes[len++] = (uint8_t)(type >> 8);
	bytes[len++] = (uint8_t)type;
	bytes[len++] = 0;
	bytes[len++] = 1;
	return len;
}

static void
begin(void)
{
	memset(&client, 0, sizeof client);
	conn = (struct conn){ .client = { .readable = true } };
}

static void
send_query(const char *name, uint16_t type)
{
	uint8_t *at = client.sent + client.sent_len;
	size_t len = put_query(at + 2, name, type);

	at[0] = (uint8_t)(len >> 8);
	at[1] = (uint8_t)len;
	client.sent_len += 2 + len;
}

/* The code and the number of addresses of an answer, as CODE * 10 + COUNT; -1:
 * there is none. */
static int
answer_at(size_t *at)
{
	const uint8_t *answer = client.got + *at;
	size_t len = (size_t)answer[0] << 8 | answer[1];

	if (*at + 2 + DNS_HEADER > client.got_len ||
	    *at + 2 + len > client.got_len)
		return -1;
	*at += 2 + len;
	return (answer[2 + 3] & 15) * 10 + answer[2 + 7];
}

static void
answers(const char *what, const char *name, uint16_t type, int answer,
    const char *told)
{
	size_t at = 0;
	int is;

	begin();
	send_query(name, type);
	resolve_stream(&proxy, &conn);
	is = answer_at(&at);
	if (!tap_ok(&tap,
		is == answer && at == client.got_len && !client.closed &&
		    client.sent_len == 0 && strcmp(client.told, told) == 0,
		"%s", what))
		printf("# %d, told %s\n", is, client.told);
}

static void
check_answers(void)
{
	enum { TEXT = 16, NAMES = 12 };

	answers("a name that a rule allows", "good.example", DNS_A, 1, "");
	tap_ok(&tap,
	    memcmp(client.got + client.got_len - 4, "\12\1\2\3", 4) == 0,
	    "its address");
	proxy.has_v6 = false;
	answers("of IPv6, where there is none", "good.example", DNS_AAAA, 0,
	    "");
	proxy.has_v6 = true;
	answers("of IPv6", "good.example", DNS_AAAA, 1, "");
	tap_ok(&tap,
	    memcmp(client.got + client.got_len - 16, sbx_fake_v6, 12) == 0 &&
		memcmp(client.got + client.got_len - 4, "\12\1\2\3", 4) == 0,
	    "which is made of that of IPv4");
	answers("what else there is of a name", "good.example", TEXT, 0, "");
	answers("a name that no rule allows", "other.example", DNS_A, 30,
	    "other.example unruled;");
	answers("of IPv6, too", "other.example", DNS_AAAA, 30,
	    "other.example unruled;");
	answers("one that a rule denies", "evil.example", DNS_A, 30,
	    "evil.example denied by 0;");
	answers("one that is allowed at another port", "odd.example", DNS_A, 1,
	    "");
	answers("what is not told: another type", "other.example", TEXT, 30,
	    "");
	answers("who somebody is", "4.3.2.1.in-addr.arpa", NAMES, 30, "");
	answers("as if it were an address", "1.in-addr.arpa", DNS_A, 30, "");
	answers("a short name", "arpa", DNS_A, 30, "arpa unruled;");
	answers("no name of a host", "a b.example", DNS_A, 30, "");
}

/* --- a connection --------------------------------------------------------- */

static void
check_stream(void)
{
	uint8_t whole[ROOM];
	size_t at = 0, len;

	begin();
	for (int i = 0; i < 3; i++)
		send_query("good.example", DNS_A);
	resolve_stream(&proxy, &conn);
	tap_ok(&tap,
	    answer_at(&at) == 1 && answer_at(&at) == 1 && answer_at(&at) == 1 &&
		at == client.got_len && !client.closed,
	    "several queries");
	tap_ok(&tap, conn.deadline == proxy.now + HANDSHAKE_TIME,
	    "and there is time for another one");
	begin();
	send_query("good.example", DNS_A);
	len = client.sent_len;
	memcpy(whole, client.sent, len);
	for (size_t part = 0; part < len; part++) {
		begin();
		memcpy(client.sent, whole, part);
		client.sent_len = part;
		resolve_stream(&proxy, &conn);
		if (client.got_len != 0 || client.closed ||
		    conn.client.readable != (part == 0))
			break;
		at = part + 1;
	}
	tap_ok(&tap, at == len, "a query in pieces is waited for");
	begin();
	client.over = true;
	resolve_stream(&proxy, &conn);
	tap_ok(&tap, client.closed && client.got_len == 0,
	    "the client has ended");
	begin();
	client.sent[0] = 4;
	client.sent[1] = 1;
	client.sent_len = 2;
	resolve_stream(&proxy, &conn);
	tap_ok(&tap, client.closed && client.got_len == 0,
	    "a length that no query has");
	begin();
	client.sent_len = 2;
	resolve_stream(&proxy, &conn);
	tap_ok(&tap, client.closed && client.got_len == 0,
	    "a query of no bytes");
	begin();
	send_query("good.example", DNS_A);
	client.sent[4] |= 0x80;
	resolve_stream(&proxy, &conn);
	tap_ok(&tap, client.closed && client.got_len == 0,
	    "an answer is no query");
	begin();
	send_query("good.example", DNS_A);
	client.sent[4] |= 0x08;
	resolve_stream(&proxy, &conn);
	at = 0;
	tap_ok(&tap, answer_at(&at) == DNS_NOTIMP * 10 && !client.closed,
	    "another kind of query has its own answer");
	begin();
	client.deaf = true;
	send_query("good.example", DNS_A);
	send_query("good.example", DNS_A);
	resolve_stream(&proxy, &conn);
	tap_ok(&tap, client.sent_len == len && conn.deadline == 0,
	    "nothing more is done for who does not listen");
}

static void
check_datagrams(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof address;
	struct listener listener = { .fd = socket(AF_INET, SOCK_DGRAM, 0) };
	int asker = socket(AF_INET, SOCK_DGRAM, 0);
	uint8_t query[ROOM];
	size_t len = put_query(query, "good.example", DNS_A), at = 0;
	ssize_t got = 0;

	begin();
	if (bind(listener.fd, (struct sockaddr *)&address, size) != 0 ||
	    getsockname(listener.fd, (struct sockaddr *)&address, &size) != 0 ||
	    connect(asker, (struct sockaddr *)&address, size) != 0) {
		tap_skip(&tap, "no loopback here", "datagrams");
		return;
	}
	/* More than are looked at in one turn, of which the first is none. */
	for (int i = 0; i < 100; i++) {
		if (send(asker, query, i == 0 ? 3 : len, 0) < 0)
			break;
	}
	for (int turn = 0; turn < 100; turn++)
		resolve_datagrams(&proxy, (struct source *)(void *)&listener,
		    0);
	for (int i = 0; i < 100 && got >= 0; i++) {
		got = recv(asker, client.got + 2, ROOM - 2, MSG_DONTWAIT);
		client.got[0] = (uint8_t)(got >> 8);
		client.got[1] = (uint8_t)got;
		client.got_len = (size_t)got + 2;
		at = 0;
		if (got >= 0 && answer_at(&at) != 1)
			break;
		len = (size_t)i;
	}
	tap_ok(&tap, got < 0 && len == 99, "datagrams have an answer each");
	close(asker);
	close(listener.fd);
}

int
main(void)
{
	static const char strings[] =
	    "\0evil.example\0good.example\0odd.example";
	static const struct sbx_name names[] = {
		{ .name = 1, .effect = SBX_DENY, .platforms = KERNEL_WHERE },
		{ .name = 14, .effect = SBX_ALLOW, .platforms = KERNEL_WHERE },
		{ .name = 27,
		    .port = 22,
		    .effect = SBX_ALLOW,
		    .platforms = KERNEL_WHERE },
	};

	proxy.blob.strings = strings;
	proxy.blob.names = names;
	proxy.blob.name_count = sizeof names / sizeof *names;
	check_answers();
	check_stream();
	check_datagrams();
	return tap_done(&tap);
}
