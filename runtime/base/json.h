/*
 * JSON text in a fixed piece of memory.  What does not fit is left out whole:
 * a list remembers where its last element began, and says how many are missing.
 */
#ifndef SBX_JSON_H
#define SBX_JSON_H

#include "runtime/base/out.h"

#include <stdint.h>

enum { JSON_SIZE = 64 << 10 };

struct json {
	uint32_t used;
	bool full; /* something did not fit */
	char text[JSON_SIZE];
};

/* Raw text: punctuation and keys. */
void json_raw(struct json *json, const char *text);
/* Strings with what needs escaping escaped; bytes that are no UTF-8 become
 * U+FFFD.  NULL is null. */
void json_bytes(struct json *json, const char *text, size_t len);
void json_string(struct json *json, const char *text);
void json_place(struct json *json, struct sbx_place place);
/* What was put into a buffer that is never written. */
void json_out(struct json *json, const struct out *out);
void json_number(struct json *json, uint64_t number);
void json_bool(struct json *json, bool value);
/* Seconds, to the millisecond. */
void json_seconds(struct json *json, int64_t seconds, long nanoseconds);

/* , "key": the comma unless it is the first of its object. */
void json_key(struct json *json, const char *key);

/* Before an element of a list, and after it: if it did not fit, it is taken
 * back and false returned.  `room` stays free for what comes after the list. */
uint32_t json_begin(struct json *json);
bool json_end(struct json *json, uint32_t begin, uint32_t room);

/* Writes it and a newline at once; false with errno if that failed. */
bool json_write(struct json *json, int fd);

#endif
