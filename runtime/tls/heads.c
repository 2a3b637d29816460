/*
 * Heads that go on: of a request with what it carries, of an answer without what
 * would lead the client elsewhere.  Both were read strictly, and are written anew
 * field by field, so that nobody behind sees what was not seen here.
 */
#include "runtime/tls/tls.h"

#include <string.h>
#include <strings.h>

struct head {
	char *at;
	size_t used, size;
	bool full;
};

static char *
put(struct head *head, const char *bytes, size_t len)
{
	char *at = head->at + head->used;

	if (len > head->size - head->used) {
		head->full = true;
		return NULL;
	}
	memcpy(at, bytes, len);
	head->used += len;
	return at;
}

static void
put_word(struct head *head, const char *word)
{
	put(head, word, strlen(word));
}

static bool
is_one_of(struct text name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (text_is(name, names[i]))
			return true;
	}
	return false;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, countof(names))

/* Whether it is for one connection alone, and none of what says where the body
 * ends and whom it is for. */
static bool
is_for_us(const struct http_request *request, struct text name)
{
	static const char *const ours[] = { "Connection", "Keep-Alive",
		"Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate",
		"TE", "Trailer", "Upgrade", "HTTP2-Settings", "Alt-Svc" };
	static const char *const kept[] = { "Host", "Content-Length",
		"Transfer-Encoding" };

	return IS_ONE_OF(name, ours) ||
	    (!IS_ONE_OF(name, kept) && http_is_named(request->fields, name));
}

/* Whether a list of words, as in "Connection: close, x", has one. */
static bool
has_word(struct text list, const char *word)
{
	struct text first;

	while (text_cut(&list, ',', &first)) {
		if (text_is(text_trim(first), word))
			return true;
	}
	return text_is(text_trim(list), word);
}

/* --- requests ---------------------------------------------------------------- */

/* The answer is to be readable, and whole: half a secret would not be known. */
static bool
hides_answer(struct text name)
{
	static const char *const names[] = { "Accept-Encoding", "Range",
		"If-Range" };

	return IS_ONE_OF(name, names);
}

/* Servers that hand fields on as variables take '_' for '-'. */
static bool
is_override(struct text name)
{
	static const char *const names[] = { "X-HTTP-Method-Override",
		"X-HTTP-Method", "X-Method-Override", "X-Original-URL",
		"X-Rewrite-URL" };
	char copy[32];

	if (name.len > sizeof copy)
		return false;
	for (size_t i = 0; i < name.len; i++)
		copy[i] = (char)(name.at[i] == '_' ? '-' : name.at[i]);
	name.at = copy;
	return IS_ONE_OF(name, names);
}

/* The client has not been told yet that it may send the body: we do that. */
static enum head_fault
field_fault(struct text name, struct text value, struct head_rules rules,
    bool *expects)
{
	if (rules.judges && is_override(name))
		return HEAD_OVERRIDE;
	if (text_is(name, "Upgrade") && !has_word(value, "h2c"))
		return HEAD_UPGRADE;
	if (!text_is(name, "Expect"))
		return HEAD_OK;
	*expects = text_is(value, "100-continue");
	return *expects ? HEAD_OK : HEAD_EXPECT;
}

/* The value is changed in its copy. */
static bool
put_field(struct head *head, struct text line, struct text name,
    struct text value, struct swap *swap)
{
	static const char basic[] = "Basic ";
	const size_t len = sizeof basic - 1;
	char *copy = put(head, line.at, line.len);

	put_word(head, "\r\n");
	if (head->full)
		return true;
	copy += value.at - line.at;
	if (text_is(name, "Authorization") && value.len > len &&
	    strncasecmp(value.at, basic, len) == 0) {
		size_t at = len;

		while (copy[at] == ' ' || copy[at] == '\t')
			at++;
		if (!swap_basic(swap, copy + at, value.len - at))
			return false;
	}
	return swap_text(swap, copy, value.len);
}

