/*
 * Any bytes at all as the first message of TLS.  What a part of it shows, more of
 * it does not change, so that nobody can pass by being slow.
 */
#include "runtime/proxy/protocols.h"
#include "tests/fuzz/fuzz.h"

static enum tls_hello
read_part(const uint8_t *bytes, size_t len, char name[TLS_NAME_SIZE])
{
	uint8_t *part = malloc(len > 0 ? len : 1);
	enum tls_hello found;
	size_t name_len;

	must(part != NULL, "no memory");
	if (len > 0)
		memcpy(part, bytes, len);
	memset(name, 0, TLS_NAME_SIZE);
	found = tls_server_name(part, len, name, &name_len);
	must(found != TLS_NAME || (name_len > 0 && name_len < TLS_NAME_SIZE),
	    "a name of no length");
	free(part);
	return found;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[TLS_NAME_SIZE], other[TLS_NAME_SIZE];
	enum tls_hello found, part;

	if (size > TLS_HELLO_MAX)
		size = TLS_HELLO_MAX;
	found = read_part(data, size, name);
	for (size_t i = 1; i <= 16; i++) {
		part = read_part(data, size * i / 17, other);
		must(part == TLS_MORE ||
			(part == found &&
			    (found != TLS_NAME || strcmp(name, other) == 0)),
		    "a part says something else");
	}
	return 0;
}
