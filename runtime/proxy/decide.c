/*
 * The verdicts on where a connection goes.  They are those of format/, which
 * `sbxc why` asks, too.
 */
#include "runtime/proxy/proxy.h"

#include "runtime/base/kernel.h"

#include <string.h>

bool
address_may_be_private(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return !sbx_address_is_reserved(address, SBX_ADDRESS_BITS) &&
	    !sbx_address_is_metadata(address) &&
	    !sbx_address_is_wrapped(address);
}

/*
 * A rule about the address itself comes first.  The word `private` opens what
 * is private, and not the machine itself or its cloud's services: whoever runs
 * the name's server chooses its address.
 */
bool
address_is_open(const struct proxy *proxy, const struct conn *conn,
    const uint8_t address[SBX_ADDRESS_SIZE])
{
	struct sbx_verdict verdict = sbx_endpoint_verdict(&proxy->blob,
	    KERNEL_WHERE, address, conn->target.port);

	if (verdict.reason != SBX_BECAUSE_NOTHING)
		return sbx_verdict_allows(verdict);
	if (!conn->is_private)
		return sbx_address_is_public(address);
	return address_may_be_private(address);
}

static void
open_name(struct proxy *proxy, struct conn *conn, bool is_web)
{
	/* What comes after HTTP's own head is no TLS. */
	conn->hello_pending = conn->form != FORM_REQUEST;
	conn->is_web = is_web;
	conn->is_judged = sbx_name_is_ended(&proxy->blob, KERNEL_WHERE,
	    conn->target.name, conn->target.port);
	if (proxy->upstream != NULL)
		connect_upstream(proxy, conn);
	else
		lookup_ask(proxy, conn);
}

void
decide_answered(struct proxy *proxy, struct conn *conn,
    enum proxy_verdict verdict)
{
	conn->answered = verdict == PROXY_ANSWERED;
	/* As a rule would that names this port, if it is not of the web. */
	if (conn->answered)
		open_name(proxy, conn, sbx_port_is_web(conn->target.port));
	else
		client_refused(proxy, conn, verdict);
}

static void
decide_name(struct proxy *proxy, struct conn *conn)
{
	struct sbx_name_verdict verdict = sbx_name_verdict(&proxy->blob,
	    KERNEL_WHERE, conn->target.name, conn->target.port);

	conn->rule = verdict.rule;
	conn->is_private = verdict.is_private;
	if (verdict.allowed)
		open_name(proxy, conn, !verdict.by_port);
	else if (verdict.rule == UINT32_MAX)
		ask(proxy, conn);
	else
		client_refused(proxy, conn, PROXY_DENIED);
}

static bool
take_verdict(struct proxy *proxy, struct conn *conn, struct sbx_verdict verdict)
{
	conn->rule = verdict.rule;
	if (sbx_verdict_allows(verdict))
		return true;
	client_refused(proxy, conn,
	    verdict.reason == SBX_BECAUSE_DENIED ? PROXY_DENIED :
						   PROXY_NO_RULE);
	return false;
}

static void
decide_endpoint(struct proxy *proxy, struct conn *conn)
{
	conn->via = PROXY_BY_ENDPOINT;
	if (!take_verdict(proxy, conn,
		sbx_endpoint_verdict(&proxy->blob, KERNEL_WHERE,
		    conn->target.address, conn->target.port)))
		return;
	memcpy(conn->addresses[0], conn->target.address, SBX_ADDRESS_SIZE);
	conn->address_count = 1;
	connect_start(proxy, conn);
}

/* A server inside may listen on either of the two addresses.  A service of the
 * host is the one on 127.0.0.1: who listens on ::1 may be somebody else. */
static void
decide_local(struct proxy *proxy, struct conn *conn, enum sbx_port_op op)
{
	static const uint8_t local[2][SBX_ADDRESS_SIZE] = {
		{ [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 },
		{ [15] = 1 },
	};

	if (!take_verdict(proxy, conn,
		sbx_port_verdict(&proxy->blob, KERNEL_WHERE, (uint8_t)op,
		    conn->target.port)))
		return;
	memcpy(conn->addresses, local, sizeof local);
	conn->address_count = op == SBX_PUBLISH_TCP ? 2 : 1;
	connect_start(proxy, conn);
}

void
decide(struct proxy *proxy, struct conn *conn)
{
	if (conn->via == PROXY_BY_HOST)
		decide_local(proxy, conn, SBX_HOST_TCP);
	else if (conn->via == PROXY_BY_PUBLISH)
		decide_local(proxy, conn, SBX_PUBLISH_TCP);
	else if (conn->target.by_name)
		decide_name(proxy, conn);
	else
		decide_endpoint(proxy, conn);
}
