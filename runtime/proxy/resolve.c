/*
 * The resolver.  It knows what the policy's rules allow and asks nobody, so no
 * query carries anything out.  A name that some rule allows has one address of
 * ours, in each family that there is inside, any other does not exist.  There is
 * nothing else to know of a name: services are reached at the address.
 */
#include "runtime/proxy/proxy.h"

#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/proxy/protocols.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { LENGTH_SIZE = 2 }; /* of a message over TCP */

/* Programs look up who they talk to; nobody asked for that to be reported. */
static bool
is_worth_telling(const struct dns_query *query)
{
	static const char reverse[] = ".arpa";
	size_t len = strlen(query->name), tail = sizeof reverse - 1;

	return (query->type == DNS_A || query->type == DNS_AAAA) &&
	    (len < tail || strcmp(query->name + len - tail, reverse) != 0);
}

static void
tell_refusal(struct proxy *proxy, const struct dns_query *query)
{
	struct sbx_name_verdict verdict;
	struct conn asker = { .via = PROXY_BY_RESOLVER };

	if (!is_worth_telling(query))
		return;
	/* Without a port, so for one that most rules are about. */
	verdict = sbx_name_verdict(&proxy->blob, KERNEL_WHERE, query->name,
	    443);
	asker.rule = verdict.rule;
	strcpy(asker.target.name, query->name);
	tell(proxy, &asker,
	    verdict.rule == UINT32_MAX || verdict.allowed ? PROXY_NO_RULE :
							    PROXY_DENIED);
}

/* The length of the answer; 0: none is due. */
static size_t
resolve(struct proxy *proxy, const uint8_t *bytes, size_t len,
    uint8_t answer[DNS_ANSWER_MAX])
{
	struct dns_query query;
	enum dns_code code = dns_parse(bytes, len, &query);
	uint8_t address[SBX_ADDRESS_SIZE];
	uint32_t fake;
	bool known, v6;

	if (code == DNS_SILENCE)
		return 0;
	if (code != DNS_OK)
		return dns_answer(bytes, &query, code, NULL, answer);
	/* Who is asked about a name waits for a connection to it. */
	known = query.is_name &&
	    (sbx_name_is_known(&proxy->blob, KERNEL_WHERE, query.name) ||
		ask_may_lead(proxy, query.name));
	if (!known) {
		if (query.is_name)
			tell_refusal(proxy, &query);
		return dns_answer(bytes, &query, DNS_NXDOMAIN, NULL, answer);
	}
	v6 = query.type == DNS_AAAA && proxy->has_v6;
	if (query.type != DNS_A && !v6)
		return dns_answer(bytes, &query, DNS_OK, NULL, answer);
	fake = fakes_address(proxy->fakes, query.name);
	memcpy(address, sbx_fake_v6, sizeof address);
	for (int i = 0; i < 4; i++)
		address[12 + i] = (uint8_t)(fake >> (24 - 8 * i));
	return dns_answer(bytes, &query, DNS_OK, v6 ? address : address + 12,
	    answer);
}

void
resolve_datagrams(struct proxy *proxy, struct source *source, uint32_t events)
{
	struct listener *listener = (struct listener *)(void *)source;
	uint8_t answer[DNS_ANSWER_MAX];

	(void)events;
	for (int i = 0; i < BATCH; i++) {
		union socket_address from;
		socklen_t size = sizeof from;
		ssize_t len = recvfrom(listener->fd, proxy->bytes,
		    DNS_QUERY_MAX + 1, MSG_DONTWAIT, &from.any, &size);
		size_t used;

		if (len < 0)
			return;
		used = resolve(proxy, proxy->bytes, (size_t)len, answer);
		if (used > 0)
			sendto(listener->fd, answer, used,
			    MSG_DONTWAIT | MSG_NOSIGNAL, &from.any, size);
	}
}

/* Queries come one after another, each after its length. */
void
resolve_stream(struct proxy *proxy, struct conn *conn)
{
	uint8_t answer[LENGTH_SIZE + DNS_ANSWER_MAX];

	for (;;) {
		ssize_t len = conn_peek(proxy, conn, &conn->client,
		    LENGTH_SIZE + DNS_QUERY_MAX + 1);
		size_t size, used;

		if (len < 0)
			return;
		size = len < LENGTH_SIZE ?
		    0 :
		    (size_t)proxy->bytes[0] << 8 | proxy->bytes[1];
		if (len == 0 || size > DNS_QUERY_MAX) {
			conn_close(proxy, conn);
			return;
		}
		if (len < LENGTH_SIZE || (size_t)len < LENGTH_SIZE + size) {
			conn->client.readable = false;
			return;
		}
		used = resolve(proxy, proxy->bytes + LENGTH_SIZE, size,
		    answer + LENGTH_SIZE);
		if (used == 0) {
			conn_close(proxy, conn);
			return;
		}
		answer[0] = (uint8_t)(used >> 8);
		answer[1] = (uint8_t)used;
		end_take(proxy, &conn->client, LENGTH_SIZE + size);
		if (!client_send(proxy, conn, answer, LENGTH_SIZE + used))
			return;
		conn->deadline = proxy->now + HANDSHAKE_TIME;
	}
}
