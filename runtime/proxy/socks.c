/*
 * SOCKS5 (RFC 1928): a greeting that offers ways of authentication, and one
 * request.  Pure functions over bytes.
 */
#include "runtime/proxy/protocols.h"

#include <string.h>

enum {
	TYPE_IPV4 = 1,
	TYPE_NAME = 3,
	TYPE_IPV6 = 4,
	REQUEST_FIXED = 4, /* bytes before the address */
	PORT_SIZE = 2,
};

enum parsed
socks_greeting(const uint8_t *bytes, size_t len,
    struct socks_greeting *greeting)
{
	*greeting = (struct socks_greeting){ .len = 0 };
	if (len > 0 && bytes[0] != SOCKS_VERSION)
		return PARSED_BAD;
	if (len < 2 || len < 2 + (size_t)bytes[1])
		return PARSED_MORE;
	greeting->len = 2 + (size_t)bytes[1];
	greeting->open = memchr(bytes + 2, 0, bytes[1]) != NULL;
	return PARSED_OK;
}

/* Bytes of the address, of a name with its length; 0: there is no such type. */
static size_t
address_size(const uint8_t *bytes)
{
	switch (bytes[3]) {
	case TYPE_IPV4:
		return 4;
	case TYPE_IPV6:
		return 16;
	case TYPE_NAME:
		return 1 + (size_t)bytes[REQUEST_FIXED];
	default:
		return 0;
	}
}

static void
read_address(struct socks_request *request, const uint8_t *bytes, size_t size)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *address = bytes + REQUEST_FIXED;

	if (bytes[3] == TYPE_NAME) {
		request->name.at = (const char *)address + 1;
		request->name.len = size - 1;
	} else if (bytes[3] == TYPE_IPV4) {
		memcpy(request->address, mapped, sizeof mapped);
		memcpy(request->address + sizeof mapped, address, size);
	} else {
		memcpy(request->address, address, size);
	}
}

enum parsed
socks_request(const uint8_t *bytes, size_t len, struct socks_request *request)
{
	size_t size;

	*request = (struct socks_request){ .len = 0 };
	if (len > 0 && bytes[0] != SOCKS_VERSION)
		return PARSED_BAD;
	if (len <= REQUEST_FIXED)
		return PARSED_MORE;
	size = address_size(bytes);
	if (size == 0 || bytes[2] != 0 || (bytes[3] == TYPE_NAME && size == 1))
		return PARSED_BAD;
	if (len < REQUEST_FIXED + size + PORT_SIZE)
		return PARSED_MORE;
	read_address(request, bytes, size);
	request->command = bytes[1];
	request->len = REQUEST_FIXED + size + PORT_SIZE;
	request->port = (uint16_t)(bytes[request->len - 2] << 8 |
	    bytes[request->len - 1]);
	return PARSED_OK;
}

void
socks_answer(enum socks_code code, uint8_t answer[SOCKS_ANSWER])
{
	memset(answer, 0, SOCKS_ANSWER);
	answer[0] = SOCKS_VERSION;
	answer[1] = (uint8_t)code;
	answer[3] = TYPE_IPV4;
}
