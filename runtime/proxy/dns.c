/*
 * See protocols.h.  A question is a name in labels, each after its length, and then
 * type and class.  The name of a question is never compressed.
 */
#include "runtime/proxy/protocols.h"

#include <string.h>

enum {
	/* The first byte of the flags, then the second one. */
	FLAG_RESPONSE = 0x80,
	FLAG_OPCODE = 0x78,
	FLAG_TRUNCATED = 0x02,
	FLAG_RECURSION_DESIRED = 0x01,
	FLAG_RECURSION_AVAILABLE = 0x80,
	LABEL_MAX = 63,
	CLASS_IN = 1,
	TTL = 1,
};

static uint16_t
get16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void
put16(uint8_t *bytes, unsigned value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

/* The name as text with dots.  A label with a dot, or with any byte that no
 * host has, makes it no name of a host. */
static bool
name_parse(const uint8_t *bytes, size_t len, size_t *at,
    struct dns_query *query)
{
	char text[256];
	size_t used = 0;
	bool odd = false;

	for (;;) {
		if (*at >= len || bytes[*at] > LABEL_MAX)
			return false;
		size_t label = bytes[(*at)++];
		if (label == 0)
			break;
		if (label > len - *at || used + label + 1 > sizeof text)
			return false;
		odd |= memchr(bytes + *at, '.', label) != NULL;
		memcpy(text + used, bytes + *at, label);
		used += label;
		text[used++] = '.';
		*at += label;
	}
	query->is_name = !odd && sbx_name_normal(text, used, query->name);
	return true;
}

enum dns_code
dns_parse(const uint8_t *bytes, size_t len, struct dns_query *query)
{
	size_t at = DNS_HEADER;

	*query = (struct dns_query){ .end = 0 };
	if (len < DNS_HEADER || (bytes[2] & FLAG_RESPONSE) != 0)
		return DNS_SILENCE;
	if ((bytes[2] & FLAG_OPCODE) != 0)
		return DNS_NOTIMP;
	if ((bytes[2] & FLAG_TRUNCATED) != 0 || len > DNS_QUERY_MAX ||
	    get16(bytes + 4) != 1 || get16(bytes + 6) != 0 ||
	    get16(bytes + 8) != 0)
		return DNS_FORMERR;
	if (!name_parse(bytes, len, &at, query) || len - at < 4)
		return DNS_FORMERR;
	query->type = get16(bytes + at);
	query->class = get16(bytes + at + 2);
	query->end = at + 4;
	return query->class == CLASS_IN ? DNS_OK : DNS_REFUSED;
}

size_t
dns_answer(const uint8_t *bytes, const struct dns_query *query,
    enum dns_code code, const uint8_t *address, uint8_t answer[DNS_ANSWER_MAX])
{
	/* The name is that of the question, 12 bytes into the message. */
	uint8_t size = query->type == DNS_A ? 4 : 16;
	const uint8_t record[] = { 0xc0, DNS_HEADER, 0, (uint8_t)query->type, 0,
		CLASS_IN, 0, 0, 0, TTL, 0, size };
	size_t len = DNS_HEADER;

	memset(answer, 0, DNS_HEADER);
	memcpy(answer, bytes, 2);
	answer[2] = (uint8_t)(FLAG_RESPONSE |
	    (bytes[2] & (FLAG_OPCODE | FLAG_RECURSION_DESIRED)));
	answer[3] = (uint8_t)(FLAG_RECURSION_AVAILABLE | (unsigned)code);
	if (query->end > 0) {
		put16(answer + 4, 1);
		memcpy(answer + len, bytes + len, query->end - len);
		len = query->end;
	}
	if (address != NULL) {
		put16(answer + 6, 1);
		memcpy(answer + len, record, sizeof record);
		memcpy(answer + len + sizeof record, address, size);
		len += sizeof record + size;
	}
	return len;
}
