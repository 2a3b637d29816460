#include "runtime/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void
out_init(struct out *out, int fd)
{
	out->fd = fd;
	out->used = 0;
}

void
out_flush(struct out *out)
{
	const char *data = out->buffer;

	while (out->used > 0) {
		ssize_t written = write(out->fd, data, out->used);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			break;
		data += written;
		out->used -= (uint32_t)written;
	}
	out->used = 0;
}

void
out_bytes(struct out *out, const char *text, size_t len)
{
	while (len > 0) {
		size_t room = sizeof out->buffer - out->used;
		size_t part = len < room ? len : room;

		memcpy(out->buffer + out->used, text, part);
		out->used += (uint32_t)part;
		text += part;
		len -= part;
		if (out->used == sizeof out->buffer)
			out_flush(out);
	}
}

void
out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void
out_number(struct out *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	out_bytes(out, digits + at, sizeof digits - at);
}

void
out_place(struct out *out, struct sbx_place place)
{
	if (place.len == 0)
		out_text(out, "/");
	else
		out_bytes(out, place.path, place.len);
}

void
out_column(struct out *out, const char *text, size_t width)
{
	size_t len = strlen(text);

	out_bytes(out, text, len);
	while (len++ < width)
		out_text(out, " ");
}

static void
complain(const char *prefix, const char *subject, const char *text, int error)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out, prefix);
	if (subject != NULL) {
		out_text(&out, subject);
		out_text(&out, ": ");
	}
	out_text(&out, text);
	if (error != 0) {
		out_text(&out, ": ");
		out_text(&out, strerror(error));
	}
	out_text(&out, "\n");
	out_flush(&out);
}

void
warn_about(const char *subject, const char *text, int error)
{
	complain("sbxrun: warning: ", subject, text, error);
}

void
say(const char *subject, const char *text, int error)
{
	complain("sbxrun: ", subject, text, error);
}

void
refuse(const char *subject, const char *text, int error)
{
	complain("sbxrun: ", subject, text, error);
	_exit(EXIT_REFUSED);
}
