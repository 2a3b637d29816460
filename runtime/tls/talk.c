/*
 * One connection: a client that believes to speak with the server, and the server.
 * Requests are read whole and judged one by one; the next one is not looked at
 * until the answer has gone.  What is refused is answered here.
 *
 *	client.in -> a head, judged and written anew; its body -> server.out
 *	client.out <- the same of an answer, without secrets   <- server.in
 *
 * epoll(7) tells of changes alone, so all is tried until nothing moves.
 */
#include "runtime/tls/tls.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	TURNS = 64,    /* until others have theirs */
	PIECE = 16384, /* of a body */
	CLIENT_IN = 2 * HTTP_HEAD_MAX,
	SERVER_OUT = PIECE + HTTP_HEAD_MAX + HEAD_ADDED,
	SERVER_IN = ANSWER_HEAD_MAX,
	BODY = PIECE + TLS_SECRET_MAX * 2,
	FRAMING = 64, /* around a chunk */
	CLIENT_OUT = ANSWER_HEAD_MAX + HEAD_ADDED + 2 * BODY,
	CHUNK_FRAME = 16,
	EARLY_MAX = 8, /* answers before the one that counts */
	SHAKE_TIME = 30000,
	HEAD_TIME = 10000,
	DRAIN_TIME = 2000,
};

struct buffer {
	char *at;
	size_t begin, end, size;
};

struct peer {
	int fd;
	SSL *ssl;    /* NULL: plain */
	bool shaken; /* TLS has begun */
	bool ended;  /* nothing more will come, and that is certain */
	bool broken; /* it is gone, or has failed */
	bool closed; /* it was told that nothing more comes */
	struct buffer in, out;
};

enum up { UP_HEAD, UP_BODY, UP_STOPPED };
enum down { DOWN_IDLE, DOWN_HEAD, DOWN_BODY };

struct talk {
	struct tls *tls;
	struct talk *next;
	struct peer client, server;
	char name[SBX_NAME_SIZE];
	uint16_t port;
	uint8_t via, plain;
	uint8_t up, down;
	bool dead;
	bool again;
	bool ending;  /* what is in client.out is the last that goes there */
	bool last;    /* no other request after this one */
	bool carried; /* a secret went with this request */
	bool is_head; /* it has the method HEAD */
	bool served;  /* an answer has gone before */
	bool dirty;   /* a secret is or was in server.out */
	bool cut;     /* the server has ended in the middle of an answer */
	unsigned early;
	const char *distrust; /* why the server is not believed */
	uint32_t rule;
	int64_t deadline; /* 0: none */
	uint64_t sent, received;
	uint64_t body_up, body_down; /* bytes that are left */
	uint8_t form_up, form_down;  /* enum http_body */
	bool until_end;
	struct http_chunks chunks_up, chunks_down;
	size_t body_len;
	char client_in[CLIENT_IN], server_out[SERVER_OUT];
	char server_in[SERVER_IN], body[BODY], client_out[CLIENT_OUT];
};

/* --- telling ----------------------------------------------------------------- */

static void
send_event(struct tls *tls, const struct proxy_event *event)
{
	static const struct proxy_event lost = {
		.version = PROXY_EVENT_VERSION,
		.verdict = PROXY_LIMIT,
		.rule = UINT32_MAX,
	};
	const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;

	if (tls->lost > 0 &&
	    send(TLS_EVENTS, &lost, sizeof lost, flags) == sizeof lost)
		tls->lost = 0;
	if (send(TLS_EVENTS, event, sizeof *event, flags) < 0)
		tls->lost++;
}

static struct proxy_event
event_of(const struct talk *talk, enum proxy_verdict verdict, uint32_t rule)
{
	struct proxy_event event = {
		.version = PROXY_EVENT_VERSION,
		.via = talk->via,
		.verdict = (uint8_t)verdict,
		.port = talk->port,
		.rule = rule,
	};

	strcpy(event.name, talk->name);
	return event;
}

