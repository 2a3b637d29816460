/*
 * The heads of HTTP/1 that a proxy reads (RFC 9112): a request to it, and the
 * answer of another proxy.  Pure functions over bytes.
 *
 * What two readers could understand in two ways is refused: line ends without
 * CR, folded lines, blanks before a colon, two lengths.
 */
#ifndef SBX_PROXY_HTTP_H
#define SBX_PROXY_HTTP_H

#include "runtime/proxy/text.h"

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

#endif
