/*
 * What happens once the server is there: the client is told, what goes first is
 * sent, and then bytes are relayed as they come.
 *
 * The client's first bytes may be held back until they show which name TLS or
 * HTTP is for.  The server's bytes are not, since in many protocols it speaks
 * first.
 */
#include "runtime/proxy/proxy.h"

#include <string.h>
#include <sys/socket.h>

/* --- the beginning -------------------------------------------------------- */

static void
begin(struct proxy *proxy, struct conn *conn)
{
	conn->stage = STAGE_RELAY;
	conn->deadline = 0;
	conn->up.budget = FLOW_ENDLESS;
	conn->up.moved = 0;
	if (conn->is_judged && conn->form == FORM_REQUEST) {
		hand_over(proxy, conn, true);
		return;
	}
	conn->counted = !conn->is_judged;
	if (conn->counted)
		tell(proxy, conn,
		    conn->answered ? PROXY_ANSWERED : PROXY_ALLOWED);
	if (!client_granted(proxy, conn))
		return;
	if (conn->head_len > 0 &&
	    !flow_put(&conn->up, &proxy->pipes, conn->head, conn->head_len)) {
		conn_reset(proxy, conn);
		return;
	}
	if (conn->form == FORM_REQUEST)
		conn->up.budget = conn->body;
	conn_run(proxy, conn);
}

/* "CONNECT NAME:PORT" for the user's own proxy. */
static void
ask_upstream(struct proxy *proxy, struct conn *conn)
{
	char head[HTTP_HEAD_MAX];
	size_t len = http_tunnel(conn->target.name, conn->target.port, head);

	conn->stage = STAGE_UPSTREAM;
	conn->deadline = proxy->now + CONNECT_TIME;
	conn->up.budget = 0;
	if (len == 0 || !flow_put(&conn->up, &proxy->pipes, head, len)) {
		conn_reset(proxy, conn);
		return;
	}
	conn_run(proxy, conn);
}

void
relay_start(struct proxy *proxy, struct conn *conn)
{
	if (proxy->upstream == NULL || proxy->relays || !conn->target.by_name ||
	    (conn->form == FORM_REQUEST && !conn->is_judged))
		begin(proxy, conn);
	else
		ask_upstream(proxy, conn);
}

void
relay_upstream(struct proxy *proxy, struct conn *conn)
{
	unsigned status;
	size_t head;
	ssize_t len;

	if (flow_run(&conn->up, &proxy->pipes) == FLOW_BROKEN) {
		client_refused(proxy, conn, PROXY_FAILED);
		return;
	}
	len = conn_peek(proxy, conn, &conn->server, HTTP_HEAD_MAX);
	if (len < 0)
		return;
	switch (http_answer((const char *)proxy->bytes, (size_t)len, &status,
	    &head)) {
	case PARSED_MORE:
		conn->server.readable = false;
		if (!conn->server.hung_up)
			return;
		break;
	case PARSED_OK:
		if (status < 200 || status > 299)
			break;
		end_take(proxy, &conn->server, head);
		begin(proxy, conn);
		return;
	case PARSED_BAD:
		break;
	}
	client_refused(proxy, conn, PROXY_FAILED);
}

/* --- the name inside -------------------------------------------------------- */

static bool
is_same_name(const struct conn *conn, const char *name, size_t len)
{
	char normal[SBX_NAME_SIZE];

	return sbx_name_normal(name, len, normal) &&
	    strcmp(normal, conn->target.name) == 0;
}

/* What is known of the client's first bytes. */
enum inside { INSIDE_MORE, INSIDE_PASSES, INSIDE_OTHER, INSIDE_NONE };

static enum inside
judge_request(struct proxy *proxy, const struct conn *conn, size_t len,
    struct text *name)
{
	struct http_request request;

	switch (http_host((const char *)proxy->bytes, len, &request)) {
	case PARSED_MORE:
		return INSIDE_MORE;
	case PARSED_BAD:
		return INSIDE_NONE;
	case PARSED_OK:
		break;
	}
	*name = request.host;
	return is_same_name(conn, name->at, name->len) &&
		(request.port == 0 || request.port == conn->target.port) ?
	    INSIDE_PASSES :
	    INSIDE_OTHER;
}

/*
 * A rule that names no port is about the web: what is not TLS for the name, or a
 * request of HTTP for it, does not pass.  One that names the port lets any
 * protocol through, and TLS that says another name on none.
 */