/* With what was asked for behind the name. */
static void
tell(struct talk *talk, enum proxy_verdict verdict, uint32_t rule,
    const char *what)
{
	struct proxy_event event = event_of(talk, verdict, rule);
	size_t at = strlen(event.name) + 1;
	struct out out;

	if (what != NULL && at < sizeof event.name) {
		out_into(&out, event.name + at, sizeof event.name - at);
		out_shown(&out, what, strlen(what));
	}
	send_event(talk->tls, &event);
}

/* --- the end ------------------------------------------------------------------ */

/* sbx-proxy may still have the socket, and while it has, epoll(7) would go on about
 * a connection that is not here any more. */
static void
peer_close(const struct tls *tls, struct peer *peer, bool reset)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (peer->fd < 0)
		return;
	if (reset)
		setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once,
		    sizeof at_once);
	else if (peer->ssl != NULL && peer->shaken && !peer->closed &&
	    !peer->broken)
		SSL_shutdown(peer->ssl);
	SSL_free(peer->ssl);
	epoll_ctl(tls->epoll, EPOLL_CTL_DEL, peer->fd, NULL);
	close(peer->fd);
	peer->fd = -1;
}

static void
talk_end(struct talk *talk, bool reset)
{
	struct proxy_event event;

	if (talk->dead)
		return;
	event = event_of(talk, PROXY_ALLOWED, talk->rule);
	event.kind = PROXY_BYTES;
	event.sent = talk->sent;
	event.received = talk->received;
	send_event(talk->tls, &event);
	peer_close(talk->tls, &talk->client, reset);
	peer_close(talk->tls, &talk->server, false);
	talk->dead = true;
	talk->tls->count--;
	talk->tls->unready = true;
}

void
talks_end(struct tls *tls)
{
	for (struct talk *talk = tls->talks; talk != NULL; talk = talk->next)
		talk_end(talk, false);
}

/* The client gets what is there, and then the end. */
static void
finish(struct talk *talk)
{
	talk->ending = true;
	talk->up = UP_STOPPED;
	talk->deadline = talk->tls->now + DRAIN_TIME + HEAD_TIME;
	peer_close(talk->tls, &talk->server, false);
}

/* --- bytes --------------------------------------------------------------------- */

static size_t
held(const struct buffer *buffer)
{
	return buffer->end - buffer->begin;
}

static size_t
room(struct buffer *buffer)
{
	if (buffer->begin > 0) {
		memmove(buffer->at, buffer->at + buffer->begin, held(buffer));
		buffer->end -= buffer->begin;
		buffer->begin = 0;
	}
	return buffer->size - buffer->end;
}

static void
append(struct buffer *buffer, const char *bytes, size_t len)
{
	memcpy(buffer->at + buffer->end, bytes, len);
	buffer->end += len;
}

static void
took(struct buffer *buffer, size_t len)
{
	buffer->begin += len;
	if (buffer->begin == buffer->end)
		buffer->begin = buffer->end = 0;
}

/* What OpenSSL could not do: wait, or it is over. */
static void
note_error(struct peer *peer, int result)
{
	int error = SSL_get_error(peer->ssl, result);

	if (error == SSL_ERROR_ZERO_RETURN)
		peer->ended = true;
	else if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
		peer->broken = true;
}

static bool
peer_read(struct peer *peer)
{
	size_t space = room(&peer->in);
	char *at = peer->in.at + peer->in.end;
	ssize_t len;

	if (space == 0 || peer->ended || peer->broken || peer->fd < 0)
		return false;
	if (peer->ssl != NULL) {
		ERR_clear_error();
		len = SSL_read(peer->ssl, at, (int)space);
		if (len <= 0)
			note_error(peer, (int)len);
	} else {
		len = recv(peer->fd, at, space, MSG_DONTWAIT);
		peer->ended = len == 0;
		peer->broken = len < 0 && errno != EAGAIN && errno != EINTR;
	}
	if (len > 0)
		peer->in.end += (size_t)len;
	return len > 0 || peer->ended || peer->broken;
}

