/* A body in chunks: see http.c. */
#include "runtime/proxy/protocols.h"

enum {
	DIGITS_MAX = 15, /* of the size of a chunk, in hexadecimal */
};

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum http_chunk_state
end_of_size(const struct http_chunks *chunks)
{
	return chunks->left > 0 ? CHUNK_DATA : CHUNK_TRAILER;
}

static enum http_chunk_state
next_of_size(struct http_chunks *chunks, char c)
{
	int digit = hex_digit(c);

	if (digit >= 0 && chunks->digits < DIGITS_MAX) {
		chunks->left = chunks->left << 4 | (unsigned)digit;
		chunks->digits++;
		return CHUNK_SIZE;
	}
	if (chunks->digits == 0)
		return CHUNK_BAD;
	return c == '\r' ? CHUNK_SIZE_END :
	    c == ';'     ? CHUNK_EXTENSION :
			   CHUNK_BAD;
}

/* Within a line that means nothing here, but must end. */
static enum http_chunk_state
next_of_line(struct http_chunks *chunks, char c, enum http_chunk_state end)
{
	if (++chunks->digits > HTTP_CHUNK_LINE || c == '\n' || c == '\0')
		return CHUNK_BAD;
	return c == '\r' ? end : chunks->state;
}

static enum http_chunk_state
next_state(struct http_chunks *chunks, char c)
{
	switch (chunks->state) {
	case CHUNK_SIZE:
		return next_of_size(chunks, c);
	case CHUNK_EXTENSION:
		return next_of_line(chunks, c, CHUNK_SIZE_END);
	case CHUNK_SIZE_END:
		chunks->digits = 0;
		return c == '\n' ? end_of_size(chunks) : CHUNK_BAD;
	case CHUNK_DATA:
		return --chunks->left > 0 ? CHUNK_DATA : CHUNK_DATA_CR;
	case CHUNK_DATA_CR:
		return c == '\r' ? CHUNK_DATA_LF : CHUNK_BAD;
	case CHUNK_DATA_LF:
		chunks->digits = 0;
		return c == '\n' ? CHUNK_SIZE : CHUNK_BAD;
	case CHUNK_TRAILER:
		chunks->digits = 0;
		chunks->state = CHUNK_TRAILER_LINE;
		return c == '\r' ? CHUNK_LAST_LF :
				   next_of_line(chunks, c, CHUNK_TRAILER_LF);
	case CHUNK_TRAILER_LINE:
		return next_of_line(chunks, c, CHUNK_TRAILER_LF);
	case CHUNK_TRAILER_LF:
		return c == '\n' ? CHUNK_TRAILER : CHUNK_BAD;
	case CHUNK_LAST_LF:
		return c == '\n' ? CHUNK_END : CHUNK_BAD;
	case CHUNK_END:
	case CHUNK_BAD:
		break;
	}
	return chunks->state;
}

size_t
http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && chunks->state < CHUNK_END) {
		if (chunks->state == CHUNK_DATA && chunks->left > 1) {
			uint64_t skip = chunks->left - 1;

			if (skip > len - at)
				skip = len - at;
			chunks->left -= skip;
			at += (size_t)skip;
			continue;
		}
		chunks->state = next_state(chunks, bytes[at]);
		if (chunks->state != CHUNK_BAD)
			at++;
	}
	return at;
}
