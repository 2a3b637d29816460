/*
 * Queries of DNS (RFC 1035), as far as a resolver must know them that answers
 * from a table: the header, and one question.  Pure functions over bytes.
 */
#ifndef SBX_PROXY_DNS_H
#define SBX_PROXY_DNS_H

#include "format/names.h"

enum {
	DNS_HEADER = 12,
	DNS_QUERY_MAX = 1024, /* bytes of a query that is looked at */
	DNS_ANSWER_MAX = 512, /* what every client takes over UDP */
	DNS_A = 1,
	DNS_AAAA = 28,
};

enum dns_code {
	DNS_SILENCE = -1, /* it is no query at all */
	DNS_OK = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
};

struct dns_query {
	char name[SBX_NAME_SIZE]; /* in its normal spelling */
	bool is_name;             /* it may be a host's */
	uint16_t type, class;
	size_t end; /* of the question, from the first byte; 0: none was read */
};

/* What is to be answered at once; DNS_OK: the query is one. */
enum dns_code dns_parse(const uint8_t *bytes, size_t len,
    struct dns_query *query);

/* The answer to a query that was parsed, with an address of the family that was
 * asked for, or NULL; its length. */
size_t dns_answer(const uint8_t *bytes, const struct dns_query *query,
    enum dns_code code, const uint8_t *address, uint8_t answer[DNS_ANSWER_MAX]);

#endif