static bool
peer_write(struct peer *peer)
{
	struct buffer *out = &peer->out;
	ssize_t len;

	if (held(out) == 0 || peer->broken || peer->fd < 0)
		return false;
	if (peer->ssl != NULL) {
		ERR_clear_error();
		len = SSL_write(peer->ssl, out->at + out->begin,
		    (int)held(out));
		if (len <= 0)
			note_error(peer, (int)len);
	} else {
		len = send(peer->fd, out->at + out->begin, held(out),
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		peer->broken = len < 0 && errno != EAGAIN && errno != EINTR;
	}
	if (len <= 0)
		return peer->broken;
	took(out, (size_t)len);
	return true;
}

/* --- TLS begins ------------------------------------------------------------------ */

/* What a client says of a certificate that it does not believe. */
static bool
is_distrust(unsigned long error)
{
	switch (ERR_GET_REASON(error)) {
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
	case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
		return true;
	default:
		return false;
	}
}

static void
client_failed(struct talk *talk, unsigned long error)
{
	if (is_distrust(error))
		tell(talk, PROXY_DISTRUSTED, talk->rule, NULL);
	else if (ERR_GET_REASON(error) == SSL_R_NO_APPLICATION_PROTOCOL)
		tell(talk, PROXY_PROTOCOL, talk->rule, "HTTP/2");
}

/* The client is told when it has asked for something. */
static void
server_failed(struct talk *talk)
{
	long result = SSL_get_verify_result(talk->server.ssl);

	if (result == X509_V_OK) {
		talk->distrust = "the server does not speak TLS 1.2 or later";
		return;
	}
	talk->distrust = X509_verify_cert_error_string(result);
	tell(talk, PROXY_CERTIFICATE, talk->rule, talk->distrust);
}

static bool
shake(struct talk *talk, struct peer *peer)
{
	const int now = 1;
	int result;

	if (peer->shaken || peer->broken || peer->fd < 0)
		return false;
	ERR_clear_error();
	result = SSL_do_handshake(peer->ssl);
	if (result == 1) {
		/* Many a client does not send its request before its last
		 * message was acknowledged, which may take 40 ms. */
		setsockopt(peer->fd, IPPROTO_TCP, TCP_QUICKACK, &now,
		    sizeof now);
		peer->shaken = true;
		return true;
	}
	note_error(peer, result);
	peer->broken |= peer->ended;
	if (!peer->broken)
		return false;
	if (peer == &talk->client)
		client_failed(talk, ERR_peek_error());
	else
		server_failed(talk);
	return true;
}

/* --- answers of our own ------------------------------------------------------------ */

static void
answer_page(struct talk *talk, const char *status, const char *reason,
    const struct out *page)
{
	char text[2048];
	struct out answer;

	out_into(&answer, text, sizeof text);
	out_print(&answer,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain\r\n"
	    "Connection: close\r\nX-Sbx-Reason: %s\r\nContent-Length: %u\r\n"
	    "\r\n",
	    status, reason, page->used);
	if (!talk->is_head)
		out_bytes(&answer, page->text, page->used);
	/* Nothing of an answer has gone; there is always room. */
	append(&talk->client.out, text, answer.used);
	finish(talk);
}

static const struct refusal {
	uint8_t verdict;
	const char *status, *reason;
} refusals[] = {
	{ PROXY_REQUEST, "403 Forbidden", "request" },
	{ PROXY_SECRET, "403 Forbidden", "secret" },
	{ PROXY_OTHER_NAME, "403 Forbidden", "other-name" },
	{ PROXY_MALFORMED, "400 Bad Request", "malformed" },
	{ PROXY_PROTOCOL, "403 Forbidden", "protocol" },
	{ PROXY_CERTIFICATE, "502 Bad Gateway", "certificate" },
	{ PROXY_FAILED, "502 Bad Gateway", "failed" },
};

/* One line; what is said of a rule is where it stands. */
static void
answer_refusal(struct talk *talk, enum proxy_verdict verdict, const char *text,
    uint32_t rule)
{
	const struct refusal *refusal = refusals;
	struct out page;

	while (refusal->verdict != verdict)
		refusal++;
	out_init(&page, -1);
	out_print(&page, "sbx: %s:%u: %s", talk->name, talk->port, text);
	if (rule != UINT32_MAX) {
		out_text(&page, " (");
		out_source(&page, &talk->tls->blob,
		    talk->tls->blob.names[rule].source);
		out_text(&page, ")");
	}
	out_text(&page, "\n");
	answer_page(talk, refusal->status, refusal->reason, &page);
}

/* The request as a line of text: "METHOD /path". */
static void
request_line(const struct http_request *request, struct out *line)
{
	const char *query = memchr(request->path.at, '?', request->path.len);

	out_init(line, -1);
	out_bytes(line, request->method.at, request->method.len);
	out_text(line, " ");
	out_bytes(line, request->path.at,
	    query != NULL ? (size_t)(query - request->path.at) :
			    request->path.len);
}

static void
refuse_request(struct talk *talk, const struct http_request *request,
    enum proxy_verdict verdict, const char *why, uint32_t rule)
{
	struct out line, text;

	request_line(request, &line);
	tell(talk, verdict, rule, line.text);
	out_init(&text, -1);
	out_shown(&text, line.text, line.used < 256 ? line.used : 256);
	out_print(&text, ": %s", why);
	answer_refusal(talk, verdict, text.text, rule);
}

/* --- requests --------------------------------------------------------------------- */

/* A secret that is refused, by its name. */
static void
refuse_secret(struct talk *talk, const struct http_request *request,
    const struct secret *secret, const char *why)
{
	struct out text;

	out_init(&text, -1);
	out_print(&text, "the secret %s %s",
	    sbx_string(&talk->tls->blob, secret->name), why);
	refuse_request(talk, request, PROXY_SECRET, text.text, UINT32_MAX);
}

static bool
is_for_us(const struct talk *talk, const struct http_request *request)
{
	char name[SBX_NAME_SIZE];

	return sbx_name_normal(request->host.at, request->host.len, name) &&
	    strcmp(name, talk->name) == 0 &&
	    (request->port == 0 || request->port == talk->port);
}

static bool
request_is_allowed(struct talk *talk, const struct http_request *request,
    struct sbx_request *asked)
{
	enum sbx_request_fault fault = sbx_request_read(asked,
	    request->method.at, request->method.len, request->path.at,
	    request->path.len);
	struct sbx_name_verdict verdict = sbx_request_verdict(&talk->tls->blob,
	    KERNEL_WHERE, talk->name, talk->port, asked);

	if (verdict.allowed)
		return true;
	refuse_request(talk, request, PROXY_REQUEST,
	    fault != SBX_REQUEST_NONE      ? sbx_request_fault_text(fault) :
		verdict.rule == UINT32_MAX ? "no rule allows it" :
					     "a rule denies it",
	    verdict.rule);
	return false;
}

/* A bit for each secret that may go with it; none goes without TLS. */
static uint32_t
allowed_secrets(const struct talk *talk, const struct sbx_request *asked)
{
	const struct secrets *secrets = talk->tls->secrets;
	uint32_t may = 0;

	for (size_t i = 0; i < secrets->count && !talk->plain; i++) {
		const char *name = sbx_string(&talk->tls->blob,
		    secrets->all[i].name);

		if (sbx_request_secret(&talk->tls->blob, KERNEL_WHERE,
			talk->name, talk->port, asked, name) != UINT32_MAX)
			may |= 1U << i;
	}
	return may;
}

static void
refuse_head(struct talk *talk, const struct http_request *request,
    enum head_fault fault, const struct swap *swap)
{
	switch (fault) {
	case HEAD_OK:
		return;
	case HEAD_LONG:
		refuse_request(talk, request, PROXY_MALFORMED,
		    "the head is too long", UINT32_MAX);
		return;
	case HEAD_SECRET:
		refuse_secret(talk, request, swap->refused,
		    talk->plain ? "goes through TLS alone" :
				  "may not go there: no rule allows it");
		return;
	case HEAD_TARGET:
		refuse_secret(talk, request, swap->refused,
		    "can go in a field of the head alone, and not in the path "
		    "or the query");
		return;
	case HEAD_OVERRIDE:
		refuse_request(talk, request, PROXY_MALFORMED,
		    "a field says another method or path", UINT32_MAX);
		return;
	case HEAD_UPGRADE:
		refuse_request(talk, request, PROXY_PROTOCOL,
		    "requests are judged here, so no other protocol can follow "
		    "(Upgrade)",
		    UINT32_MAX);
		return;
	case HEAD_EXPECT:
		refuse_request(talk, request, PROXY_PROTOCOL,
		    "what it expects is unknown (Expect)", UINT32_MAX);
		return;
	}
}

/* From here on the request is on its way. */
static void
request_goes(struct talk *talk, const struct http_request *request,
    bool expects)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	talk->up = request->body == HTTP_NO_BODY ? UP_HEAD : UP_BODY;
	talk->form_up = request->body;
	talk->body_up = request->length;
	talk->chunks_up = (struct http_chunks){ .state = CHUNK_SIZE };
	if (request->body == HTTP_LENGTH && request->length == 0)
		talk->up = UP_HEAD;
	talk->down = DOWN_HEAD;
	talk->early = 0;
	if (expects && talk->up == UP_BODY)
		append(&talk->client.out, go_on, sizeof go_on - 1);
}

