/*
 * Clients that ask for a name in HTTP or SOCKS, and what they are told.  What
 * they send is looked at until it is a whole request, and only that is taken:
 * what comes behind it is for the server.
 */
#include "runtime/proxy/proxy.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"
#include "runtime/proxy/protocols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* --- answers -------------------------------------------------------------- */

bool
client_send(struct proxy *proxy, struct conn *conn, const void *bytes,
    size_t len)
{
	if (send(conn->client.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	    (ssize_t)len)
		return true;
	conn_reset(proxy, conn);
	return false;
}

static void
send_socks(struct proxy *proxy, struct conn *conn, enum socks_code code)
{
	uint8_t answer[SOCKS_ANSWER];

	socks_answer(code, answer);
	if (client_send(proxy, conn, answer, sizeof answer) &&
	    code != SOCKS_GRANTED)
		conn_drain(proxy, conn);
}

static void
send_page(struct proxy *proxy, struct conn *conn, const char *status,
    const char *reason, const struct out *page)
{
	char text[4096];
	struct out answer;

	out_into(&answer, text, sizeof text);
	out_print(&answer,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain\r\n"
	    "Connection: close\r\nX-Sbx-Reason: %s\r\nContent-Length: %u\r\n"
	    "\r\n",
	    status, reason, page->used);
	out_bytes(&answer, page->text, page->used);
	if (client_send(proxy, conn, answer.text, answer.used))
		conn_drain(proxy, conn);
}

static void
client_fault(struct proxy *proxy, struct conn *conn, const char *fault)
{
	struct out page;

	out_init(&page, -1);
	out_print(&page, "sbx: %s\n", fault);
	send_page(proxy, conn, "400 Bad Request", "malformed", &page);
}

/* --- refusals ------------------------------------------------------------- */

/* How each verdict reads in HTTP and in SOCKS. */
static const struct refusal {
	const char *status, *reason, *text;
	uint8_t socks;
} refusals[PROXY_VERDICT_END] = {
	[PROXY_DENIED] = { "403 Forbidden", "denied", "a rule denies it",
	    SOCKS_NOT_ALLOWED },
	[PROXY_NO_RULE] = { "403 Forbidden", "no-rule", "no rule allows it",
	    SOCKS_NOT_ALLOWED },
	[PROXY_PRIVATE] = { "403 Forbidden", "private-address",
	    "it has no address that is public", SOCKS_NOT_ALLOWED },
	[PROXY_RESERVED] = { "403 Forbidden", "reserved-address",
	    "it has only addresses that no name may lead to",
	    SOCKS_NOT_ALLOWED },
	[PROXY_NO_SUCH_NAME] = { "502 Bad Gateway", "no-such-name",
	    "there is no host of this name", SOCKS_HOST_UNREACHABLE },
	[PROXY_FAILED] = { "502 Bad Gateway", "failed",
	    "there is no connection to it", SOCKS_REFUSED },
	[PROXY_LIMIT] = { "503 Service Unavailable", "limit",
	    "there are too many connections", SOCKS_FAILED },
	[PROXY_REFUSED] = { "403 Forbidden", "refused",
	    "the user was asked, and refused it", SOCKS_NOT_ALLOWED },
	[PROXY_UNANSWERED] = { "403 Forbidden", "no-answer",
	    "the user was asked, and did not answer", SOCKS_NOT_ALLOWED },
};

/* The rule that would allow it, if there is one. */
static void
out_remedy(struct out *page, const struct conn *conn,
    enum proxy_verdict verdict)
{
	struct proxy_event event;
	struct out remedy;

	event_fill(&event, conn, verdict, conn->target.name);
	out_init(&remedy, -1);
	if (remedy_put(&remedy, &event))
		out_print(page, "sbx: this rule would allow it: %s\n",
		    remedy.text);
}

/* Where the rule stands that denies it. */
static void
out_rule(struct out *page, const struct proxy *proxy, const struct conn *conn)
{
	const struct sbx_blob *blob = &proxy->blob;

	out_text(page, "sbx: ");
	out_source(page, blob,
	    conn->via == PROXY_BY_ENDPOINT ?
		blob->endpoints[conn->rule].source :
		blob->names[conn->rule].source);
	out_text(page, " denies it\n");
}

static void
refuse_page(struct proxy *proxy, struct conn *conn, enum proxy_verdict verdict)
{
	const struct refusal *refusal = &refusals[verdict];
	struct out page;

	out_init(&page, -1);
	out_print(&page, "sbx: %s:%u: %s\n", conn->target.name,
	    conn->target.port, refusal->text);
	if (verdict == PROXY_DENIED)
		out_rule(&page, proxy, conn);
	else
		out_remedy(&page, conn, verdict);
	send_page(proxy, conn, refusal->status, refusal->reason, &page);
}

void
client_refused(struct proxy *proxy, struct conn *conn,
    enum proxy_verdict verdict)
{
	tell(proxy, conn, verdict);
	switch ((enum form)conn->form) {
	case FORM_BARE:
		conn_reset(proxy, conn);
		return;
	case FORM_SOCKS:
		send_socks(proxy, conn,
		    (enum socks_code)refusals[verdict].socks);
		return;
	case FORM_TUNNEL:
	case FORM_REQUEST:
		refuse_page(proxy, conn, verdict);
		return;
	}
}

bool
client_granted(struct proxy *proxy, struct conn *conn)
{
	static const char granted[] =
	    "HTTP/1.1 200 Connection established\r\n\r\n";

	if (conn->form == FORM_SOCKS)
		send_socks(proxy, conn, SOCKS_GRANTED);
	else if (conn->form == FORM_TUNNEL)
		client_send(proxy, conn, granted, sizeof granted - 1);
	return !conn->dead;
}

/* --- requests ------------------------------------------------------------- */

/* What nobody can look up is no name, and is told with what can be printed. */
static bool
set_target(struct proxy *proxy, struct conn *conn, struct text host,
    uint16_t port)
{
	struct out shown;

	if (target_parse(&conn->target, host, port))
		return true;
	out_into(&shown, conn->target.name, sizeof conn->target.name);
	out_shown(&shown, host.at, host.len);
	tell(proxy, conn, PROXY_NO_RULE);
	return false;
}

/* The head that goes to the server instead of the client's. */
static bool
keep_head(struct conn *conn, const struct http_request *request, bool for_proxy)
{
	conn->head = malloc(HTTP_HEAD_MAX);
	if (conn->head == NULL)
		return false;
	conn->head_len = http_rewrite(request, for_proxy, conn->head);
	conn->chunked = request->body == HTTP_CHUNKED;
	conn->body = request->length;
	return conn->head_len > 0;
}

static void
take_http(struct proxy *proxy, struct conn *conn,
    const struct http_request *request)
{
	bool known = set_target(proxy, conn, request->host, request->port);
	size_t len = request->head;

	conn->form = request->tunnel ? FORM_TUNNEL : FORM_REQUEST;
	if (known && !request->tunnel &&
	    !keep_head(conn, request,
		proxy->upstream != NULL && conn->target.by_name &&
		    !sbx_name_is_ended(&proxy->blob, KERNEL_WHERE,
			conn->target.name, conn->target.port))) {
		client_fault(proxy, conn, "the head is too long");
		return;
	}
	/* From here on the request's texts are overwritten. */
	end_take(proxy, &conn->client, len);
	if (known)
		decide(proxy, conn);
	else
		client_fault(proxy, conn, "this is not a host name");
}

static void
take_greeting(struct proxy *proxy, struct conn *conn, size_t len)
{
	struct socks_greeting greeting;
	uint8_t answer[2] = { SOCKS_VERSION, 0 };

	if (socks_greeting(proxy->bytes, len, &greeting) != PARSED_OK) {
		conn->client.readable = false;
		return;
	}
	conn->form = FORM_SOCKS;
	conn->via = PROXY_BY_SOCKS;
	end_take(proxy, &conn->client, greeting.len);
	answer[1] = greeting.open ? 0 : 0xff;
	if (!client_send(proxy, conn, answer, sizeof answer))
		return;
	conn->stage = STAGE_REQUEST;
	if (greeting.open)
		conn_run(proxy, conn);
	else
		conn_drain(proxy, conn);
}

void
client_head(struct proxy *proxy, struct conn *conn)
{
	struct http_request request;
	ssize_t len = conn_peek(proxy, conn, &conn->client, HTTP_HEAD_MAX);

	if (len < 0)
		return;
	if (len == 0) {
		conn_close(proxy, conn);
		return;
	}
	conn->client.readable = true;
	if (proxy->bytes[0] == SOCKS_VERSION) {
		take_greeting(proxy, conn, (size_t)len);
		return;
	}
	switch (http_parse((const char *)proxy->bytes, (size_t)len, &request)) {
	case PARSED_MORE:
		conn->client.readable = false;
		break;
	case PARSED_OK:
		take_http(proxy, conn, &request);
		return;
	case PARSED_BAD:
		client_fault(proxy, conn, request.fault);
		return;
	}
	/* Nothing can come any more that would make it whole. */
	if (conn->client.hung_up)
		conn_close(proxy, conn);
}

void
client_request(struct proxy *proxy, struct conn *conn)
{
	struct socks_request request;
	ssize_t len = conn_peek(proxy, conn, &conn->client, SOCKS_REQUEST_MAX);
	enum parsed parsed;
	bool known = true;

	if (len < 0)
		return;
	parsed = socks_request(proxy->bytes, (size_t)len, &request);
	if (parsed == PARSED_MORE) {
		conn->client.readable = false;
		if (len == 0 || conn->client.hung_up)
			conn_close(proxy, conn);
		return;
	}
	if (parsed == PARSED_BAD) {
		send_socks(proxy, conn, SOCKS_NO_ADDRESS_TYPE);
		return;
	}
	if (request.name.len > 0)
		known = set_target(proxy, conn, request.name, request.port);
	else
		target_address(&conn->target, request.address, request.port);
	end_take(proxy, &conn->client, request.len);
	if (request.command != SOCKS_CONNECT)
		send_socks(proxy, conn, SOCKS_NO_COMMAND);
	else if (!known)
		send_socks(proxy, conn, SOCKS_NOT_ALLOWED);
	else
		decide(proxy, conn);
}
