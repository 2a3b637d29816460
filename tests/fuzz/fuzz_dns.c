/*
 * Any bytes at all as a query of DNS: what is read is a name in its normal
 * spelling, and what is answered fits, is no query, and has the question.
 */
#include "runtime/proxy/protocols.h"
#include "tests/fuzz/fuzz.h"

static void
check_answer(const uint8_t *bytes, const struct dns_query *query,
    enum dns_code code, const uint8_t *address)
{
	uint8_t answer[DNS_ANSWER_MAX];
	struct dns_query again;
	size_t len = dns_answer(bytes, query, code, address, answer);

	must(len >= DNS_HEADER && len <= sizeof answer, "an answer too long");
	must(memcmp(answer, bytes, 2) == 0, "an answer to another query");
	must((answer[3] & 15) == (int)code, "another code");
	must(dns_parse(answer, len, &again) == DNS_SILENCE,
	    "an answer that is a query");
	if (query->end > 0)
		must(memcmp(answer + DNS_HEADER, bytes + DNS_HEADER,
			 query->end - DNS_HEADER) == 0,
		    "another question");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t address[16] = { 1, [12] = 198, 18, 0, 1 };
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	struct dns_query query;
	enum dns_code code;

	must(bytes != NULL, "no memory");
	if (size > 0)
		memcpy(bytes, data, size);
	code = dns_parse(bytes, size, &query);
	must(query.end <= size, "a question beyond the end");
	if (code != DNS_SILENCE)
		check_answer(bytes, &query, code, NULL);
	if (code == DNS_OK)
		check_answer(bytes, &query, code, address);
	if (query.is_name) {
		char again[SBX_NAME_SIZE];

		must(sbx_name_normal(query.name, strlen(query.name), again) &&
			strcmp(query.name, again) == 0,
		    "a name that is not normal");
	}
	free(bytes);
	return 0;
}