static void
take_request(struct talk *talk, const struct http_request *request)
{
	struct buffer *out = &talk->server.out;
	struct sbx_request asked;
	struct swap swap = { .secrets = talk->tls->secrets };
	enum head_fault fault;
	bool expects;
	size_t len;

	if (!is_for_us(talk, request)) {
		refuse_request(talk, request, PROXY_OTHER_NAME,
		    "it is for another host than the connection", UINT32_MAX);
		return;
	}
	if (!request_is_allowed(talk, request, &asked))
		return;
	swap.may = allowed_secrets(talk, &asked);
	fault = head_request(request,
	    (struct head_rules){ talk->tls->judges, swap.may != 0 }, &swap,
	    out->at + out->end, &len, &expects);
	talk->carried = swap.carried != 0;
	talk->dirty |= talk->carried;
	if (fault != HEAD_OK) {
		OPENSSL_cleanse(out->at, out->size);
		refuse_head(talk, request, fault, &swap);
		return;
	}
	out->end += len;
	talk->sent += request->head;
	request_goes(talk, request, expects);
	took(&talk->client.in, request->head);
}

static void
refuse_malformed(struct talk *talk, const char *fault)
{
	tell(talk, PROXY_MALFORMED, talk->rule, fault);
	answer_refusal(talk, PROXY_MALFORMED, fault, UINT32_MAX);
}

