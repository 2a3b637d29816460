/*
 * JSON as text of an `out`.  Each function writes one value, with the comma
 * before it that it needs, and in an object its key; the key is NULL in a list
 * and for the document itself.
 */
#include "runtime/base/json.h"
#include "runtime/base/out.h"

#include "format/text.h"

#include <string.h>

/* What comes before a value: a comma, unless it is the first of its object or
 * list, and the key. */
static void
begin_value(struct out *out, const char *key)
{
	if (out->last != '\0' && strchr("{[:,", out->last) == NULL)
		out_text(out, ",");
	if (key != NULL) {
		json_string(out, NULL, key);
		out_text(out, ":");
	}
}

static void
raw(struct out *out, const char *key, const char *text)
{
	begin_value(out, key);
	out_text(out, text);
}

void
json_document(struct out *out, const char *event)
{
	json_object(out, NULL);
	json_number(out, "sbx", 1);
	json_string(out, "event", event);
}

void
json_object(struct out *out, const char *key)
{
	raw(out, key, "{");
}

void
json_object_end(struct out *out)
{
	out_text(out, "}");
}

void
json_list(struct out *out, const char *key)
{
	raw(out, key, "[");
}

void
json_list_end(struct out *out)
{
	out_text(out, "]");
}

static void
put_escaped(struct out *out, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	char escape[] = "\\u0000";

	if (byte == '"' || byte == '\\') {
		escape[1] = (char)byte;
		escape[2] = '\0';
	} else {
		escape[4] = digits[byte >> 4];
		escape[5] = digits[byte & 15];
	}
	out_text(out, escape);
}

void
json_bytes(struct out *out, const char *key, const char *text, size_t len)
{
	raw(out, key, "\"");
	for (size_t i = 0; i < len;) {
		uint32_t character;
		size_t step = utf8_decode(text + i, len - i, &character);

		if (step == 0)
			out_text(out, "\\ufffd");
		else if (character < 0x20 || character == 0x7f ||
		    character == '"' || character == '\\')
			put_escaped(out, (unsigned char)character);
		else
			out_bytes(out, text + i, step);
		i += step == 0 ? 1 : step;
	}
	out_text(out, "\"");
}

void
json_string(struct out *out, const char *key, const char *text)
{
	if (text == NULL)
		raw(out, key, "null");
	else
		json_bytes(out, key, text, strlen(text));
}

void
json_place(struct out *out, const char *key, struct sbx_place place)
{
	if (place.len == 0)
		json_string(out, key, "/");
	else
		json_bytes(out, key, place.path, place.len);
}

void
json_source(struct out *out, const struct sbx_blob *blob, uint32_t source)
{
	char text[SOURCE_SIZE];

	if (source != SBX_NO_SOURCE)
		source_text(blob, source, text);
	json_string(out, "source", source == SBX_NO_SOURCE ? NULL : text);
}

void
json_number(struct out *out, const char *key, uint64_t number)
{
	begin_value(out, key);
	out_number(out, number);
}

void
json_bool(struct out *out, const char *key, bool value)
{
	raw(out, key, value ? "true" : "false");
}

void
json_seconds(struct out *out, const char *key, struct timespec time)
{
	begin_value(out, key);
	out_seconds(out, time);
}

struct json_mark
json_mark(const struct out *out)
{
	return (struct json_mark){ out->used, out->last };
}

bool
json_keep(struct out *out, struct json_mark mark, uint32_t room)
{
	if (!out->full && out->used + room < out->size)
		return true;
	json_drop(out, mark);
	return false;
}

void
json_drop(struct out *out, struct json_mark mark)
{
	out->full = false;
	out->used = mark.used;
	out->last = mark.last;
	out->text[out->used] = '\0';
}
