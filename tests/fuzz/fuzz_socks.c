/* Any bytes at all as the two messages of a client of SOCKS. */
#include "runtime/proxy/protocols.h"
#include "tests/fuzz/fuzz.h"

static void
check_request(const uint8_t *bytes, size_t size)
{
	struct socks_request request, part;

	if (socks_request(bytes, size, &request) != PARSED_OK)
		return;
	must(request.len <= size && request.len <= SOCKS_REQUEST_MAX,
	    "a request beyond the end");
	must(request.name.len == 0 ||
		(request.name.at > (const char *)bytes &&
		    request.name.at + request.name.len <
			(const char *)bytes + request.len),
	    "a name beyond the end");
	must(socks_request(bytes, request.len, &part) == PARSED_OK &&
		part.len == request.len && part.port == request.port,
	    "the request alone is another");
	for (size_t len = 0; len < request.len; len++)
		must(socks_request(bytes, len, &part) == PARSED_MORE,
		    "a part of a request is more than that");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	struct socks_greeting greeting;

	must(bytes != NULL, "no memory");
	if (size > 0)
		memcpy(bytes, data, size);
	if (socks_greeting(bytes, size, &greeting) == PARSED_OK)
		must(greeting.len <= size, "a greeting beyond the end");
	check_request(bytes, size);
	free(bytes);
	return 0;
}