/* The server cannot be had: whatever is asked for is answered so. */
static void
refuse_server(struct talk *talk)
{
	struct out text;

	if (talk->distrust == NULL) {
		answer_refusal(talk, PROXY_FAILED,
		    "the server has ended the connection", UINT32_MAX);
		return;
	}
	out_init(&text, -1);
	out_print(&text, "the server is not believed: %s", talk->distrust);
	answer_refusal(talk, PROXY_CERTIFICATE, text.text, UINT32_MAX);
}

static bool
up_head(struct talk *talk)
{
	struct buffer *in = &talk->client.in, *out = &talk->server.out;
	struct http_request request;

	if (talk->down != DOWN_IDLE || held(&talk->client.out) > 0 ||
	    held(out) > 0)
		return false;
	if (held(in) == 0) {
		talk->deadline = 0;
		if (talk->client.ended)
			talk_end(talk, false);
		return talk->client.ended;
	}
	talk->is_head = false;
	switch (http_origin(in->at + in->begin, held(in), &request)) {
	case PARSED_MORE:
		if (talk->client.ended)
			talk_end(talk, false);
		else if (talk->deadline == 0)
			talk->deadline = talk->tls->now + HEAD_TIME;
		return talk->client.ended;
	case PARSED_BAD:
		refuse_malformed(talk, request.fault);
		return true;
	case PARSED_OK:
		break;
	}
	talk->deadline = 0;
	talk->is_head = request.method.len == 4 &&
	    memcmp(request.method.at, "HEAD", 4) == 0;
	if (talk->server.broken || talk->server.ended) {
		/* Where an answer has gone, the client tries again. */
		if (talk->served && talk->distrust == NULL)
			talk_end(talk, false);
		else
			refuse_server(talk);
		return true;
	}
	room(out);
	take_request(talk, &request);
	return true;
}

