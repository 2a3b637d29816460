/*
 * The heads of HTTP/1 that a proxy reads (RFC 9112): a request to it, and the
 * answer of another proxy.  Pure functions over bytes.
 *
 * What two readers could understand in two ways is refused: line ends without
 * CR, folded lines, blanks before a colon, two lengths.
 */
#include "runtime/proxy/protocols.h"

#include "format/text.h"

#include <string.h>
#include <strings.h>

/* --- words ---------------------------------------------------------------- */

bool
text_is(struct text text, const char *word)
{
	return text.len == strlen(word) &&
	    strncasecmp(text.at, word, text.len) == 0;
}

struct text
text_trim(struct text text)
{
	while (text.len > 0 && (*text.at == ' ' || *text.at == '\t')) {
		text.at++;
		text.len--;
	}
	while (text.len > 0 &&
	    (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
		text.len--;
	return text;
}

bool
text_cut(struct text *rest, char byte, struct text *first)
{
	const char *end = memchr(rest->at, byte, rest->len);

	if (end == NULL)
		return false;
	*first = (struct text){ rest->at, (size_t)(end - rest->at) };
	rest->at = end + 1;
	rest->len -= first->len + 1;
	return true;
}

bool
text_cut_line(struct text *rest, struct text *line)
{
	if (!text_cut(rest, '\n', line) || line->len == 0 ||
	    line->at[line->len - 1] != '\r')
		return false;
	line->len--;
	return true;
}

bool
text_is_token(struct text text)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < text.len; i++) {
		char c = text.at[i];

		if ((c < '0' || c > '9') && (c < 'a' || c > 'z') &&
		    (c < 'A' || c > 'Z') &&
		    (c == '\0' || strchr(others, c) == NULL))
			return false;
	}
	return text.len > 0;
}

static bool
text_is_number(struct text text, uint64_t *value)
{
	const char *end = text.at + text.len;

	return text.len > 0 && sbx_decimal_read(text.at, end, value) == end;
}

const char *
http_head_end(const char *bytes, size_t len)
{
	const char *at = memmem(bytes, len, "\r\n\r\n", 4);

	return at != NULL ? at + 4 : NULL;
}

bool
http_is_clean(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)bytes[i];

		if (c == '\r' && i + 1 < len && bytes[i + 1] == '\n')
			continue;
		if (c == '\n' && i > 0 && bytes[i - 1] == '\r')
			continue;
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* --- the first line ------------------------------------------------------- */

static bool
bad(struct http_request *request, const char *fault)
{
	request->fault = fault;
	return false;
}

/* HOST, HOST:PORT or [ADDRESS]:PORT.  A port of 0 stands for none. */
static bool
parse_authority(struct http_request *request, struct text text)
{
	struct text host, port = { text.at, 0 };
	uint64_t number = 0;
	bool literal = text.len > 0 && *text.at == '[';

	if (literal) {
		text.at++;
		text.len--;
		if (!text_cut(&text, ']', &host))
			return bad(request, "the address has no end");
		if (text.len > 0 && *text.at != ':')
			return bad(request, "there is more behind the address");
		if (text.len > 0)
			port = (struct text){ text.at + 1, text.len - 1 };
		if (text.len > 0 && port.len == 0)
			return bad(request, "the port is missing");
	} else if (text_cut(&text, ':', &host)) {
		port = text;
		if (port.len == 0)
			return bad(request, "the port is missing");
	} else {
		host = text;
	}
	if (port.len > 0 &&
	    (!text_is_number(port, &number) || number == 0 ||
		number > UINT16_MAX))
		return bad(request, "the port is not a number up to 65535");
	if (host.len == 0)
		return bad(request, "the host is missing");
	if (memchr(host.at, '[', host.len) != NULL ||
	    (memchr(host.at, ':', host.len) != NULL) != literal)
		return bad(request, "the address is malformed");
	request->host = host;
	request->port = (uint16_t)number;
	return true;
}

