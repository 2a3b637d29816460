/*
 * Any bytes at all as a request whose TLS is ended, as an answer to one, and as a
 * body.  What goes on is read as the same request or answer; a secret is where its
 * placeholder was, and never in what goes to the client, in however many pieces it
 * came.  Bytes from 0xf0 on stand for secrets and parts of them.
 */
#include "runtime/tls/tls.h"
#define FUZZ_NO_TEXTS
#include "tests/fuzz/fuzz.h"

enum { SIZE = 1 << 16 };

static const char first[] = "ghp_0123456789abcdefghijABCDEFGHIJ",
		  second[] = "q+aG3/eF5=zz8.kk0";

static struct secrets *
make_secrets(void)
{
	static struct secrets *secrets;
	static const char strings[] = "\0first\0second";
	const struct sbx_blob blob = { .strings = strings,
		.strings_size = sizeof strings };
	struct tls_start start = { TLS_VERSION, 2 };
	struct tls_secret headers[] = { { 1, sizeof first - 1 },
		{ 7, sizeof second - 1 } };
	uint8_t bytes[256];
	size_t used = 0;

	if (secrets != NULL)
		return secrets;
	secrets = calloc(1, sizeof *secrets);
	must(secrets != NULL, "no memory");
#define PUT(at, len) (memcpy(bytes + used, at, len), used += (len))
	PUT(&start, sizeof start);
	PUT(&headers[0], sizeof headers[0]);
	PUT(first, sizeof first - 1);
	PUT(&headers[1], sizeof headers[1]);
	PUT(second, sizeof second - 1);
#undef PUT
	must(secrets_take(secrets, &blob, bytes, used) == NULL, "no secrets");
	return secrets;
}

/* With secrets or placeholders for some bytes. */
static size_t
expand(const uint8_t *data, size_t size, bool values, char *to)
{
	const struct secrets *secrets = make_secrets();
	size_t used = 0;

	for (size_t i = 0; i < size && used + 128 < SIZE; i++) {
		const struct secret *secret = &secrets->all[data[i] & 1];
		const char *text = values ? secret->value : secret->placeholder;
		size_t len = secret->len;

		if (data[i] < 0xf0) {
			to[used++] = (char)data[i];
			continue;
		}
		if ((data[i] & 6) == 2)
			len /= 2;
		if ((data[i] & 6) == 4)
			text += len -= len / 2;
		memcpy(to + used, text, len);
		used += len;
	}
	return used;
}

static bool
is_same(struct text a, struct text b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static void
check_request(const uint8_t *data, size_t size)
{
	static char bytes[SIZE], head[HTTP_HEAD_MAX + HEAD_ADDED];
	size_t len = expand(data + 1, size - 1, false, bytes), used;
	struct swap swap = { .secrets = make_secrets(), .may = data[0] & 3 };
	struct http_request request, again;
	bool expects;

	if (http_origin(bytes, len, &request) != PARSED_OK)
		return;
	must(request.head <= len && request.host.len > 0 && !request.tunnel &&
		*request.path.at == '/',
	    "a request that is none");
	if (head_request(&request,
		(struct head_rules){ data[0] & 4, swap.may != 0 }, &swap, head,
		&used, &expects) != HEAD_OK)
		return;
	must(used <= sizeof head, "a head too long");
	must((swap.carried & ~swap.may) == 0, "a secret that may not");
	if (used > HTTP_HEAD_MAX)
		return;
	must(http_origin(head, used, &again) == PARSED_OK &&
		again.head == used && again.body == request.body &&
		again.length == request.length &&
		is_same(again.method, request.method) &&
		is_same(again.path, request.path),
	    "what goes on is another request");
}

static void
check_answer(const uint8_t *data, size_t size)
{
	static char bytes[SIZE], head[ANSWER_HEAD_MAX + HEAD_ADDED];
	size_t len = expand(data + 1, size - 1, true, bytes);
	const char *end = http_head_end(bytes, len);
	struct answer answer, again;
	size_t used;

	if (end != NULL)
		finder_replace(&make_secrets()->echoes, bytes,
		    (size_t)(end - bytes));
	if (answer_parse(bytes, len, data[0] & 1, &answer) != PARSED_OK)
		return;
	must(answer.head <= len && answer.status < 1000, "beyond the end");
	used = answer_write(&answer, answer.last, head);
	must(memmem(head, used, first, sizeof first - 1) == NULL &&
		memmem(head, used, second, sizeof second - 1) == NULL,
	    "a secret in a head");
	must(used <= answer.head + HEAD_ADDED, "a head too long");
	if (used > ANSWER_HEAD_MAX)
		return;
	must(answer_parse(head, used, data[0] & 1, &again) == PARSED_OK &&
		again.status == answer.status &&
		again.frame.body == answer.frame.body &&
		again.frame.length == answer.frame.length &&
		again.last == answer.last &&
		again.until_end == answer.until_end,
	    "what goes on is another answer");
}

static void
check_body(const uint8_t *data, size_t size)
{
	static char whole[SIZE], parts[SIZE];
	const struct finder *finder = &make_secrets()->echoes;
	size_t len = expand(data + 1, size - 1, true, whole), kept, done = 0;

	memcpy(parts, whole, len);
	finder_replace(finder, whole, len);
	must(memmem(whole, len, first, sizeof first - 1) == NULL &&
		memmem(whole, len, second, sizeof second - 1) == NULL,
	    "a secret in a body");
	for (size_t end = 0; end < len;) {
		end += 1 + (data[0] + end) % 37;
		if (end > len)
			end = len;
		kept = finder_replace(finder, parts + done, end - done);
		must(kept <= end - done && kept < finder->max, "kept too much");
		done = end - kept;
	}
	must(memcmp(whole, parts, len) == 0, "in pieces it is another");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct secrets unused;
	const struct sbx_blob blob = { .strings = "", .strings_size = 1 };

	if (size < 2)
		return 0;
	switch (*data >> 6) {
	case 0:
		check_request(data, size);
		break;
	case 1:
		check_answer(data, size);
		break;
	case 2:
		check_body(data, size);
		break;
	default:
		/* Locked memory is not given back. */
		if (size < 64) {
			memset(&unused, 0, sizeof unused);
			secrets_take(&unused, &blob, data + 1, size - 1);
		}
		break;
	}
	return 0;
}