static bool
up_body(struct talk *talk)
{
	struct buffer *in = &talk->client.in, *out = &talk->server.out;
	size_t len = room(out);

	if (len > held(in))
		len = held(in);
	if (len == 0) {
		if (held(in) == 0 && talk->client.ended)
			talk_end(talk, true);
		return false;
	}
	if (talk->form_up == HTTP_CHUNKED) {
		len = http_chunks_scan(&talk->chunks_up, in->at + in->begin,
		    len);
		if (talk->chunks_up.state == CHUNK_BAD) {
			tell(talk, PROXY_MALFORMED, talk->rule,
			    "a body in chunks");
			talk_end(talk, true);
			return false;
		}
		if (talk->chunks_up.state == CHUNK_END)
			talk->up = UP_HEAD;
	} else {
		if (len > talk->body_up)
			len = (size_t)talk->body_up;
		talk->body_up -= len;
		if (talk->body_up == 0)
			talk->up = UP_HEAD;
	}
	append(out, in->at + in->begin, len);
	took(in, len);
	talk->sent += len;
	return true;
}

/* --- answers ------------------------------------------------------------------------ */

/* An answer that cannot be passed on, of which nothing has gone. */
static void
bad_answer(struct talk *talk, const char *fault)
{
	struct out text;

	out_init(&text, -1);
	out_print(&text, "the answer cannot be passed on: %s", fault);
	answer_refusal(talk, PROXY_FAILED, text.text, UINT32_MAX);
}

static void
answer_done(struct talk *talk)
{
	talk->served = true;
	talk->down = DOWN_IDLE;
	/* A request of which the rest does not matter any more. */
	if (talk->last || talk->cut || talk->up != UP_HEAD)
		finish(talk);
}

static void
answer_goes(struct talk *talk, const struct answer *answer)
{
	struct buffer *in = &talk->server.in, *out = &talk->client.out;
	bool last = answer->last;

	room(out);
	out->end += answer_write(answer, last, out->at + out->end);
	talk->last = last;
	talk->form_down = answer->frame.body;
	talk->body_down = answer->frame.length;
	talk->until_end = answer->until_end;
	talk->chunks_down = (struct http_chunks){ .state = CHUNK_SIZE };
	talk->body_len = 0;
	talk->received += answer->head;
	took(in, answer->head);
	talk->down = DOWN_BODY;
	if (!answer->until_end &&
	    (answer->frame.body == HTTP_NO_BODY ||
		(answer->frame.body == HTTP_LENGTH && talk->body_down == 0)))
		answer_done(talk);
}

static bool
down_head(struct talk *talk)
{
	struct buffer *in = &talk->server.in;
	struct answer answer;
	size_t len = held(in);
	const char *end = http_head_end(in->at + in->begin, len);

	if (held(&talk->client.out) > HEAD_ADDED)
		return false;
	if (end != NULL)
		finder_replace(&talk->tls->secrets->echoes, in->at + in->begin,
		    (size_t)(end - (in->at + in->begin)));
	switch (answer_parse(in->at + in->begin, len, talk->is_head, &answer)) {
	case PARSED_MORE:
		if (!talk->server.ended && !talk->server.broken)
			return false;
		if (talk->served && len == 0 && talk->distrust == NULL)
			talk_end(talk, false);
		else
			refuse_server(talk);
		return true;
	case PARSED_BAD:
		bad_answer(talk, answer.frame.fault);
		return true;
	case PARSED_OK:
		break;
	}
	if (answer.status == 101) {
		bad_answer(talk, "it changes the protocol");
	} else if (answer.status < 200) {
		took(in, answer.head);
		if (++talk->early > EARLY_MAX)
			bad_answer(talk, "nothing but interim answers");
	} else if (talk->carried && answer.encoded) {
		bad_answer(talk,
		    "its Content-Encoding, which was not asked "
		    "for, could hide a secret");
	} else {
		answer_goes(talk, &answer);
	}
	return true;
}

