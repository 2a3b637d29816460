/*
 * JSON as text of an `out`.  Each function writes one value, with the comma
 * before it that it needs, and in an object its key; the key is NULL in a list
 * and for the document itself.
 */
#ifndef SBX_RUNTIME_BASE_JSON_H
#define SBX_RUNTIME_BASE_JSON_H

#include "runtime/base/out.h"

/* A whole document begins with the version of its form, and what it is about. */
void json_document(struct out *out, const char *event);

void json_object(struct out *out, const char *key);
void json_object_end(struct out *out);
void json_list(struct out *out, const char *key);
void json_list_end(struct out *out);

/* Bytes that are no UTF-8 become U+FFFD; a text of NULL is null. */
void json_string(struct out *out, const char *key, const char *text);
void json_bytes(struct out *out, const char *key, const char *text, size_t len);
void json_place(struct out *out, const char *key, struct sbx_place place);
/* A rule's "source", or null. */
void json_source(struct out *out, const struct sbx_blob *blob, uint32_t source);
void json_number(struct out *out, const char *key, uint64_t number);
void json_bool(struct out *out, const char *key, bool value);
void json_seconds(struct out *out, const char *key, struct timespec time);

/*
 * A list in a buffer with an end: json_mark() before an element, json_keep()
 * after it.  An element that was cut, or leaves less than `room` for what comes
 * after the list, is taken back, and json_keep() is false.
 */
struct json_mark {
	uint32_t used;
	char last;
};
struct json_mark json_mark(const struct out *out);
bool json_keep(struct out *out, struct json_mark mark, uint32_t room);
/* Takes back all since then. */
void json_drop(struct out *out, struct json_mark mark);

#endif