static bool
parse_url(struct http_request *request, struct text target)
{
	static const char scheme[] = "http://";
	size_t len = sizeof scheme - 1, end = 0;
	struct text authority;

	if (target.len < len || strncasecmp(target.at, scheme, len) != 0)
		return bad(request, "this is a proxy: ask for http://HOST/...");
	target.at += len;
	target.len -= len;
	while (end < target.len && memchr("/?#", target.at[end], 3) == NULL)
		end++;
	authority = (struct text){ target.at, end };
	request->path = (struct text){ target.at + end, target.len - end };
	if (memchr(target.at, '#', target.len) != NULL)
		return bad(request, "a fragment is nothing for a server");
	if (memchr(authority.at, '@', authority.len) != NULL)
		return bad(request, "user and password do not belong in a URL");
	if (!parse_authority(request, authority))
		return false;
	if (request->port == 0)
		request->port = 80;
	return true;
}

/* METHOD TARGET VERSION */
static bool
parse_words(struct http_request *request, struct text line, struct text *target)
{
	if (!text_cut(&line, ' ', &request->method) ||
	    !text_is_token(request->method))
		return bad(request, "the method is malformed");
	if (!text_cut(&line, ' ', target) || target->len == 0)
		return bad(request, "the first line is malformed");
	request->version = line;
	if (!text_is(line, "HTTP/1.1") && !text_is(line, "HTTP/1.0"))
		return bad(request, "only HTTP/1.1 and HTTP/1.0 are spoken");
	for (size_t i = 0; i < target->len; i++) {
		if ((uint8_t)target->at[i] <= ' ' ||
		    (uint8_t)target->at[i] > '~')
			return bad(request, "the target is not ASCII");
	}
	request->tunnel = request->method.len == 7 &&
	    memcmp(request->method.at, "CONNECT", 7) == 0;
	return true;
}

static bool
parse_first_line(struct http_request *request, struct text line)
{
	struct text target;

	if (!parse_words(request, line, &target))
		return false;
	if (!request->tunnel)
		return parse_url(request, target);
	return parse_authority(request, target) &&
	    (request->port != 0 || bad(request, "the port is missing"));
}

static bool
parse_origin_line(struct http_request *request, struct text line)
{
	if (!parse_words(request, line, &request->path))
		return false;
	if (request->tunnel || *request->path.at != '/')
		return bad(request, "the target is not a path");
	return true;
}

/* --- fields --------------------------------------------------------------- */

static bool
parse_length(struct http_request *request, struct text value)
{
	if (request->body != HTTP_NO_BODY)
		return bad(request, "the body has two lengths");
	if (!text_is_number(value, &request->length) ||
	    request->length > INT64_MAX)
		return bad(request, "the length of the body is no number");
	request->body = HTTP_LENGTH;
	return true;
}

static bool
parse_encoding(struct http_request *request, struct text value)
{
	if (request->body != HTTP_NO_BODY)
		return bad(request, "the body has two lengths");
	if (!text_is(value, "chunked") ||
	    !text_is(request->version, "HTTP/1.1"))
		return bad(request, "the body is encoded in an unknown way");
	request->body = HTTP_CHUNKED;
	return true;
}

bool
http_field(struct http_request *request, struct text line, struct text *name,
    struct text *value)
{
	*value = line;
	if (!text_cut(value, ':', name) || !text_is_token(*name))
		return bad(request, "a field is malformed");
	*value = text_trim(*value);
	if (text_is(*name, "Content-Length"))
		return parse_length(request, *value);
	if (text_is(*name, "Transfer-Encoding"))
		return parse_encoding(request, *value);
	return true;
}

/* What begins a head: a first line that `first` reads, and fields. */
static enum parsed
parse_head(const char *bytes, size_t len, struct http_request *request,
    bool (*first)(struct http_request *request, struct text line))
{
	const char *end = http_head_end(bytes, len);
	struct text rest, line, name, value;

	*request = (struct http_request){ .fault = NULL };
	if (end == NULL)
		return len < HTTP_HEAD_MAX ?
		    PARSED_MORE :
		    (bad(request, "the head is too long"), PARSED_BAD);
	request->head = (size_t)(end - bytes);
	rest = (struct text){ bytes, request->head - 2 };
	if (request->head > HTTP_HEAD_MAX)
		bad(request, "the head is too long");
	else if (!http_is_clean(bytes, request->head))
		bad(request, "there is a control character in the head");
	else if (!text_cut_line(&rest, &line))
		bad(request, "the first line is malformed");
	else if (first(request, line))
		request->fields = rest;
	if (request->fault != NULL)
		return PARSED_BAD;
	while (rest.len > 0) {
		if (!text_cut_line(&rest, &line))
			bad(request, "a line is malformed");
		if (request->fault != NULL ||
		    !http_field(request, line, &name, &value))
			return PARSED_BAD;
	}
	return PARSED_OK;
}