static enum inside
judge_first(struct proxy *proxy, const struct conn *conn, size_t len,
    char hello[TLS_NAME_SIZE], struct text *name)
{
	name->at = hello;
	switch (tls_server_name(proxy->bytes, len, hello, &name->len)) {
	case TLS_MORE:
		return INSIDE_MORE;
	case TLS_BAD:
		return INSIDE_OTHER;
	case TLS_NAME:
		return is_same_name(conn, name->at, name->len) ? INSIDE_PASSES :
								 INSIDE_OTHER;
	case TLS_NO_NAME:
		break;
	case TLS_NONE:
		if (conn->is_web || conn->is_judged)
			return judge_request(proxy, conn, len, name);
		break;
	}
	return conn->is_web || conn->is_judged ? INSIDE_NONE : INSIDE_PASSES;
}

/* Whether the client's bytes may go on.  If not, it may have been closed. */
static bool
hello_passes(struct proxy *proxy, struct conn *conn)
{
	char hello[TLS_NAME_SIZE], normal[SBX_NAME_SIZE];
	struct text name = { hello, 0 };
	ssize_t len = conn_peek(proxy, conn, &conn->client, TLS_HELLO_MAX);
	enum inside inside;

	if (len < 0)
		return false;
	inside = len == 0 ? INSIDE_PASSES :
			    judge_first(proxy, conn, (size_t)len, hello, &name);
	switch (inside) {
	case INSIDE_MORE:
		conn->client.readable = false;
		if (conn->deadline == 0)
			conn->deadline = proxy->now + HANDSHAKE_TIME;
		return false;
	case INSIDE_OTHER:
	case INSIDE_NONE:
		tell_name(proxy, conn,
		    inside == INSIDE_NONE ? PROXY_NO_NAME : PROXY_OTHER_NAME,
		    sbx_name_normal(name.at, name.len, normal) ?
			normal :
			conn->target.name);
		conn_reset(proxy, conn);
		return false;
	case INSIDE_PASSES:
		break;
	}
	conn->hello_pending = false;
	conn->deadline = 0;
	if (!conn->is_judged)
		return true;
	hand_over(proxy, conn, name.at != hello);
	return false;
}

/* --- the end of a request ------------------------------------------------- */

/*
 * Of a request only its body goes to the server: another request behind it
 * could be for another host.  What comes later is left where it is.
 */
static bool
body_passes(struct proxy *proxy, struct conn *conn)
{
	ssize_t len;

	if (conn->up.budget > 0)
		return true;
	len = conn_peek(proxy, conn, &conn->client, sizeof proxy->bytes);
	if (len < 0)
		return conn->up.held > 0;
	if (len == 0) {
		/* The end may pass; there is no more to be looked through. */
		conn->up.budget = FLOW_ENDLESS;
		conn->chunked = false;
	} else if (conn->chunked) {
		conn->up.budget = http_chunks_scan(&conn->chunks,
		    (const char *)proxy->bytes, (size_t)len);
	}
	if (conn->chunks.state == CHUNK_BAD) {
		conn_reset(proxy, conn);
		return false;
	}
	conn->chunked &= conn->chunks.state != CHUNK_END;
	return true;
}

/* --- bytes ---------------------------------------------------------------- */

static bool
may_go_up(struct proxy *proxy, struct conn *conn)
{
	if (conn->up.done)
		return true;
	if (conn->hello_pending)
		return hello_passes(proxy, conn);
	return conn->form != FORM_REQUEST || body_passes(proxy, conn);
}

void
relay_run(struct proxy *proxy, struct conn *conn)
{
	enum flow_result up = FLOW_WAITS, down;

	if (may_go_up(proxy, conn))
		up = flow_run(&conn->up, &proxy->pipes);
	if (conn->dead || (conn->is_judged && conn->hello_pending))
		return;
	down = flow_run(&conn->down, &proxy->pipes);
	/* Of what the server said before it was gone, the client gets all that
	 * is here. */
	for (int i = 0; up == FLOW_BROKEN && down == FLOW_BUSY && i < BATCH;
	     i++)
		down = flow_run(&conn->down, &proxy->pipes);
	if (up == FLOW_BROKEN || down == FLOW_BROKEN) {
		conn_reset(proxy, conn);
		return;
	}
	if (up == FLOW_DONE && down == FLOW_DONE) {
		conn_close(proxy, conn);
		return;
	}
	/* The answer is the end, whatever else the client has sent. */
	if (conn->form == FORM_REQUEST && down == FLOW_DONE) {
		conn_drain(proxy, conn);
		return;
	}
	conn->again = up == FLOW_BUSY || down == FLOW_BUSY ||
	    (conn->chunked && conn->client.readable && conn->up.held == 0);
	proxy->unready |= conn->again;
}
