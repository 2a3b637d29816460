/*
 * The name that a client of TLS asks for in its first message (SNI, RFC 6066).
 * A pure function over bytes.
 */
#ifndef SBX_PROXY_TLS_H
#define SBX_PROXY_TLS_H

#include "runtime/proxy/text.h"

enum {
	TLS_HELLO_MAX = 16384, /* bytes of the message, and of what is read */
	TLS_NAME_SIZE = 256,
};

enum tls_hello {
	TLS_MORE,    /* it has begun */
	TLS_NONE,    /* this is not TLS */
	TLS_NO_NAME, /* it asks for no name */
	TLS_NAME,
	TLS_BAD, /* no server should understand it, or it is too long */
};

/* The name is as the client wrote it, with a NUL behind it. */
enum tls_hello tls_server_name(const uint8_t *bytes, size_t len,
    char name[TLS_NAME_SIZE], size_t *name_len);

#endif
