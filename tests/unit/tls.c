/*
 * The first message of TLS as sbx-proxy reads it (runtime/proxy/tls.c): the name in
 * it, and what is odd.
 */
#include "runtime/proxy/protocols.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void
try_hellos(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		enum tls_hello found;
	} cases[] = {
		{ "nothing", BYTES(""), TLS_MORE },
		{ "a byte", BYTES("\26"), TLS_MORE },
		{ "SSH", BYTES("SSH-2.0"), TLS_NONE },
		{ "SSL 2", BYTES("\200\56\1\3\1"), TLS_NONE },
		{ "an alert first", BYTES("\25\3\1\0\2\1\0"), TLS_BAD },
		{ "another message", BYTES("\26\3\1\0\4\2\0\0\0"), TLS_BAD },
		{ "an empty record", BYTES("\26\3\1\0\0\26\3\1"), TLS_BAD },
		{ "an endless one", BYTES("\26\3\1\100\0\1\1\0\0"), TLS_BAD },
		{ "the longest record", BYTES("\26\3\1\100\0\1\0\0\74"),
		    TLS_MORE },
		{ "a longer one", BYTES("\26\3\1\100\1\1\0\0\74"), TLS_BAD },
		{ "another version behind", BYTES("\26\3\1\0\1\1\26\2"),
		    TLS_BAD },
		{ "a byte of another message", BYTES("\26\3\1\0\1\2"),
		    TLS_BAD },
		{ "type 19", BYTES("\23\3\1\0\1\0"), TLS_NONE },
		{ "type 20", BYTES("\24\3\1\0\1\0"), TLS_BAD },
		{ "type 24", BYTES("\30\3\1\0\1\0"), TLS_BAD },
		{ "type 25", BYTES("\31\3\1\0\1\0"), TLS_NONE },
		/* Some servers do not look at it. */
		{ "another version", BYTES("\26\2\1\0\1\1"), TLS_BAD },
		{ "version 0", BYTES("\26\0\0\0\100\1"), TLS_BAD },
		{ "a high version", BYTES("\26\377\1\0\100\1"), TLS_BAD },
		{ "its first five bytes", BYTES("\26\5\1\0\1"), TLS_MORE },
		{ "an empty one of it", BYTES("\26\5\1\0\0\26"), TLS_BAD },
		{ "an alert of it", BYTES("\25\5\1\0\2\1\0"), TLS_BAD },
		{ "data of it, empty", BYTES("\27\5\1\0\0\26"), TLS_BAD },
		{ "MySQL", BYTES("\26\0\0\1\205\246\3\0"), TLS_NONE },
		{ "a longer word of it", BYTES("\25\0\0\1\205\246\3\0"),
		    TLS_NONE },
		{ "its beginning", BYTES("\26\3\1\0\100\1\0\0\74"), TLS_MORE },
		{ "two kinds of records", BYTES("\26\3\1\0\1\1\27\3\1\0\1\0"),
		    TLS_BAD },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		char name[TLS_NAME_SIZE];
		size_t len;

		tap_ok(tap,
		    tls_server_name(cases[i].bytes, cases[i].len, name, &len) ==
			cases[i].found,
		    "TLS: %s", cases[i].what);
	}
}

/* A whole hello, with these extensions and what stands behind them. */
static enum tls_hello
read_hello(const uint8_t *extensions, size_t len, const char *behind,
    char name[TLS_NAME_SIZE])
{
	static uint8_t bytes[1024];
	static const uint8_t fields[] = { 0, 0, 2, 0x13, 1, 1, 0 };
	size_t more = strlen(behind), name_len,
	       body = 2 + 32 + sizeof fields + 2 + len + more;
	const uint8_t header[] = { 22, 3, 1, 0, (uint8_t)(body + 4), 1, 0, 0,
		(uint8_t)body, 3, 3 };
	uint8_t *at = bytes;

	memset(bytes, 0, sizeof bytes);
	memcpy(at, header, sizeof header);
	at += sizeof header + 32;
	memcpy(at, fields, sizeof fields);
	at += sizeof fields;
	*at++ = 0;
	*at++ = (uint8_t)len;
	memcpy(at, extensions, len);
	memcpy(at + len, behind, more);
	return tls_server_name(bytes, body + 9, name, &name_len);
}