/* Moves bytes of the body, without framing; true: that was its end. */
static bool
take_body(struct talk *talk)
{
	struct buffer *in = &talk->server.in;
	struct http_chunks *chunks = &talk->chunks_down;

	while (held(in) > 0 && talk->body_len < PIECE) {
		size_t len = PIECE - talk->body_len;
		bool data = talk->form_down != HTTP_CHUNKED ||
		    chunks->state == CHUNK_DATA;

		if (talk->form_down == HTTP_LENGTH && len > talk->body_down)
			len = (size_t)talk->body_down;
		if (talk->form_down == HTTP_CHUNKED && data &&
		    len > chunks->left)
			len = (size_t)chunks->left;
		if (len > held(in))
			len = held(in);
		if (!data)
			len = 1;
		if (talk->form_down == HTTP_CHUNKED)
			http_chunks_scan(chunks, in->at + in->begin, len);
		if (chunks->state == CHUNK_BAD)
			return false;
		if (data) {
			memcpy(talk->body + talk->body_len, in->at + in->begin,
			    len);
			talk->body_len += len;
			talk->body_down -= talk->until_end ? 0 : len;
		}
		took(in, len);
		if (talk->form_down == HTTP_LENGTH ? talk->body_down == 0 :
						     chunks->state == CHUNK_END)
			return true;
	}
	return false;
}

static void
put_chunk(struct talk *talk, size_t len, bool end)
{
	struct buffer *out = &talk->client.out;
	bool framed = talk->form_down == HTTP_CHUNKED;
	static const char digits[] = "0123456789abcdef";
	char size[CHUNK_FRAME];
	size_t at = sizeof size;

	if (framed && len > 0) {
		size[--at] = '\n';
		size[--at] = '\r';
		for (size_t left = len; left > 0; left >>= 4)
			size[--at] = digits[left & 15];
		append(out, size + at, sizeof size - at);
	}
	append(out, talk->body, len);
	if (framed && len > 0)
		append(out, "\r\n", 2);
	if (framed && end)
		append(out, "0\r\n\r\n", 5);
	talk->received += len;
}

static bool
down_body(struct talk *talk)
{
	struct buffer *in = &talk->server.in, *out = &talk->client.out;
	size_t before = held(in), kept;
	bool end, over = talk->server.ended || talk->server.broken;

	if (room(out) < BODY + FRAMING)
		return false;
	end = take_body(talk);
	if (talk->chunks_down.state == CHUNK_BAD) {
		talk_end(talk, true);
		return false;
	}
	/* The client finds out by itself whether that was all. */
	talk->cut = !end && over && held(in) == 0 &&
	    (!talk->until_end || talk->server.broken);
	end |= over && held(in) == 0;
	kept = finder_replace(&talk->tls->secrets->echoes, talk->body,
	    talk->body_len);
	if (end)
		kept = 0;
	put_chunk(talk, talk->body_len - kept, end && !talk->cut);
	memmove(talk->body, talk->body + talk->body_len - kept, kept);
	talk->body_len = kept;
	if (end)
		answer_done(talk);
	return end || held(in) < before;
}

/* --- all together ---------------------------------------------------------------------- */

static bool
up(struct talk *talk)
{
	switch ((enum up)talk->up) {
	case UP_HEAD:
		return up_head(talk);
	case UP_BODY:
		return up_body(talk);
	case UP_STOPPED:
		break;
	}
	return false;
}

static bool
down(struct talk *talk)
{
	switch ((enum down)talk->down) {
	case DOWN_IDLE:
		/* A server that speaks without being asked, or has gone. */
		if (talk->distrust == NULL &&
		    (held(&talk->server.in) > 0 || talk->server.ended ||
			talk->server.broken) &&
		    held(&talk->client.in) == 0) {
			finish(talk);
			return true;
		}
		break;
	case DOWN_HEAD:
		return down_head(talk);
	case DOWN_BODY:
		return down_body(talk);
	}
	return false;
}

/* All was said.  What the client still sends is read for a while, or the kernel
 * would answer it with a reset that overtakes what was said. */
static bool
drain(struct talk *talk)
{
	struct peer *client = &talk->client;

	if (held(&client->out) > 0)
		return false;
	if (!client->closed) {
		client->closed = true;
		if (client->ssl != NULL && !talk->cut)
			SSL_shutdown(client->ssl);
		shutdown(client->fd, SHUT_WR);
		talk->deadline = talk->tls->now + DRAIN_TIME;
	}
	client->in.begin = client->in.end = 0;
	if (client->ended)
		talk_end(talk, false);
	return false;
}