enum parsed
http_parse(const char *bytes, size_t len, struct http_request *request)
{
	return parse_head(bytes, len, request, parse_first_line);
}

enum parsed
http_origin(const char *bytes, size_t len, struct http_request *request)
{
	enum parsed parsed = parse_head(bytes, len, request, parse_origin_line);
	struct text rest = request->fields, line, name;

	if (parsed != PARSED_OK)
		return parsed;
	while (text_cut_line(&rest, &line)) {
		if (!text_cut(&line, ':', &name) || !text_is(name, "Host"))
			continue;
		if (request->host.len > 0)
			bad(request, "there are two hosts");
		if (request->fault != NULL ||
		    !parse_authority(request, text_trim(line)))
			return PARSED_BAD;
	}
	return request->host.len > 0 || bad(request, "the host is missing") ?
	    PARSED_OK :
	    PARSED_BAD;
}

/* --- the head for the server ---------------------------------------------- */

struct writer {
	char *at;
	size_t used;
	bool full;
};

static void
put(struct writer *writer, const char *bytes, size_t len)
{
	if (len > HTTP_HEAD_MAX - writer->used) {
		writer->full = true;
		return;
	}
	memcpy(writer->at + writer->used, bytes, len);
	writer->used += len;
}

static void
put_text(struct writer *writer, struct text text)
{
	put(writer, text.at, text.len);
}

static void
put_word(struct writer *writer, const char *word)
{
	put(writer, word, strlen(word));
}

static void
put_port(struct writer *writer, uint16_t port)
{
	char digits[8];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + port % 10);
	while ((port /= 10) != 0);
	digits[--at] = ':';
	put(writer, digits + at, sizeof digits - at);
}

bool
http_is_named(struct text fields, struct text name)
{
	struct text line, word, rest;

	while (text_cut_line(&fields, &line)) {
		rest = line;
		if (!text_cut(&rest, ':', &word) ||
		    !text_is(word, "Connection"))
			continue;
		for (bool more = true; more;) {
			more = text_cut(&rest, ',', &word);
			word = text_trim(more ? word : rest);
			if (word.len == name.len &&
			    strncasecmp(word.at, name.at, name.len) == 0)
				return true;
		}
	}
	return false;
}

/* We add "Connection: close", which names a field, too. */
static bool
is_for_proxies(const struct http_request *request, struct text name)
{
	static const char *const names[] = { "Host", "Connection",
		"Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate",
		"Keep-Alive", "Upgrade", "TE", "close" };

	for (size_t i = 0; i < countof(names); i++) {
		if (text_is(name, names[i]))
			return true;
	}
	/* What says where the body ends is for everybody. */
	return !text_is(name, "Content-Length") &&
	    !text_is(name, "Transfer-Encoding") &&
	    http_is_named(request->fields, name);
}

static void
put_host(struct writer *writer, const struct http_request *request)
{
	bool literal = memchr(request->host.at, ':', request->host.len) != NULL;

	put_word(writer, literal ? "[" : "");
	put_text(writer, request->host);
	put_word(writer, literal ? "]" : "");
	if (request->port != 80)
		put_port(writer, request->port);
}

size_t
http_rewrite(const struct http_request *request, bool for_proxy,
    char head[HTTP_HEAD_MAX])
{
	struct writer writer = { .at = head };
	struct text rest = request->fields, line, name, value;

	put_text(&writer, request->method);
	put_word(&writer, " ");
	if (for_proxy) {
		put_word(&writer, "http://");
		put_host(&writer, request);
	}
	if (request->path.len == 0 || *request->path.at != '/')
		put_word(&writer, "/");
	put_text(&writer, request->path);
	put_word(&writer, " ");
	put_text(&writer, request->version);
	put_word(&writer, "\r\nHost: ");
	put_host(&writer, request);
	put_word(&writer, "\r\nConnection: close\r\n");
	while (text_cut_line(&rest, &line)) {
		value = line;
		if (!text_cut(&value, ':', &name) ||
		    is_for_proxies(request, name))
			continue;
		put_text(&writer, line);
		put_word(&writer, "\r\n");
	}
	put_word(&writer, "\r\n");
	return writer.full ? 0 : writer.used;
}

