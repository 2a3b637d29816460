#include "runtime/base/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void
put(struct json *json, const char *text, size_t len)
{
	/* One byte stays for the newline. */
	if (len > sizeof json->text - 1 - json->used) {
		json->full = true;
		return;
	}
	memcpy(json->text + json->used, text, len);
	json->used += (uint32_t)len;
}

void
json_raw(struct json *json, const char *text)
{
	put(json, text, strlen(text));
}

static void
put_escaped(struct json *json, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	char escape[] = "\\u0000";

	if (byte == '"' || byte == '\\') {
		escape[1] = (char)byte;
		put(json, escape, 2);
		return;
	}
	escape[4] = digits[byte >> 4];
	escape[5] = digits[byte & 15];
	put(json, escape, 6);
}

void
json_bytes(struct json *json, const char *text, size_t len)
{
	json_raw(json, "\"");
	for (size_t i = 0; i < len;) {
		const unsigned char *at = (const unsigned char *)text + i;
		size_t step = utf8_length(at, len - i);

		if (step == 0)
			json_raw(json, "\\ufffd");
		else if (*at < 0x20 || *at == 0x7f || *at == '"' || *at == '\\')
			put_escaped(json, *at);
		else
			put(json, text + i, step);
		i += step == 0 ? 1 : step;
	}
	json_raw(json, "\"");
}

void
json_string(struct json *json, const char *text)
{
	if (text == NULL)
		json_raw(json, "null");
	else
		json_bytes(json, text, strlen(text));
}

void
json_place(struct json *json, struct sbx_place place)
{
	if (place.len == 0)
		json_string(json, "/");
	else
		json_bytes(json, place.path, place.len);
}

void
json_out(struct json *json, const struct out *out)
{
	json_bytes(json, out->buffer, out->used);
}

void
json_number(struct json *json, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	put(json, digits + at, sizeof digits - at);
}

void
json_bool(struct json *json, bool value)
{
	json_raw(json, value ? "true" : "false");
}

void
json_seconds(struct json *json, int64_t seconds, long nanoseconds)
{
	long rest = nanoseconds / 1000000;
	char digits[] = ".000";

	digits[1] = (char)('0' + rest / 100);
	digits[2] = (char)('0' + rest / 10 % 10);
	digits[3] = (char)('0' + rest % 10);
	json_number(json, seconds < 0 ? 0 : (uint64_t)seconds);
	json_raw(json, digits);
}

void
json_key(struct json *json, const char *key)
{
	char last = json->used > 0 ? json->text[json->used - 1] : '{';

	if (last != '{' && last != '[')
		json_raw(json, ",");
	json_string(json, key);
	json_raw(json, ":");
}

uint32_t
json_begin(struct json *json)
{
	uint32_t begin = json->used;
	char last = begin > 0 ? json->text[begin - 1] : '[';

	if (last != '[')
		json_raw(json, ",");
	return begin;
}

bool
json_end(struct json *json, uint32_t begin, uint32_t room)
{
	if (!json->full && json->used + room < sizeof json->text)
		return true;
	json->full = false;
	json->used = begin;
	return false;
}

bool
json_write(struct json *json, int fd)
{
	ssize_t written;

	json->text[json->used] = '\n';
	do {
		written = write(fd, json->text, json->used + 1);
	} while (written < 0 && errno == EINTR);
	if (written >= 0 && written != (ssize_t)json->used + 1)
		errno = ENOSPC;
	return written == (ssize_t)json->used + 1;
}
