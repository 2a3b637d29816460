/* Readers of DNS, TLS, HTTP and SOCKS. */
#ifndef SBX_RUNTIME_PROXY_PROTOCOLS_H
#define SBX_RUNTIME_PROXY_PROTOCOLS_H

#include "format/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* --- dns.c ------------------------------------------------------------- */

/*
 * Queries of DNS (RFC 1035), as far as a resolver must know them that answers
 * from a table: the header, and one question.  Pure functions over bytes.
 */

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

/* --- fakes.c ----------------------------------------------------------- */

/*
 * The addresses that the resolver hands out: one for each name, out of
 * SBX_FAKE_NET.  A connection to such an address is one to the name.
 *
 * There is room for some thousand names.  Then the one that was not used for
 * longest loses its place, and the next name gets an address there that nobody
 * had before: whoever still knows the old one is refused, and not led to
 * another name.  Only after 32 names in one place an address comes again.
 */

enum { FAKES_MAX = 4096 };

struct fakes;

/* NULL with errno: there is no memory, or nothing random. */
struct fakes *fakes_new(void);
/* The address of a name, in host byte order. */
uint32_t fakes_address(struct fakes *fakes, const char *name);
/* The name of an address, or NULL.  It is valid until the next call. */
const char *fakes_name(struct fakes *fakes, uint32_t address);

/* A range of bytes in somebody else's buffer, as the parsers hand them out. */

struct text {
	const char *at;
	size_t len;
};

bool text_is(struct text text, const char *word);
/* Without the blanks around it. */
struct text text_trim(struct text text);
/* Takes what stands before the byte, and the byte; false: it is not there. */
bool text_cut(struct text *rest, char byte, struct text *first);
/* A line without its CR LF. */
bool text_cut_line(struct text *rest, struct text *line);
bool text_is_token(struct text text);

/* What is known after some bytes of a message have come. */
enum parsed {
	PARSED_MORE, /* as long as it is, it may become a message */
	PARSED_OK,
	PARSED_BAD,
};

/* --- http.c ------------------------------------------------------------ */

enum {
	HTTP_HEAD_MAX = 8192, /* bytes of a head, also of one that is sent */
	HTTP_CHUNK_LINE = 256,
};

enum http_body { HTTP_NO_BODY, HTTP_LENGTH, HTTP_CHUNKED };

struct http_request {
	size_t head;      /* bytes, with the blank line */
	bool tunnel;      /* CONNECT, else a request for http://... */
	struct text host; /* a name, or an address without its brackets */
	uint16_t port;
	struct text method, path, version; /* the path may be empty */
	struct text fields;                /* the lines behind the first */
	uint8_t body;                      /* enum http_body */
	uint64_t length;
	const char *fault; /* why it is bad, in words */
};

/* PARSED_MORE: no blank line yet. */
enum parsed http_parse(const char *bytes, size_t len,
    struct http_request *request);

/* The same of a request to the server itself: `path` is its target, which begins
 * with '/', and `host` and `port` (or 0) are those of its one field Host. */
enum parsed http_origin(const char *bytes, size_t len,
    struct http_request *request);

/* The end of the head: the first byte behind its blank line, or NULL. */
const char *http_head_end(const char *bytes, size_t len);
/* No byte in a head is a control character but tabs and the ends of lines. */
bool http_is_clean(const char *bytes, size_t len);
/* Takes a field; what it says of the body is noted, once. */
bool http_field(struct http_request *request, struct text line,
    struct text *name, struct text *value);
/* Whether a field Connection names this one, which is then for us alone. */
bool http_is_named(struct text fields, struct text name);

/* The head for the server itself: with its path (for another proxy: the URL),
 * with the host of the URL in field Host, without what is for proxies, for one
 * request.  Its length; 0: it is longer than HTTP_HEAD_MAX. */
size_t http_rewrite(const struct http_request *request, bool for_proxy,
    char head[HTTP_HEAD_MAX]);

/* The head that asks another proxy for a connection; its length. */
size_t http_tunnel(const char *host, uint16_t port, char head[HTTP_HEAD_MAX]);

/*
 * The host that the first request to a server is for, from its field Host, and
 * its port, or 0.  PARSED_MORE: no blank line yet.  PARSED_BAD: this is none, or
 * one that servers understand in different ways.
 */
enum parsed http_host(const char *bytes, size_t len,
    struct http_request *request);

/* The status of an answer, and the length of its head. */
enum parsed http_answer(const char *bytes, size_t len, unsigned *status,
    size_t *head);

/*
 * A body in chunks, which says itself where it ends.  Bytes are looked at in
 * any number of pieces.
 */
enum http_chunk_state {
	CHUNK_SIZE,      /* digits */
	CHUNK_EXTENSION, /* up to the end of that line */
	CHUNK_SIZE_END,  /* its LF */
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER, /* the beginning of a line behind the last chunk */
	CHUNK_TRAILER_LINE,
	CHUNK_TRAILER_LF,
	CHUNK_LAST_LF,
	CHUNK_END,
	CHUNK_BAD,
};

struct http_chunks {
	enum http_chunk_state state;
	uint64_t left;   /* bytes of data of this chunk */
	uint32_t digits; /* or bytes of this line */
};

/* How many of the bytes belong to the body; fewer than len if it ends there
 * (CHUNK_END) or is malformed (CHUNK_BAD). */
size_t http_chunks_scan(struct http_chunks *chunks, const char *bytes,
    size_t len);

/* --- socks.c ----------------------------------------------------------- */

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

/* --- target.c ---------------------------------------------------------- */

struct target {
	bool by_name;
	uint16_t port;
	char name[SBX_NAME_SIZE]; /* of an address: as text */
	uint8_t address[SBX_ADDRESS_SIZE];
};

/* A name, or an address in its one usual spelling.  Another spelling is
 * neither: a resolver would take 127.1 for an address that nobody has
 * judged. */
bool target_parse(struct target *target, struct text host, uint16_t port);
void target_address(struct target *target,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port);

/* The two forms of an address: that of the kernel, and ours. */
union socket_address {
	struct sockaddr any;
	struct sockaddr_storage storage;
};
socklen_t address_to_socket(const uint8_t address[SBX_ADDRESS_SIZE],
    uint16_t port, union socket_address *to);
/* False: it is of neither IPv4 nor IPv6. */
bool address_from_socket(const union socket_address *from,
    uint8_t address[SBX_ADDRESS_SIZE], uint16_t *port);

/* --- tls.c ------------------------------------------------------------- */

/*
 * The name that a client of TLS asks for in its first message (SNI, RFC 6066).
 * A pure function over bytes.
 */

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