size_t
http_tunnel(const char *host, uint16_t port, char head[HTTP_HEAD_MAX])
{
	struct writer writer = { .at = head };

	put_word(&writer, "CONNECT ");
	put_word(&writer, host);
	put_port(&writer, port);
	put_word(&writer, " HTTP/1.1\r\nHost: ");
	put_word(&writer, host);
	put_port(&writer, port);
	put_word(&writer, "\r\n\r\n");
	return writer.used;
}

/* --- a request to the server itself ---------------------------------------- */

enum { METHOD_MAX = 32 };

static bool
parse_origin(struct http_request *request, struct text line)
{
	struct text target;

	return text_cut(&line, ' ', &request->method) &&
	    text_cut(&line, ' ', &target) && target.len > 0 &&
	    (*target.at == '/' || text_is(target, "*")) &&
	    (text_is(line, "HTTP/1.1") || text_is(line, "HTTP/1.0"));
}

/* Whether it may become a head: a method comes first, lines end with CR LF, and
 * the first one is as it should be. */
static bool
may_be_head(const char *bytes, size_t len)
{
	struct text rest = { bytes, len }, method = rest, line;
	struct http_request request;

	if (!text_cut(&rest, ' ', &method) && len > METHOD_MAX)
		return false;
	rest = (struct text){ bytes, len };
	return text_is_token(method) &&
	    http_is_clean(bytes, len - (bytes[len - 1] == '\r')) &&
	    (!text_cut_line(&rest, &line) || parse_origin(&request, line));
}

enum parsed
http_host(const char *bytes, size_t len, struct http_request *request)
{
	const char *end = http_head_end(bytes, len);
	struct text rest, line, name;

	*request = (struct http_request){ .fault = NULL };
	if (len == 0)
		return PARSED_MORE;
	if (!may_be_head(bytes, end != NULL ? (size_t)(end - bytes) : len))
		return PARSED_BAD;
	if (end == NULL)
		return len < HTTP_HEAD_MAX ? PARSED_MORE : PARSED_BAD;
	rest = (struct text){ bytes, (size_t)(end - bytes) - 2 };
	if (!text_cut_line(&rest, &line))
		return PARSED_BAD;
	while (rest.len > 0) {
		if (!text_cut_line(&rest, &line) ||
		    !text_cut(&line, ':', &name) || !text_is_token(name))
			return PARSED_BAD;
		if (text_is(name, "Host") &&
		    (request->host.len > 0 ||
			!parse_authority(request, text_trim(line))))
			return PARSED_BAD;
	}
	return request->host.len > 0 ? PARSED_OK : PARSED_BAD;
}

/* --- answers of another proxy --------------------------------------------- */

enum parsed
http_answer(const char *bytes, size_t len, unsigned *status, size_t *head)
{
	static const char version[] = "HTTP/1.";
	enum { STATUS_AT = 9, STATUS_END = 12 };
	const char *end = http_head_end(bytes, len);
	uint64_t number = 0;

	*status = 0;
	*head = 0;
	if (end == NULL)
		return len < HTTP_HEAD_MAX ? PARSED_MORE : PARSED_BAD;
	if (end - bytes < STATUS_END + 4 ||
	    memcmp(bytes, version, sizeof version - 1) != 0 ||
	    bytes[STATUS_AT - 1] != ' ' ||
	    !text_is_number((struct text){ bytes + STATUS_AT, 3 }, &number) ||
	    (bytes[STATUS_END] != ' ' && bytes[STATUS_END] != '\r'))
		return PARSED_BAD;
	*status = (unsigned)number;
	*head = (size_t)(end - bytes);
	return PARSED_OK;
}
