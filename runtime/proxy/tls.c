/*
 * See protocols.h.  The message is handed over in records, which may cut it anywhere:
 * it is put together first.  Whatever is odd is bad, since a server that reads
 * it in another way would serve another name.
 */
#include "runtime/proxy/protocols.h"

#include <string.h>

enum {
	RECORD_HEADER = 5,
	RECORD_FIRST = 20, /* the types of records */
	RECORD_LAST = 24,
	RECORD_HANDSHAKE = 22,
	RECORD_MAX = 16384,
	RECORD_SKIPPED = 2, /* bytes of the longest that a server skips */
	MAJOR = 3,          /* of the version in every record, since SSL 3 */
	HANDSHAKE_HEADER = 4,
	CLIENT_HELLO = 1,
	EXTENSION_SERVER_NAME = 0,
	NAME_HOST = 0,
};

/* --- reading within bounds ------------------------------------------------ */

struct reader {
	const uint8_t *at;
	size_t left;
	bool bad; /* something was longer than what contains it */
};

static const uint8_t *
take(struct reader *reader, size_t len)
{
	const uint8_t *at = reader->at;

	if (reader->bad || len > reader->left) {
		reader->bad = true;
		return NULL;
	}
	reader->at += len;
	reader->left -= len;
	return at;
}

/* A number of `size` bytes; 0 if it is not there. */
static size_t
number(struct reader *reader, size_t size)
{
	const uint8_t *at = take(reader, size);
	size_t value = 0;

	for (size_t i = 0; at != NULL && i < size; i++)
		value = value << 8 | at[i];
	return value;
}

/* What stands behind its length, which has `size` bytes. */
static struct reader
vector(struct reader *reader, size_t size)
{
	size_t len = number(reader, size);
	const uint8_t *at = take(reader, len);

	return (struct reader){ at, at != NULL ? len : 0, at == NULL };
}

/* --- the message ---------------------------------------------------------- */

/* A list of names, of which there is one. */
static enum tls_hello
read_name(struct reader list, char name[TLS_NAME_SIZE], size_t *name_len)
{
	struct reader names = vector(&list, 2), host;
	size_t type = number(&names, 1);

	host = vector(&names, 2);
	if (list.bad || list.left != 0 || names.bad || names.left != 0 ||
	    type != NAME_HOST || host.left == 0 || host.left >= TLS_NAME_SIZE)
		return TLS_BAD;
	memcpy(name, host.at, host.left);
	name[host.left] = '\0';
	*name_len = host.left;
	return TLS_NAME;
}

static enum tls_hello
read_extensions(struct reader extensions, char name[TLS_NAME_SIZE],
    size_t *name_len)
{
	enum tls_hello found = TLS_NO_NAME;

	while (extensions.left > 0 && !extensions.bad) {
		size_t type = number(&extensions, 2);
		struct reader body = vector(&extensions, 2);

		if (extensions.bad)
			break;
		if (type != EXTENSION_SERVER_NAME)
			continue;
		if (found != TLS_NO_NAME)
			return TLS_BAD;
		found = read_name(body, name, name_len);
		if (found == TLS_BAD)
			return TLS_BAD;
	}
	return extensions.bad ? TLS_BAD : found;
}

/* The fields of a ClientHello before its extensions: version, random number,
 * session, ciphers, compressions. */
static enum tls_hello
read_hello(struct reader hello, char name[TLS_NAME_SIZE], size_t *name_len)
{
	struct reader extensions;

	take(&hello, 2 + 32);
	vector(&hello, 1);
	vector(&hello, 2);
	vector(&hello, 1);
	if (hello.bad)
		return TLS_BAD;
	if (hello.left == 0)
		return TLS_NO_NAME;
	extensions = vector(&hello, 2);
	if (hello.bad || hello.left != 0)
		return TLS_BAD;
	return read_extensions(extensions, name, name_len);
}

/* --- records -------------------------------------------------------------- */

struct message {
	size_t len;
	uint8_t bytes[TLS_HELLO_MAX];
};

static size_t
message_size(const struct message *message)
{
	const uint8_t *bytes = message->bytes;

	return HANDSHAKE_HEADER +
	    ((size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3]);
}

/* Takes one record's bytes; what there is of it.  The first byte of a message
 * says what it is. */
static enum tls_hello
add_record(struct message *message, const uint8_t *bytes, size_t len)
{
	size_t room = sizeof message->bytes - message->len;

	if (len > room)
		return TLS_BAD;
	memcpy(message->bytes + message->len, bytes, len);
	message->len += len;
	if (message->len > 0 && message->bytes[0] != CLIENT_HELLO)
		return TLS_BAD;
	if (message->len >= HANDSHAKE_HEADER &&
	    message_size(message) > TLS_HELLO_MAX)
		return TLS_BAD;
	return TLS_MORE;
}

static bool
message_is_whole(const struct message *message)
{
	return message->len >= HANDSHAKE_HEADER &&
	    message->len >= message_size(message);
}

static enum tls_hello
gather(const uint8_t *bytes, size_t len, struct message *message)
{
	while (len > 0 && !message_is_whole(message)) {
		size_t size;

		if (bytes[0] != RECORD_HANDSHAKE ||
		    (len > 1 && bytes[1] != MAJOR))
			return TLS_BAD;
		if (len < RECORD_HEADER)
			return TLS_MORE;
		size = (size_t)bytes[3] << 8 | bytes[4];
		if (size == 0 || size > RECORD_MAX)
			return TLS_BAD;
		bytes += RECORD_HEADER;
		len -= RECORD_HEADER;
		if (add_record(message, bytes, size < len ? size : len) ==
		    TLS_BAD)
			return TLS_BAD;
		if (size >= len)
			break;
		bytes += size;
		len -= size;
	}
	return TLS_MORE;
}

/*
 * What the first bytes are.  Some servers do not look at the version of the
 * first record, and skip what is no message of the handshake, such as an alert
 * of two bytes.  So only what no server can take for a hello, or skip, is not
 * TLS; and no other record may stand before the hello.
 */
static enum tls_hello
look(const uint8_t *bytes, size_t len)
{
	size_t size;

	if (len == 0)
		return TLS_MORE;
	if (bytes[0] < RECORD_FIRST || bytes[0] > RECORD_LAST)
		return TLS_NONE;
	if (len < 2)
		return TLS_MORE;
	if (bytes[1] == MAJOR)
		return TLS_NAME; /* perhaps; what is odd is bad from here on */
	if (len <= RECORD_HEADER)
		return TLS_MORE;
	size = (size_t)bytes[3] << 8 | bytes[4];
	if (bytes[0] != RECORD_HANDSHAKE)
		return size <= RECORD_SKIPPED ? TLS_BAD : TLS_NONE;
	return size == 0 || bytes[RECORD_HEADER] == CLIENT_HELLO ? TLS_BAD :
								   TLS_NONE;
}

enum tls_hello
tls_server_name(const uint8_t *bytes, size_t len, char name[TLS_NAME_SIZE],
    size_t *name_len)
{
	struct message message;
	struct reader hello;
	enum tls_hello seen;

	message.len = 0;
	*name_len = 0;
	seen = look(bytes, len);
	if (seen != TLS_NAME)
		return seen;
	if (gather(bytes, len, &message) == TLS_BAD)
		return TLS_BAD;
	if (!message_is_whole(&message))
		return len >= TLS_HELLO_MAX ? TLS_BAD : TLS_MORE;
	hello.at = message.bytes + HANDSHAKE_HEADER;
	hello.left = message_size(&message) - HANDSHAKE_HEADER;
	hello.bad = false;
	return read_hello(hello, name, name_len);
}
