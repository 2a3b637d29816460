/*
 * Queries that the resolver of sbx-proxy reads, and how its answers are made
 * (runtime/proxy/dns.c), byte by byte.
 */
#include "runtime/proxy/protocols.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define ID "\1\2"
#define SIXTY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ONE "\1\0\0\1\0\0\0\0\0\0"

static void
try_dns(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		enum dns_code code;
		const char *name; /* NULL: no host's */
	} cases[] = {
		{ "a query", BYTES(ID ONE "\1a\2b-\0\0\1\0\1"), DNS_OK, NULL },
		{ "a name", BYTES(ID ONE "\1A\1b\0\0\1\0\1"), DNS_OK, "a.b" },
		{ "the root", BYTES(ID ONE "\0\0\1\0\1"), DNS_OK, NULL },
		{ "a dot in a label", BYTES(ID ONE "\3a.b\0\0\1\0\1"), DNS_OK,
		    NULL },
		{ "a NUL in a label", BYTES(ID ONE "\3a\0b\0\0\1\0\1"), DNS_OK,
		    NULL },
		{ "an address", BYTES(ID ONE "\003127\0011\0\0\1\0\1"), DNS_OK,
		    NULL },
		{ "another class", BYTES(ID ONE "\1a\0\0\1\0\3"), DNS_REFUSED,
		    "a" },
		{ "no header", BYTES(ID "\1\0\0\1\0\0\0\0\0"), DNS_SILENCE,
		    NULL },
		{ "an answer", BYTES(ID "\201\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"),
		    DNS_SILENCE, NULL },
		{ "an update", BYTES(ID "\50\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"),
		    DNS_NOTIMP, NULL },
		{ "no question", BYTES(ID "\1\0\0\0\0\0\0\0\0\0"), DNS_FORMERR,
		    NULL },
		{ "two questions",
		    BYTES(ID "\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1"),
		    DNS_FORMERR, NULL },
		{ "an answer beside it",
		    BYTES(ID "\1\0\0\1\0\1\0\0\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "257 questions",
		    BYTES(ID "\1\0\1\1\0\0\0\0\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "256 answers beside it",
		    BYTES(ID "\1\0\0\1\1\0\0\0\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "256 authorities beside it",
		    BYTES(ID "\1\0\0\1\0\0\1\0\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "class 257", BYTES(ID ONE "\1a\0\0\1\1\1"), DNS_REFUSED,
		    "a" },
		{ "one that is cut off",
		    BYTES(ID "\3\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "an authority beside it",
		    BYTES(ID "\1\0\0\1\0\0\0\1\0\0\1a\0\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "a label of 63 bytes",
		    BYTES(ID ONE "\77" SIXTY "abc\0\0\1\0\1"), DNS_OK,
		    SIXTY "abc" },
		{ "one of 64", BYTES(ID ONE "\100" SIXTY "abcd\0\0\1\0\1"),
		    DNS_FORMERR, NULL },
		{ "a pointer", BYTES(ID ONE "\300\14\0\1\0\1"), DNS_FORMERR,
		    NULL },
		{ "no end", BYTES(ID ONE "\7abc"), DNS_FORMERR, NULL },
		{ "no type", BYTES(ID ONE "\1a\0\0\1\0"), DNS_FORMERR, NULL },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct dns_query query;
		enum dns_code code = dns_parse(cases[i].bytes, cases[i].len,
		    &query);

		tap_ok(tap,
		    code == cases[i].code &&
			(cases[i].name == NULL ?
				(code != DNS_OK || !query.is_name) :
				strcmp(query.name, cases[i].name) == 0),
		    "DNS: %s answers %d", cases[i].what, cases[i].code);
	}
}

/* What follows the question is not looked at, up to so many bytes. */
static void
try_dns_lengths(struct tap *tap)
{
	static const uint8_t question[] = ID ONE "\1a\1b\0\0\1\0\1";
	uint8_t bytes[DNS_QUERY_MAX + 1] = { 0 };
	struct dns_query query;

	memcpy(bytes, question, sizeof question - 1);
	tap_ok(tap, dns_parse(bytes, DNS_QUERY_MAX, &query) == DNS_OK,
	    "DNS: the longest query");
	tap_ok(tap, dns_parse(bytes, DNS_QUERY_MAX + 1, &query) == DNS_FORMERR,
	    "DNS: one byte longer");
}

/* An answer without an address: the code, and what the query was. */
static void
try_dns_codes(struct tap *tap)
{
	static const struct {
		const uint8_t *bytes;
		size_t len;
		enum dns_code code;
		const char *head;
	} cases[] = {
		{ BYTES(ID ONE "\1a\0\1\34\0\1"), DNS_NXDOMAIN,
		    ID "\201\203\0\1\0\0\0\0\0\0" },
		{ BYTES(ID "\0\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\3"), DNS_REFUSED,
		    ID "\200\205\0\1\0\0\0\0\0\0" },
		{ BYTES(ID "\50\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"), DNS_NOTIMP,
		    ID "\250\204\0\0\0\0\0\0\0\0" },
		{ BYTES(ID "\1\0\0\0\0\0\0\0\0\0"), DNS_FORMERR,
		    ID "\201\201\0\0\0\0\0\0\0\0" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		uint8_t answer[DNS_ANSWER_MAX];
		struct dns_query query;
		size_t whole = cases[i].head[5] != 0 ? cases[i].len : 12, len;

		dns_parse(cases[i].bytes, cases[i].len, &query);
		len = dns_answer(cases[i].bytes, &query, cases[i].code, NULL,
		    answer);
		tap_ok(tap,
		    len == whole && memcmp(answer, cases[i].head, 12) == 0 &&
			memcmp(answer + 12, cases[i].bytes + 12, whole - 12) ==
			    0 &&
			(i > 0 || query.type == 284),
		    "DNS: the answer %d", cases[i].code);
	}
}

/* What was asked for: an address of either family. */
static void
try_dns_answers(struct tap *tap)
{
	static const uint8_t six[16] = { 1, [12] = 198, 18, 0, 7 };
	static const uint8_t a[] = ID ONE "\1a\0\0\1\0\1",
			     aaaa[] = ID ONE "\1a\0\0\34\0\1";
	uint8_t answer[DNS_ANSWER_MAX];
	struct dns_query query;
	size_t len;

	dns_parse(a, sizeof a - 1, &query);
	len = dns_answer(a, &query, DNS_OK, six + 12, answer);
	tap_ok(tap,
	    len == sizeof a - 1 + 16 &&
		memcmp(answer, ID "\201\200\0\1\0\1\0\0\0\0", 12) == 0 &&
		memcmp(answer + 12, a + 12, sizeof a - 13) == 0 &&
		memcmp(answer + len - 16, "\300\14\0\1\0\1\0\0\0\1", 10) == 0 &&
		memcmp(answer + len - 6, "\0\4\306\22\0\7", 6) == 0,
	    "DNS: an address of IPv4, for a second");
	dns_parse(aaaa, sizeof aaaa - 1, &query);
	len = dns_answer(aaaa, &query, DNS_OK, six, answer);
	tap_ok(tap,
	    len == sizeof aaaa - 1 + 28 &&
		memcmp(answer + len - 18, "\0\20", 2) == 0 &&
		memcmp(answer + len - 16, six, 16) == 0,
	    "DNS: an address of IPv6");
	try_dns_codes(tap);
}

int
main(void)
{
	struct tap tap = { 0 };

	try_dns(&tap);
	try_dns_lengths(&tap);
	try_dns_answers(&tap);
	return tap_done(&tap);
}