static bool
step(struct talk *talk)
{
	struct peer *client = &talk->client, *server = &talk->server;
	bool moved = false;

	moved |= shake(talk, client);
	moved |= shake(talk, server);
	if (client->broken) {
		talk_end(talk, true);
		return false;
	}
	if (!client->shaken)
		return moved;
	moved |= peer_read(client);
	if (server->shaken) {
		moved |= peer_read(server);
		moved |= peer_write(server);
		if (held(&server->out) == 0 && talk->dirty) {
			OPENSSL_cleanse(server->out.at, server->out.size);
			talk->dirty = false;
		}
	}
	if (talk->ending)
		moved |= drain(talk);
	else if (server->shaken || server->broken)
		moved |= up(talk);
	if (!talk->dead && !talk->ending)
		moved |= down(talk);
	if (!talk->dead)
		moved |= peer_write(client);
	return moved && !talk->dead;
}

void
talk_run(struct tls *tls, struct talk *talk)
{
	int turns = TURNS;

	talk->again = false;
	while (!talk->dead && step(talk)) {
		if (--turns == 0) {
			talk->again = tls->unready = true;
			return;
		}
	}
}

void
talks_sweep(struct tls *tls)
{
	struct talk **link = &tls->talks, *talk;

	tls->unready = false;
	while ((talk = *link) != NULL) {
		if (!talk->dead && talk->again)
			talk_run(tls, talk);
		if (!talk->dead && talk->deadline != 0 &&
		    talk->deadline <= tls->now)
			talk_end(talk, !talk->ending);
		if (!talk->dead) {
			link = &talk->next;
			continue;
		}
		*link = talk->next;
		OPENSSL_cleanse(talk, sizeof *talk);
		free(talk);
	}
}

/* --- the beginning ------------------------------------------------------------------------ */

static bool
peer_open(struct talk *talk, struct peer *peer, int fd, SSL_CTX *context)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = talk,
	};
	const int on = 1;

	peer->fd = fd;
	peer->shaken = talk->plain;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (!talk->plain) {
		peer->ssl = SSL_new(context);
		if (peer->ssl == NULL || SSL_set_fd(peer->ssl, fd) != 1)
			return false;
	}
	return epoll_ctl(talk->tls->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool
set_names(struct talk *talk)
{
	SSL *client = talk->client.ssl, *server = talk->server.ssl;

	if (talk->plain)
		return true;
	SSL_set_accept_state(client);
	SSL_set_connect_state(server);
	SSL_set_hostflags(server, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return authority_use(talk->tls->authority, client, talk->name) &&
	    SSL_set_tlsext_host_name(server, talk->name) == 1 &&
	    SSL_set1_host(server, talk->name) == 1;
}

static struct buffer
buffer_of(char *at, size_t size)
{
	return (struct buffer){ .at = at, .size = size };
}

void
talk_begin(struct tls *tls, const struct tls_work *work, const char *head,
    const int sockets[2])
{
	struct talk *talk = NULL;
	bool begun;

	if (tls->count < tls->max)
		talk = calloc(1, sizeof *talk);
	if (talk == NULL) {
		tls->lost++;
		close(sockets[0]);
		close(sockets[1]);
		return;
	}
	talk->tls = tls;
	talk->next = tls->talks;
	tls->talks = talk;
	tls->count++;
	strcpy(talk->name, work->name);
	talk->port = work->port;
	talk->via = work->via;
	talk->plain = work->plain;
	talk->rule = work->rule;
	talk->client.in = buffer_of(talk->client_in, CLIENT_IN);
	talk->client.out = buffer_of(talk->client_out, CLIENT_OUT);
	talk->server.in = buffer_of(talk->server_in, SERVER_IN);
	talk->server.out = buffer_of(talk->server_out, SERVER_OUT);
	append(&talk->client.in, head, work->head_size);
	talk->deadline = tls->now + SHAKE_TIME;
	tell(talk, PROXY_ALLOWED, work->rule, NULL);
	begun = peer_open(talk, &talk->client, sockets[0], tls->clients);
	begun &= peer_open(talk, &talk->server, sockets[1], tls->servers);
	if (begun && set_names(talk))
		talk_run(tls, talk);
	else
		talk_end(talk, true);
}