enum head_fault
head_request(const struct http_request *request, struct head_rules rules,
    struct swap *swap, char at[HTTP_HEAD_MAX + HEAD_ADDED], size_t *len,
    bool *expects)
{
	struct head head = { .at = at, .size = HTTP_HEAD_MAX + HEAD_ADDED };
	struct text rest = request->fields, line, name, value;
	enum head_fault fault;
	/* Some servers leave the body of a GET alone, and would read it as the next
	 * request, which nobody has judged. */
	bool last = text_is(request->version, "HTTP/1.0") ||
	    (request->body != HTTP_NO_BODY &&
		(text_is(request->method, "GET") ||
		    text_is(request->method, "HEAD")));

	*expects = false;
	swap->refused = secrets_find(swap->secrets, request->path.at,
	    request->path.len);
	if (swap->refused != NULL)
		return HEAD_TARGET;
	put(&head, request->method.at,
	    (size_t)(request->fields.at - request->method.at));
	while (text_cut_line(&rest, &line)) {
		value = line;
		text_cut(&value, ':', &name);
		value = text_trim(value);
		fault = field_fault(name, value, rules, expects);
		if (fault != HEAD_OK)
			return fault;
		last |= text_is(name, "Connection") && has_word(value, "close");
		if (text_is(name, "Expect") || is_for_us(request, name) ||
		    (rules.guarded && hides_answer(name)))
			continue;
		if (!put_field(&head, line, name, value, swap))
			return HEAD_SECRET;
	}
	if (rules.guarded)
		put_word(&head, "Accept-Encoding: identity\r\n");
	if (last)
		put_word(&head, "Connection: close\r\n");
	put_word(&head, "\r\n");
	*len = head.used;
	return head.full ? HEAD_LONG : HEAD_OK;
}

/* --- answers ------------------------------------------------------------------ */

static bool
bad(struct answer *answer, const char *fault)
{
	answer->frame.fault = fault;
	return false;
}

static bool
parse_status(struct answer *answer, struct text line)
{
	struct text version, status;

	if (!text_cut(&line, ' ', &version))
		return bad(answer, "its first line is malformed");
	if (!text_cut(&line, ' ', &status))
		status = line;
	if ((!text_is(version, "HTTP/1.1") && !text_is(version, "HTTP/1.0")) ||
	    status.len != 3)
		return bad(answer, "its first line is malformed");
	for (size_t i = 0; i < 3; i++) {
		if (status.at[i] < '0' || status.at[i] > '9')
			return bad(answer, "its status is no number");
		answer->status = answer->status * 10 +
		    (unsigned)(status.at[i] - '0');
	}
	answer->frame.version = version;
	return true;
}

static void
note_field(struct answer *answer, struct text name, struct text value)
{
	if (text_is(name, "Connection"))
		answer->last |= has_word(value, "close");
	else if (text_is(name, "Content-Encoding"))
		answer->encoded |= value.len > 0 && !text_is(value, "identity");
}

enum parsed
answer_parse(const char *bytes, size_t len, bool is_head, struct answer *answer)
{
	const char *end = http_head_end(bytes, len);
	struct http_request *frame = &answer->frame;
	struct text rest, line, name, value;

	*answer = (struct answer){ .head = 0 };
	if (end == NULL && len < ANSWER_HEAD_MAX)
		return PARSED_MORE;
	if (end == NULL || end - bytes > ANSWER_HEAD_MAX) {
		bad(answer, "its head is too long");
		return PARSED_BAD;
	}
	answer->head = (size_t)(end - bytes);
	rest = (struct text){ bytes, answer->head - 2 };
	frame->method = rest;
	if (!http_is_clean(bytes, answer->head))
		bad(answer, "there is a control character in its head");
	else if (!text_cut_line(&rest, &line))
		bad(answer, "its first line is malformed");
	else if (parse_status(answer, line))
		frame->fields = rest;
	while (frame->fault == NULL && rest.len > 0) {
		if (!text_cut_line(&rest, &line))
			bad(answer, "a line of its head is malformed");
		else if (http_field(frame, line, &name, &value))
			note_field(answer, name, value);
	}
	if (frame->fault != NULL)
		return PARSED_BAD;
	answer->last |= text_is(frame->version, "HTTP/1.0");
	if (is_head || answer->status < 200 || answer->status == 204 ||
	    answer->status == 304)
		frame->body = HTTP_NO_BODY;
	else
		answer->until_end = frame->body == HTTP_NO_BODY;
	answer->last |= answer->until_end;
	return PARSED_OK;
}

/* What is not for us stays as it is. */
size_t
answer_write(const struct answer *answer, bool last, char *at)
{
	const struct http_request *frame = &answer->frame;
	struct head head = { .at = at, .size = answer->head + HEAD_ADDED };
	struct text rest = frame->fields, line, name, value;

	put(&head, frame->method.at,
	    (size_t)(frame->fields.at - frame->method.at));
	while (text_cut_line(&rest, &line)) {
		value = line;
		text_cut(&value, ':', &name);
		if (is_for_us(frame, name))
			continue;
		put(&head, line.at, line.len);
		put_word(&head, "\r\n");
	}
	if (last)
		put_word(&head, "Connection: close\r\n");
	put_word(&head, "\r\n");
	return head.used;
}
