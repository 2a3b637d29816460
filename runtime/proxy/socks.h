/*
 * SOCKS5 (RFC 1928): a greeting that offers ways of authentication, and one
 * request.  Pure functions over bytes.
 */
#ifndef SBX_PROXY_SOCKS_H
#define SBX_PROXY_SOCKS_H

#include "runtime/proxy/text.h"

enum {
	SOCKS_VERSION = 5,
	SOCKS_CONNECT = 1,
	SOCKS_REQUEST_MAX = 262, /* bytes: a name of 255 */
	SOCKS_ANSWER = 10,       /* bytes */
};

/* What a request is answered with. */
enum socks_code {
	SOCKS_GRANTED,
	SOCKS_FAILED,
	SOCKS_NOT_ALLOWED,
	SOCKS_NET_UNREACHABLE,
	SOCKS_HOST_UNREACHABLE,
	SOCKS_REFUSED,
	SOCKS_EXPIRED,
	SOCKS_NO_COMMAND,
	SOCKS_NO_ADDRESS_TYPE,
};

struct socks_greeting {
	size_t len;
	bool open; /* it offers to go without authentication */
};

struct socks_request {
	size_t len;
	struct text name; /* or, if it is empty: */
	uint8_t address[16];
	uint16_t port;
	uint8_t command;
};

enum parsed socks_greeting(const uint8_t *bytes, size_t len,
    struct socks_greeting *greeting);
/* PARSED_BAD: of another version, or with an address of another type. */
enum parsed socks_request(const uint8_t *bytes, size_t len,
    struct socks_request *request);
void socks_answer(enum socks_code code, uint8_t answer[SOCKS_ANSWER]);

#endif