#define NAMED(name) "\0\0\0\6\0\4\0\0\1" name

static void
try_extensions(struct tap *tap)
{
	static const struct {
		const char *what;
		const uint8_t *bytes;
		size_t len;
		const char *behind;
		enum tls_hello found;
	} cases[] = {
		{ "no extension", BYTES(""), "", TLS_NO_NAME },
		{ "a name", BYTES(NAMED("a")), "", TLS_NAME },
		{ "another extension before it", BYTES("\0\1\0\0" NAMED("a")),
		    "", TLS_NAME },
		{ "two names in two", BYTES(NAMED("a") NAMED("a")), "",
		    TLS_BAD },
		{ "two names in one", BYTES("\0\0\0\12\0\10\0\0\1a\0\0\1b"), "",
		    TLS_BAD },
		{ "no name in one", BYTES("\0\0\0\2\0\0"), "", TLS_BAD },
		{ "an empty name", BYTES("\0\0\0\5\0\3\0\0\0"), "", TLS_BAD },
		{ "a name of another kind", BYTES("\0\0\0\6\0\4\1\0\1a"), "",
		    TLS_BAD },
		{ "more behind the list", BYTES("\0\0\0\7\0\4\0\0\1ab"), "",
		    TLS_BAD },
		{ "a list that is too long", BYTES("\0\0\0\6\0\5\0\0\1a"), "",
		    TLS_BAD },
		{ "an extension that is too long", BYTES("\0\0\0\7\0\4\0\0\1a"),
		    "", TLS_BAD },
		{ "half an extension", BYTES(NAMED("a") "\0\1"), "", TLS_BAD },
		{ "more behind the extensions", BYTES(NAMED("a")), "x",
		    TLS_BAD },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		char name[TLS_NAME_SIZE];
		enum tls_hello found;

		memset(name, 'x', sizeof name);
		found = read_hello(cases[i].bytes, cases[i].len,
		    cases[i].behind, name);

		if (!tap_ok(tap,
			found == cases[i].found &&
			    (found != TLS_NAME || strcmp(name, "a") == 0),
			"TLS, extensions: %s", cases[i].what))
			printf("# %d\n", found);
	}
}

/* A message that fills the room for it, and one that never gets whole there. */
static void
try_long_hellos(struct tap *tap)
{
	enum { HEADER = 5, FIRST = 4, RECORD = 16384 };
	static uint8_t bytes[2 * TLS_HELLO_MAX];
	const size_t body = TLS_HELLO_MAX - 4;
	char name[TLS_NAME_SIZE];
	size_t len;

	memset(bytes, 0, sizeof bytes);
	memcpy(bytes, "\26\3\1\0\4\1", HEADER + 1);
	bytes[HEADER + 2] = (uint8_t)(body >> 8);
	bytes[HEADER + 3] = (uint8_t)body;
	memcpy(bytes + HEADER + FIRST, "\26\3\1\100\0", HEADER);
	tap_ok(tap,
	    tls_server_name(bytes, TLS_HELLO_MAX - 1, name, &len) == TLS_MORE &&
		tls_server_name(bytes, TLS_HELLO_MAX, name, &len) == TLS_BAD,
	    "TLS: no more is awaited than is looked at");
	bytes[HEADER + 3]++;
	tap_ok(tap, tls_server_name(bytes, 64, name, &len) == TLS_BAD,
	    "TLS: nor a message that is longer");
	bytes[HEADER + 3]--;
	tap_ok(tap,
	    tls_server_name(bytes, 2 * HEADER + FIRST + RECORD, name, &len) ==
		TLS_BAD,
	    "TLS: a record that has more than the message");
}

int
main(void)
{
	struct tap tap = { 0 };

	try_hellos(&tap);
	try_long_hellos(&tap);
	try_extensions(&tap);
	return tap_done(&tap);
}
