/*
 * Any bytes at all as a request to the proxy, as an answer of another one, and as
 * a body in chunks.  What comes in pieces is read as what comes at once; what is
 * written for another proxy is read as the same request.
 */
#include "runtime/proxy/protocols.h"
#include "tests/fuzz/fuzz.h"

static bool
is_same(struct text a, struct text b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* As much of the head as there is, in a buffer of just that size. */
static enum parsed
parse_part(const char *bytes, size_t len, struct http_request *request)
{
	char *part = malloc(len > 0 ? len : 1);
	enum parsed parsed;

	must(part != NULL, "no memory");
	if (len > 0)
		memcpy(part, bytes, len);
	parsed = http_parse(part, len, request);
	must(parsed != PARSED_BAD || request->fault != NULL,
	    "bad without a reason");
	free(part);
	return parsed;
}

static void
check_rewritten(const struct http_request *request)
{
	char head[HTTP_HEAD_MAX], again[HTTP_HEAD_MAX];
	size_t len = http_rewrite(request, false, head), twice;
	struct http_request second;

	must(len <= sizeof head, "a head too long");
	len = http_rewrite(request, true, head);
	if (len == 0)
		return;
	must(http_parse(head, len, &second) == PARSED_OK,
	    "what is written is not read");
	must(second.head == len && second.port == request->port &&
		second.body == request->body &&
		second.length == request->length && !second.tunnel &&
		is_same(second.host, request->host) &&
		is_same(second.method, request->method),
	    "what is written is not the same");
	twice = http_rewrite(&second, true, again);
	must(twice == len && memcmp(again, head, len) == 0,
	    "what is written twice is not the same");
}

static void
check_request(const char *bytes, size_t size)
{
	struct http_request request, part;
	enum parsed parsed = http_parse(bytes, size, &request);

	if (parsed != PARSED_OK)
		return;
	must(request.head <= size && request.head <= HTTP_HEAD_MAX,
	    "a head beyond the end");
	must(request.port != 0 && request.host.len > 0, "no target");
	must(parse_part(bytes, request.head, &part) == PARSED_OK,
	    "the head alone is not the head");
	must(parse_part(bytes, request.head - 1, &part) == PARSED_MORE,
	    "the head without its end is one");
	if (!request.tunnel)
		check_rewritten(&request);
}

static void
check_chunks(const char *bytes, size_t size)
{
	struct http_chunks whole = { CHUNK_SIZE, 0, 0 }, parts = whole;
	size_t used = http_chunks_scan(&whole, bytes, size), sum = 0;
	size_t half = size / 2;

	must(used <= size, "chunks beyond the end");
	must(used == size || whole.state >= CHUNK_END, "chunks end early");
	sum = http_chunks_scan(&parts, bytes, half);
	if (sum == half)
		sum += http_chunks_scan(&parts, bytes + half, size - half);
	must(sum == used && parts.state == whole.state &&
		parts.left == whole.left,
	    "chunks in pieces are others");
}

/* What a part of the first request shows, more of it does not change. */
static void
check_host(const char *bytes, size_t size)
{
	struct http_request whole, request;
	enum parsed parsed = http_host(bytes, size, &whole);

	must(parsed != PARSED_OK || whole.host.len > 0, "no host");
	for (size_t i = 0; i < 16; i++) {
		size_t len = size * i / 16;
		char *part = malloc(len > 0 ? len : 1);
		enum parsed found;

		must(part != NULL, "no memory");
		if (len > 0)
			memcpy(part, bytes, len);
		found = http_host(part, len, &request);
		must(found == PARSED_MORE || found == parsed,
		    "a part says something else");
		must(found != PARSED_OK || is_same(request.host, whole.host),
		    "a part is for another host");
		free(part);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size > 0 ? size : 1);
	unsigned status;
	size_t head;

	must(bytes != NULL, "no memory");
	if (size > 0)
		memcpy(bytes, data, size);
	check_request(bytes, size);
	check_chunks(bytes, size);
	check_host(bytes, size);
	if (http_answer(bytes, size, &status, &head) == PARSED_OK)
		must(head <= size && status < 1000, "an answer beyond the end");
	free(bytes);
	return 0;
}
