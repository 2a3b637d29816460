/* A range of bytes in somebody else's buffer, as the parsers hand them out. */
#ifndef SBX_PROXY_TEXT_H
#define SBX_PROXY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *at;
	size_t len;
};

/* What is known after some bytes of a message have come. */
enum parsed {
	PARSED_MORE, /* as long as it is, it may become a message */
	PARSED_OK,
	PARSED_BAD,
};

#endif
